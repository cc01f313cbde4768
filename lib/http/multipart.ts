/**
 * Reads `multipart/form-data` (RFC 7578) while it arrives: a part that is too large, or one too many,
 * is refused when it shows, and at most one header section waits to be understood.
 *
 * @module
 */

import { MAX_FILE_BYTES } from "../contract/documents.ts";
import { ServiceError } from "../base/errors.ts";
import { type PartHeader, readPartHeader } from "./part_header.ts";

/** Parts of one form. */
export const MAX_PARTS = 100;

/** Bytes of the header section of one part. */
const MAX_PART_HEADER_BYTES = 16 * 1024;

/** A part of a form: the text of a field, or a file. */
export type FormEntry =
  | { name: string; text: string }
  | { name: string; fileName: string; bytes: Uint8Array };

/** The boundary of a Content-Type. Throws `invalid_request` when it has none that may be one. */
export function boundaryOf(contentType: string | null): string {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType ?? "");
  const boundary = match?.[1] ?? match?.[2] ?? "";
  // RFC 2046, 5.1.1
  if (/^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary)) return boundary;
  throw new ServiceError(
    "invalid_request",
    "The header Content-Type must have a boundary of 1 to 70 characters: multipart/form-data; " +
      "boundary=…",
    { param: "Content-Type" },
  );
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const HEADER_END = ascii("\r\n\r\n");
const EMPTY = new Uint8Array();

/** Where in the form the reader is. */
type State = "before" | "delimiter" | "header" | "content" | "after";

/** Takes a form piece by piece. Throws `invalid_request` or `too_large` as soon as it is known. */
export class MultipartReader {
  readonly #delimiter: Uint8Array;
  readonly #entries: FormEntry[] = [];
  #state: State = "before";
  /** What is not understood yet. The first delimiter has no line before it, so one is made up. */
  #rest: Uint8Array = ascii("\r\n");
  #parts = 0;
  #part: { header: PartHeader; chunks: Uint8Array[]; bytes: number } | undefined;

  constructor(boundary: string) {
    this.#delimiter = ascii(`\r\n--${boundary}`);
  }

  /** Takes the next bytes, which belong to the reader from then on. */
  push(chunk: Uint8Array): void {
    let data = this.#rest.length === 0 ? chunk : concat([this.#rest, chunk]);
    let before: State | undefined;
    while (before !== this.#state) {
      before = this.#state;
      data = this.#step(data);
    }
    // After the last delimiter may stand anything, and it means nothing (RFC 2046, 5.1.1).
    this.#rest = this.#state === "after" ? EMPTY : data;
  }

  /** The parts, in their order. Throws `invalid_request` when the form is not at its end. */
  finish(): FormEntry[] {
    if (this.#state !== "after") {
      throw broken(
        this.#state === "before" ? "it holds no part" : "it ends before its last boundary",
      );
    }
    return this.#entries;
  }

  /** Goes on as far as it can without a change of state; returns what is left. */
  #step(data: Uint8Array): Uint8Array {
    switch (this.#state) {
      case "before":
      case "content":
        return this.#readContent(data);
      case "delimiter":
        return this.#readDelimiterEnd(data);
      case "header":
        return this.#readHeader(data);
      case "after":
        return EMPTY;
    }
  }

  #readContent(data: Uint8Array): Uint8Array {
    const at = indexOf(data, this.#delimiter);
    const found = at !== -1;
    // What could be the beginning of a delimiter waits for the rest of it.
    const end = found ? at : Math.max(0, data.length - this.#delimiter.length + 1);
    this.#addContent(data.subarray(0, end));
    if (!found) return data.subarray(end);
    this.#closePart();
    this.#state = "delimiter";
    return data.subarray(at + this.#delimiter.length);
  }

  /** `--` ends the form; white space may stand before the line's end. */
  #readDelimiterEnd(data: Uint8Array): Uint8Array {
    if (data.length < 2) return data;
    if (data[0] === DASH && data[1] === DASH) {
      this.#state = "after";
      return EMPTY;
    }
    let at = 0;
    while (data[at] === 0x20 || data[at] === 0x09) at++;
    if (at > MAX_PART_HEADER_BYTES) throw headerTooLarge();
    if (at + 2 > data.length) return data;
    if (data[at] !== CR || data[at + 1] !== LF) throw broken("a boundary is not alone in its line");
    this.#state = "header";
    // The line's end stays: without any header it is the section's end too.
    return data.subarray(at);
  }

  #readHeader(data: Uint8Array): Uint8Array {
    const at = indexOf(data, HEADER_END);
    if ((at === -1 ? data.length : at) > MAX_PART_HEADER_BYTES) throw headerTooLarge();
    if (at === -1) return data;
    if (++this.#parts > MAX_PARTS) {
      throw new ServiceError("too_large", `The form is over the limit of ${MAX_PARTS} parts`);
    }
    this.#part = { header: readPartHeader(data.subarray(2, at)), chunks: [], bytes: 0 };
    this.#state = "content";
    return data.subarray(at + HEADER_END.length);
  }

  #addContent(data: Uint8Array): void {
    const part = this.#part;
    if (part === undefined || data.length === 0) return;
    part.bytes += data.length;
    if (part.bytes > MAX_FILE_BYTES) {
      const { name, fileName } = part.header;
      const what = fileName === undefined
        ? name
        : `${name} (${JSON.stringify(fileName.slice(0, 200))})`;
      throw new ServiceError("too_large", `${what} is over the limit of 10 MiB`, { param: name });
    }
    part.chunks.push(data);
  }

  #closePart(): void {
    if (this.#part === undefined) return;
    const { header: { name, fileName }, chunks } = this.#part;
    this.#part = undefined;
    const bytes = concat(chunks);
    this.#entries.push(
      fileName === undefined ? { name, text: decodeField(name, bytes) } : { name, fileName, bytes },
    );
  }
}

function decodeField(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError(
      "invalid_request",
      `${name} must be text in UTF-8, and holds bytes that are not`,
      { param: name },
    );
  }
}

/** The form is not one. */
function broken(reason: string): ServiceError {
  return new ServiceError("invalid_request", `The body must be multipart/form-data: ${reason}`);
}

function headerTooLarge(): ServiceError {
  return new ServiceError(
    "too_large",
    `The header of a part is over the limit of ${MAX_PART_HEADER_BYTES} bytes`,
  );
}

/** Where `wanted`, which begins with a CR, first stands whole; -1 if it does not. */
function indexOf(data: Uint8Array, wanted: Uint8Array): number {
  const last = data.length - wanted.length;
  for (let at = data.indexOf(CR); at !== -1 && at <= last; at = data.indexOf(CR, at + 1)) {
    let same = 1;
    while (same < wanted.length && data[at + same] === wanted[same]) same++;
    if (same === wanted.length) return at;
  }
  return -1;
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((bytes, chunk) => bytes + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

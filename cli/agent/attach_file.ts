/**
 * Turns a file into a part of a message: text under a header line with its name, or an image. What
 * a file is, its bytes say, not its name.
 *
 * @module
 */

import type { UserPart } from "../../lib/agent/messages.ts";
import { ServiceError } from "../../lib/errors.ts";

/** Most bytes of a file; exactly that many are accepted (decisions B). */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Most characters of a text file that go into a message (decisions B). */
export const MAX_FILE_CHARS = 200_000;

/** A file that is open for reading. */
export interface ReadableFile {
  readable: ReadableStream<Uint8Array>;
}

/** Opens a file, or throws what Deno.open throws. */
export type OpenFile = (path: string) => Promise<ReadableFile>;

/**
 * Reads a file as a part of a message. Throws `not_found`, `invalid_request` (cannot be read, empty),
 * `too_large` or `unsupported_media_type`, each naming the path.
 */
export async function attachFile(path: string, open: OpenFile = Deno.open): Promise<UserPart> {
  const bytes = await read(path, open);
  const image = imageType(bytes);
  if (image !== undefined) return { type: "image", mediaType: image, data: bytes.toBase64() };
  const binary = binaryType(bytes);
  const text = binary === undefined ? decode(bytes) : undefined;
  if (text === undefined) {
    throw new ServiceError(
      "unsupported_media_type",
      `Cannot attach ${quote(path)}: it is ${binary ?? "a binary file of an unknown type"}, ` +
        "and only text and PNG, JPEG, GIF and WebP images can be attached",
      { param: "file" },
    );
  }
  return { type: "text", text: fileText(path, text) };
}

/** The text of a file as the model is given it: its name, then the text, a cut stated. */
export function fileText(name: string, text: string): string {
  // A name is a line: what breaks lines in it could pretend to be the file's text.
  // deno-lint-ignore no-control-regex
  const header = `[file: ${name.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, "?")}]`;
  if (text.length <= MAX_FILE_CHARS) return `${header}\n${text}`;
  // Never between the two halves of a character.
  const end = /[\ud800-\udbff]/.test(text[MAX_FILE_CHARS - 1]!)
    ? MAX_FILE_CHARS - 1
    : MAX_FILE_CHARS;
  const cut = text.length - end;
  return `${header}\n${text.slice(0, end)}\n[${cut} of ${text.length} characters were left out]`;
}

/** The media type of an image that models take, or undefined. */
export function imageType(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, ascii("GIF87a")) || startsWith(bytes, ascii("GIF89a"))) return "image/gif";
  if (startsWith(bytes, ascii("RIFF")) && startsWith(bytes.subarray(8), ascii("WEBP"))) {
    return "image/webp";
  }
  return undefined;
}

/** What a file is that would pass for text or whose name helps to understand the refusal. */
function binaryType(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, ascii("%PDF-"))) return "a PDF document";
  if (startsWith(bytes, [0x50, 0x4b, 0x03, 0x04])) return "a ZIP archive or an office document";
  if (startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0])) return "an old office document";
  return undefined;
}

/** UTF-8 text without NUL, or undefined. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Reads at most the limit and one chunk, so that a device or a growing file ends too. */
async function read(path: string, open: OpenFile): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (await open(path)).readable) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_FILE_BYTES) {
        throw new ServiceError(
          "too_large",
          `Cannot attach ${quote(path)}: it is larger than ${MAX_FILE_BYTES} bytes`,
          { param: "file" },
        );
      }
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    if (cause instanceof Deno.errors.NotFound) {
      throw new ServiceError("not_found", `There is no file ${quote(path)}`, { param: "file" });
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("invalid_request", `Cannot read ${quote(path)}: ${why}`, {
      param: "file",
    }, { cause });
  }
  if (size === 0) {
    throw new ServiceError("invalid_request", `The file ${quote(path)} is empty`, {
      param: "file",
    });
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function startsWith(bytes: Uint8Array, prefix: Iterable<number>): boolean {
  let at = 0;
  for (const byte of prefix) if (bytes[at++] !== byte) return false;
  return true;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function quote(path: string): string {
  return JSON.stringify(path);
}

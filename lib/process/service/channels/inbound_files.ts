/**
 * Files that came with a message of a channel, as parts of its input.
 *
 * @module
 */

import { basename } from "@std/path";
import type { InputPart } from "../../../contract/messages.ts";
import { oneLine, readUpload } from "../../../documents/read_upload.ts";
import type { DocumentReader } from "../../../contract/documents.ts";
import { type ErrorCode, ServiceError } from "../../../base/errors.ts";
import { MEDIA_LIMITS } from "../../../contract/wire/envelopes.ts";
import { readOwnFile } from "../../../channel/read_own_file.ts";

/** What is wrong with a file that is where it may be. Nobody but the model could tell the sender. */
const UNREADABLE: readonly ErrorCode[] = [
  "unsupported_media_type",
  "unreadable_document",
  "invalid_request",
];

/** Files that came with a message. */
export interface InboundFiles {
  media: readonly string[];
  /** The channel's own. */
  folder: string;
}

/**
 * The files as parts, in their order: as many and as large ones as a message may have. In place of any
 * other, and of one that is of no use to a model, stands a document that
 * says so: the message must not be lost for it. Throws what `readOwnFile` throws, beside `too_large`,
 * and the signal's reason.
 */
export async function readInboundFiles(
  { media, folder }: InboundFiles,
  documents: DocumentReader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  const { maxCount, maxFileBytes, maxTotalBytes } = MEDIA_LIMITS;
  let total = 0;

  async function read(path: string, at: number): Promise<InputPart> {
    const name = basename(path);
    if (at >= maxCount) return leftOut(name, `a message has ${maxCount} files at most`);
    const param = `media[${at}]`;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await readOwnFile({ path, folder, maxBytes: maxFileBytes, param });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "too_large") throw error;
      return leftOut(name, `a file has ${maxFileBytes} bytes at most`);
    }
    if (total + bytes.length > maxTotalBytes) {
      return leftOut(name, `the files of a message have ${maxTotalBytes} bytes at most together`);
    }
    total += bytes.length;
    try {
      return await readUpload({ param, name, bytes, expects: "any" }, documents, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServiceError) || !UNREADABLE.includes(error.code)) throw error;
      return leftOut(name, error.message);
    }
  }

  const parts: InputPart[] = [];
  for (const [at, path] of media.entries()) {
    signal.throwIfAborted();
    parts.push(await read(path, at));
  }
  return parts;
}

/** A document, as what it says is no word of the person's: the name may be anybody's. */
function leftOut(name: string, reason: string): InputPart {
  const text = `[This file was not taken: ${reason}]`;
  const bytes = new TextEncoder().encode(text);
  return { type: "document", name: oneLine(name), mediaType: "text/plain", bytes, text };
}

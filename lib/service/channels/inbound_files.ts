/**
 * Files that came with a message of a channel, as parts of its input.
 *
 * @module
 */

import { basename } from "@std/path";
import type { InputPart } from "../../agent/messages.ts";
import { readUpload } from "../../documents/read_upload.ts";
import type { DocumentReader } from "../../documents/types.ts";
import { type ErrorCode, ServiceError } from "../../errors.ts";
import { MEDIA_LIMITS } from "../../wire/envelopes.ts";
import { readOwnFile } from "../../channel/read_own_file.ts";

/** What a file can be that no model is given. Nobody but the model could tell the sender. */
const UNREADABLE: readonly ErrorCode[] = [
  "unsupported_media_type",
  "unreadable_document",
  "invalid_request",
];

/** Throws `too_large` for more files than a message may have (decisions C "Attachments"). */
export function checkFileCount(media: readonly string[]): void {
  const { maxCount } = MEDIA_LIMITS;
  if (media.length <= maxCount) return;
  throw tooLarge(`media holds ${media.length} files: at most ${maxCount} are taken`);
}

/**
 * The files as parts, in their order. One that is in order and of no use to a model becomes a line that
 * says so: the message must not be lost for it. Throws what `readOwnFile` throws, `too_large` for too
 * many bytes together, and the signal's reason.
 */
export async function readInboundFiles(
  { media, folder }: { media: readonly string[]; folder: string },
  documents: DocumentReader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  const { maxFileBytes, maxTotalBytes } = MEDIA_LIMITS;
  const files: { param: string; name: string; bytes: Uint8Array }[] = [];
  let total = 0;
  for (const [at, path] of media.entries()) {
    signal.throwIfAborted();
    const param = `media[${at}]`;
    const bytes = await readOwnFile({ path, folder, maxBytes: maxFileBytes, param });
    total += bytes.length;
    if (total > maxTotalBytes) {
      throw tooLarge(
        `media has ${total} bytes or more: at most ${maxTotalBytes} are taken together`,
      );
    }
    files.push({ param, name: basename(path), bytes });
  }
  const parts: InputPart[] = [];
  for (const file of files) {
    try {
      parts.push(await readUpload({ ...file, expects: "any" }, documents, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServiceError) || !UNREADABLE.includes(error.code)) throw error;
      parts.push({ type: "text", text: `[A file of this message is left out: ${error.message}]` });
    }
  }
  return parts;
}

function tooLarge(message: string): ServiceError {
  return new ServiceError("too_large", message, { param: "media" });
}

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
 * The files as parts, in their order: as many and as large ones as a message may have (decisions C
 * "Attachments"). Of any other, and of one that is of no use to a model, there is a line that says so:
 * the message must not be lost for it. Throws what `readOwnFile` throws, beside `too_large`, and the
 * signal's reason.
 */
export async function readInboundFiles(
  { media, folder }: InboundFiles,
  documents: DocumentReader,
  signal: AbortSignal,
): Promise<InputPart[]> {
  const { maxCount, maxFileBytes, maxTotalBytes } = MEDIA_LIMITS;
  const parts: InputPart[] = [];
  const leaveOut = (reason: string) =>
    void parts.push({ type: "text", text: `[A file of this message is left out: ${reason}]` });
  let total = 0;
  for (const [at, path] of media.entries()) {
    signal.throwIfAborted();
    const name = basename(path);
    const param = `media[${at}]`;
    const described = `${param} (${JSON.stringify(name)})`;
    if (at >= maxCount) {
      leaveOut(`${described} is one too many, at most ${maxCount} are taken`);
      continue;
    }
    const bytes = await readOwnFile({ path, folder, maxBytes: maxFileBytes, param }).catch(
      (error) => {
        if (!(error instanceof ServiceError) || error.code !== "too_large") throw error;
      },
    );
    if (bytes === undefined) {
      leaveOut(`${described} is too large, at most ${maxFileBytes} bytes are taken`);
      continue;
    }
    if (total + bytes.length > maxTotalBytes) {
      leaveOut(`${described} is too much, at most ${maxTotalBytes} bytes are taken together`);
      continue;
    }
    total += bytes.length;
    try {
      parts.push(await readUpload({ param, name, bytes, expects: "any" }, documents, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServiceError) || !UNREADABLE.includes(error.code)) throw error;
      leaveOut(error.message);
    }
  }
  return parts;
}

/**
 * Files of a message: base64 data URLs, checked all before one is kept.
 *
 * @module
 */

import type { InputFile } from "../../../lib/contract/input_file.ts";
import { ServiceError } from "../../../lib/base/errors.ts";
import { type ClientEnvelope, MEDIA_LIMITS } from "../../../lib/contract/wire/envelopes.ts";

/** What a message envelope holds. */
export type MediaItem = NonNullable<
  Extract<ClientEnvelope, { type: "message" }>["media"]
>[number];

/** A data URL's head is short; a comma that comes later belongs to something else. */
const MAX_HEAD_CHARS = 256;

/**
 * The files, named as they were or `file-1` and so on. Throws `invalid_request` or `too_large`, naming the
 * first item that is wrong; what a file is, its bytes say later.
 */
export function readMedia(media: readonly MediaItem[]): InputFile[] {
  if (media.length > MEDIA_LIMITS.maxCount) {
    throw invalid("media", `has ${media.length} items: at most ${MEDIA_LIMITS.maxCount}`);
  }
  let totalBytes = 0;
  return media.map(({ data_url, name = "" }, at) => {
    const bytes = readItem(data_url, `media[${at}].data_url`);
    totalBytes += bytes.length;
    if (totalBytes > MEDIA_LIMITS.maxTotalBytes) {
      throw tooLarge("media", totalBytes, MEDIA_LIMITS.maxTotalBytes);
    }
    return { name: name.trim() === "" ? `file-${at + 1}` : name, bytes };
  });
}

function readItem(url: string, param: string): Uint8Array {
  const comma = url.slice(0, MAX_HEAD_CHARS).indexOf(",");
  if (comma === -1 || !/^data:[^,]*;\s*base64\s*$/i.test(url.slice(0, comma))) {
    throw invalid(param, "must be a data URL with base64 data, such as data:image/png;base64,…");
  }
  const { maxFileBytes } = MEDIA_LIMITS;
  const base64 = url.slice(comma + 1);
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(base64);
  } catch {
    throw invalid(param, "holds broken base64");
  }
  if (bytes.length === 0) throw invalid(param, "holds no bytes");
  if (bytes.length > maxFileBytes) throw tooLarge(param, bytes.length, maxFileBytes);
  return bytes;
}

function invalid(param: string, what: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${what}`, { param });
}

function tooLarge(param: string, bytes: number, max: number): ServiceError {
  return new ServiceError("too_large", `${param} has ${bytes} bytes: at most ${max}`, { param });
}

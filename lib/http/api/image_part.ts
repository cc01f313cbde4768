/**
 * Images that are given as base64 data URLs. Their type is what their bytes are, not what the URL
 * says (document 1, Uploads).
 *
 * @module
 */

import type { UserPart } from "../../agent/messages.ts";
import { ServiceError } from "../../errors.ts";

/** Bytes of one file; exactly as many are accepted. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** An image of a message and how large it is. */
export interface ReadImage {
  part: Extract<UserPart, { type: "image" }>;
  bytes: number;
}

/**
 * Reads an `image_url`. `param` names the field for errors: `unsupported_image_url` for anything but
 * a data URL, `invalid_request` for broken base64, `too_large`, and `unsupported_media_type` for
 * bytes that are no PNG, JPEG, GIF or WebP.
 */
export function readImage(url: string, param: string): ReadImage {
  const comma = url.indexOf(",");
  const head = url.slice(0, Math.min(comma, MAX_HEAD_CHARS));
  if (!/^data:/i.test(url)) {
    throw new ServiceError(
      "unsupported_image_url",
      `${param} must be a data URL with base64 data; remote URLs are not fetched`,
      { param },
    );
  }
  if (comma === -1 || comma > MAX_HEAD_CHARS || !/;\s*base64\s*$/i.test(head)) {
    throw new ServiceError(
      "invalid_request",
      `${param} must be a data URL with base64 data, such as data:image/png;base64,…`,
      { param },
    );
  }
  const data = url.slice(comma + 1);
  // Before it is decoded, so that nobody can make us decode more.
  if (Math.floor(data.length / 4) * 3 > MAX_FILE_BYTES + SLACK_BYTES) throw tooLarge(param);
  const bytes = decode(data, param);
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(param);
  const mediaType = imageType(bytes);
  if (mediaType === undefined) {
    throw new ServiceError(
      "unsupported_media_type",
      `${param} must be a PNG, JPEG, GIF or WebP image, by its bytes`,
      { param },
    );
  }
  const canonical = data.length === Math.ceil(bytes.length / 3) * 4 ? data : bytes.toBase64();
  return { part: { type: "image", mediaType, data: canonical }, bytes: bytes.length };
}

/** A data URL's head is short; a comma that comes later belongs to something else. */
const MAX_HEAD_CHARS = 256;

/** Room for line breaks in base64 of an image that is just small enough. */
const SLACK_BYTES = 512 * 1024;

function decode(data: string, param: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(data);
  } catch {
    throw new ServiceError("invalid_request", `${param} holds broken base64`, { param });
  }
}

function tooLarge(param: string): ServiceError {
  return new ServiceError("too_large", `${param} is over the limit of 10 MiB`, { param });
}

/** The media type by the first bytes; undefined if it is none of the four. */
export function imageType(bytes: Uint8Array): string | undefined {
  const starts = (at: number, ...expected: number[]) =>
    expected.every((byte, index) => bytes[at + index] === byte);
  if (starts(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (starts(0, 0xff, 0xd8, 0xff)) return "image/jpeg";
  // GIF87a, GIF89a
  if (starts(0, 0x47, 0x49, 0x46, 0x38) && (bytes[4] === 0x37 || bytes[4] === 0x39)) {
    return bytes[5] === 0x61 ? "image/gif" : undefined;
  }
  // RIFF, four bytes of length, WEBP
  if (starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50)) return "image/webp";
  return undefined;
}

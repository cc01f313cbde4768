/**
 * Files that a request holds as base64 data URLs. What a file is, its bytes say; the type that the
 * URL declares is not looked at.
 *
 * @module
 */

import { MAX_FILE_BYTES } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";
import { fileTooLarge, type RequestFile } from "./tail.ts";

/**
 * The file of a data URL. Throws, naming `param`: `unsupported_image_url` where an image is expected
 * and the URL is no data URL, `invalid_request` for any other URL and for broken base64, `too_large`
 * beyond 10 MiB.
 */
export function readDataUrl(url: string, file: Omit<RequestFile, "bytes">): RequestFile {
  const { param } = file;
  if (!/^data:/i.test(url)) {
    throw new ServiceError(
      file.expects === "image" ? "unsupported_image_url" : "invalid_request",
      `${param} must be a data URL with base64 data; remote URLs are not fetched`,
      { param },
    );
  }
  const comma = url.indexOf(",");
  const head = url.slice(0, Math.min(comma, MAX_HEAD_CHARS));
  if (comma === -1 || comma > MAX_HEAD_CHARS || !/;\s*base64\s*$/i.test(head)) {
    const type = file.expects === "image" ? "image/png" : "application/pdf";
    throw new ServiceError(
      "invalid_request",
      `${param} must be a data URL with base64 data, such as data:${type};base64,…`,
      { param },
    );
  }
  const base64 = url.slice(comma + 1);
  // Before it is decoded, so that nobody can make us decode more.
  if (Math.floor(base64.length / 4) * 3 > MAX_FILE_BYTES + SLACK_BYTES) throw fileTooLarge(file);
  const bytes = decode(base64, param);
  if (bytes.length > MAX_FILE_BYTES) throw fileTooLarge(file);
  return { ...file, bytes };
}

/** A data URL's head is short; a comma that comes later belongs to something else. */
const MAX_HEAD_CHARS = 256;

/** Room for line breaks in base64 of a file that is just small enough. */
const SLACK_BYTES = 512 * 1024;

function decode(base64: string, param: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw new ServiceError("invalid_request", `${param} holds broken base64`, { param });
  }
}

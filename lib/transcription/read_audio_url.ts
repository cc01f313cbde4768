/**
 * Audio as a base64 data URL.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** A data URL's head is short; a comma that comes later belongs to something else. */
const MAX_HEAD_CHARS = 256;

/** Room for line breaks in base64 of an audio that is just small enough, as part of its length. */
const SLACK = 1.05;

/** What browsers and telephones call audio that they record. Its bytes say what it really is. */
const DECLARED = /^(audio\/[\w.+-]+|video\/(webm|mp4|ogg)|application\/(ogg|octet-stream)|)$/i;

/**
 * The bytes of a data URL. Throws, naming `data_url`: `invalid_request` for what is none or is broken,
 * `unsupported_media_type` for one that says that it is no audio, `too_large`.
 */
export function readAudioUrl(url: string, maxBytes: number): Uint8Array<ArrayBuffer> {
  const comma = url.slice(0, MAX_HEAD_CHARS).indexOf(",");
  const head = /^data:([^;,]*)(?:;[^,]*)?;\s*base64\s*$/i.exec(url.slice(0, Math.max(comma, 0)));
  if (head === null) {
    throw refuse(
      "invalid_request",
      "must be a data URL with base64 data, such as data:audio/webm;base64,…",
    );
  }
  const declared = head[1]!.trim();
  if (!DECLARED.test(declared)) {
    throw refuse("unsupported_media_type", `holds ${JSON.stringify(declared)}, which is no audio`);
  }
  // Before it is decoded, so that nobody can make us decode more.
  const base64Chars = url.length - comma - 1;
  if (base64Chars * 3 / 4 > maxBytes * SLACK + 3) {
    throw audioTooLarge("data_url", Math.floor(base64Chars * 3 / 4), maxBytes);
  }
  try {
    return Uint8Array.fromBase64(url.slice(comma + 1));
  } catch {
    throw refuse("invalid_request", "holds broken base64");
  }
}

/** A `too_large` about an audio. */
export function audioTooLarge(param: string, bytes: number, maxBytes: number): ServiceError {
  return new ServiceError(
    "too_large",
    `${param} has about ${bytes} bytes: transcription takes at most ${maxBytes}`,
    { param },
  );
}

function refuse(code: "invalid_request" | "unsupported_media_type", what: string): ServiceError {
  return new ServiceError(code, `data_url ${what}`, { param: "data_url" });
}

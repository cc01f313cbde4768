/**
 * A file as an event shows it: a picture, a sound, a film, or a file.
 *
 * @module
 */

import { mediaTypeOf, pictureSize } from "../../../lib/channel/platform/mod.ts";
import type { Json } from "../api/matrix_api.ts";
import { AUTOMATED } from "../text/message_content.ts";

/** Pictures that clients show; of the others they show a name. */
const SHOWN: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The content of its event, without the `url` at which it is. */
export function fileContent(name: string, bytes: Uint8Array): Json {
  const mimeType = mediaTypeOf(name);
  const body = name.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "_");
  const [kind] = mimeType.split("/");
  const msgtype = SHOWN.includes(mimeType)
    ? "m.image"
    : kind === "audio" || kind === "video"
    ? `m.${kind}`
    : "m.file";
  const size = msgtype === "m.image" ? pictureSize(bytes) : undefined;
  return {
    ...AUTOMATED,
    msgtype,
    body,
    filename: body,
    info: {
      mimetype: mimeType,
      size: bytes.length,
      ...size && { w: size.width, h: size.height },
    },
  };
}

/**
 * A file as an event shows it: a picture, a sound, a film, or a file.
 *
 * @module
 */

import { basename } from "@std/path";
import { mediaTypeOf } from "../../../lib/channel/platform/mod.ts";
import type { Json } from "../api/matrix_api.ts";
import { AUTOMATED } from "../text/message_content.ts";
import { pictureSize } from "./picture_size.ts";

/** Pictures that clients show; of the others they show a name. */
const SHOWN: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** A file by its name and what is in it. */
export interface NamedFile {
  name: string;
  mimeType: string;
}

/** What a file is, by its name. */
export function namedFile(path: string): NamedFile {
  const name = basename(path).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "_");
  return { name, mimeType: mediaTypeOf(path) };
}

/** The content of its event; `mxc`: where it was uploaded. */
export function fileContent(
  { name, mimeType }: NamedFile,
  bytes: Uint8Array,
  mxc: string,
): Json {
  const kind = mimeType.split("/")[0];
  const msgtype = SHOWN.includes(mimeType)
    ? "m.image"
    : kind === "audio"
    ? "m.audio"
    : kind === "video"
    ? "m.video"
    : "m.file";
  const size = msgtype === "m.image" ? pictureSize(bytes) : undefined;
  return {
    ...AUTOMATED,
    msgtype,
    body: name,
    filename: name,
    url: mxc,
    info: {
      mimetype: mimeType,
      size: bytes.length,
      ...size && { w: size.width, h: size.height },
    },
  };
}

/**
 * A file as an event shows it: a picture, a sound, a film, or a file.
 *
 * @module
 */

import { basename, extname } from "@std/path";
import type { Json } from "../api/matrix_api.ts";
import { AUTOMATED } from "../text/message_content.ts";
import { pictureSize } from "./picture_size.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".aac": "audio/aac",
  ".avif": "image/avif",
  ".csv": "text/csv",
  ".flac": "audio/flac",
  ".gif": "image/gif",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".m4a": "audio/mp4",
  ".md": "text/markdown",
  ".mov": "video/quicktime",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".oga": "audio/ogg",
  ".ogg": "audio/ogg",
  ".opus": "audio/ogg",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".wav": "audio/wav",
  ".webm": "video/webm",
  ".webp": "image/webp",
  ".zip": "application/zip",
};

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
  return { name, mimeType: TYPES[extname(path).toLowerCase()] ?? "application/octet-stream" };
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

/**
 * How files go out: which method takes each, and what goes together as an album.
 *
 * @module
 */

import { extname } from "@std/path";
import type { OutgoingFile } from "../../../lib/channel/platform/mod.ts";

/** What the Bot API takes by upload (Bot API, "Sending files"). */
export const MAX_FILE_BYTES = 50 * 1024 * 1024;
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;

/** Files of an album. */
const MAX_ALBUM = 10;

export type FileKind = "photo" | "video" | "animation" | "audio" | "voice" | "document";

const KINDS: Readonly<Record<string, FileKind>> = {
  ".jpg": "photo",
  ".jpeg": "photo",
  ".png": "photo",
  ".webp": "photo",
  ".gif": "animation",
  ".mp4": "video",
  ".mp3": "audio",
  ".m4a": "audio",
  ".ogg": "voice",
  ".oga": "voice",
  ".opus": "voice",
};

/** Which kinds may stand in one album together. */
const ALBUM_OF: Readonly<Partial<Record<FileKind, string>>> = {
  photo: "pictures",
  video: "pictures",
  audio: "audio",
  document: "documents",
};

/** What a file is sent as. */
export function kindOf({ name, bytes }: OutgoingFile): FileKind {
  const kind = KINDS[extname(name).toLowerCase()] ?? "document";
  return kind === "photo" && bytes > MAX_PHOTO_BYTES ? "document" : kind;
}

/** Groups, each of which is one message or one album. */
export function groupFiles(files: readonly OutgoingFile[]): OutgoingFile[][] {
  const groups: OutgoingFile[][] = [];
  for (const file of files) {
    const last = groups.at(-1);
    const album = ALBUM_OF[kindOf(file)];
    const joins = last !== undefined && album !== undefined && last.length < MAX_ALBUM &&
      ALBUM_OF[kindOf(last[0]!)] === album;
    if (joins) last.push(file);
    else groups.push([file]);
  }
  return groups;
}

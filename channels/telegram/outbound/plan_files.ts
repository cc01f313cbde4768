/**
 * How files go out: which method takes each, what goes together as an album, and what is too large.
 *
 * @module
 */

import { basename, extname } from "@std/path";

/** What the Bot API takes by upload (Bot API, "Sending files"). */
export const MAX_FILE_BYTES = 50 * 1024 * 1024;
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;

/** Files of an album. */
const MAX_ALBUM = 10;

export type FileKind = "photo" | "video" | "animation" | "audio" | "voice" | "document";

/** A file that can be sent. */
export interface OutgoingFile {
  path: string;
  name: string;
  kind: FileKind;
}

/** Groups, each of which is one message or one album; and what cannot be sent. */
export interface FilePlan {
  groups: OutgoingFile[][];
  tooLarge: { name: string; bytes: number }[];
  /** Gone, or empty. */
  missing: string[];
}

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

/** Looks at the files; never rejects for one of them. */
export async function planFiles(paths: readonly string[]): Promise<FilePlan> {
  const plan: FilePlan = { groups: [], tooLarge: [], missing: [] };
  for (const path of paths) {
    const name = basename(path);
    const bytes = await Deno.stat(path).then(({ size }) => size, () => undefined);
    // An empty file is refused, whatever it is.
    if (!bytes) plan.missing.push(name);
    else if (bytes > MAX_FILE_BYTES) plan.tooLarge.push({ name, bytes });
    else add(plan.groups, { path, name, kind: kindOf(name, bytes) });
  }
  return plan;
}

function kindOf(name: string, bytes: number): FileKind {
  const kind = KINDS[extname(name).toLowerCase()] ?? "document";
  return kind === "photo" && bytes > MAX_PHOTO_BYTES ? "document" : kind;
}

function add(groups: OutgoingFile[][], file: OutgoingFile): void {
  const last = groups.at(-1);
  const album = ALBUM_OF[file.kind];
  const joins = last !== undefined && album !== undefined && last.length < MAX_ALBUM &&
    ALBUM_OF[last[0]!.kind] === album;
  if (joins) last.push(file);
  else groups.push([file]);
}

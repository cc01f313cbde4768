/**
 * Files that go out with a mail, as many as one mail holds.
 *
 * @module
 */

import { basename } from "@std/path";

/** Bytes of all files of a mail: encoded, most servers take no more. */
export const MAX_FILES_BYTES = 18 * 1024 * 1024;

/** Files that go along, and a sentence for each that does not. */
export interface OutgoingFiles {
  files: { path: string; name: string }[];
  leftOut: string[];
}

/** Looks at the files in their order: what does not fit any more, or is gone, is left out. */
export async function outgoingFiles(media: readonly string[]): Promise<OutgoingFiles> {
  const files: OutgoingFiles["files"] = [];
  const leftOut: string[] = [];
  let bytes = 0;
  for (const path of media) {
    const name = basename(path);
    let size: number;
    try {
      const info = await Deno.stat(path);
      if (!info.isFile) throw new Deno.errors.NotFound("It is no file");
      ({ size } = info);
    } catch {
      leftOut.push(`The file ${name} cannot be read and is not attached.`);
      continue;
    }
    if (bytes + size > MAX_FILES_BYTES) {
      leftOut.push(`The file ${name} is too large to be attached.`);
      continue;
    }
    bytes += size;
    files.push({ path, name });
  }
  return { files, leftOut };
}

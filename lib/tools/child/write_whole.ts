/**
 * Writes a file so that whoever looks, and whatever stops the writing, sees the old content or the new
 * one and never a part: written beside its place, on the disk, then renamed (W15).
 *
 * @module
 */

import type { PathTarget } from "../../contract/actions.ts";
import { changedError, checkFolder } from "./open_checked.ts";
import { splitPath } from "./split_path.ts";

/** After this long a file that was never renamed belongs to a writer that was killed. */
const STALE_MS = 10 * 60 * 1000;
/** Entries of a folder that are looked through for stale files. */
const MAX_LOOKED_AT = 2_000;

/** Replaces or makes the file of a target; keeps the mode of one that is there. */
export function writeWhole(target: PathTarget, content: Uint8Array, shown: string): void {
  checkFolder(target.folder, shown);
  const { folder, name } = splitPath(target.real);
  if (folder !== target.folder.real) Deno.mkdirSync(folder, { recursive: true });
  // Made or found, it must be reached without a link.
  if (Deno.realPathSync(folder) !== folder) throw changedError(shown);
  const mode = checkPlace(target, shown);

  removeStale(folder, name);
  const temporary = `${folder}/${temporaryPrefix(name)}${crypto.randomUUID().slice(0, 8)}`;
  try {
    writeSynced(temporary, content, mode);
    checkPlace(target, shown);
    Deno.renameSync(temporary, target.real);
  } catch (error) {
    try {
      Deno.removeSync(temporary);
    } catch {
      // It was never made, or the folder has gone with it.
    }
    throw error;
  }
  syncFolder(folder);
}

/** The mode of the file that is to be replaced. Throws unless the place is as it was decided on. */
function checkPlace(target: PathTarget, shown: string): number | undefined {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(target.real);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound && target.file === undefined) return undefined;
    throw error instanceof Deno.errors.NotFound ? changedError(shown) : error;
  }
  // A link may have been given the number of the file that it took the place of.
  const isSame = info.isFile && info.dev === target.file?.dev && info.ino === target.file.ino;
  if (!isSame) throw changedError(shown);
  return info.mode === null ? undefined : info.mode & 0o777;
}

function writeSynced(path: string, content: Uint8Array, mode: number | undefined): void {
  using file = Deno.openSync(path, { write: true, createNew: true, mode });
  for (let at = 0; at < content.length;) at += file.writeSync(content.subarray(at));
  // The mode that a file is made with passes through the umask.
  if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(path, mode);
  file.syncSync();
}

/** Makes the rename last. Not every system can do it, and the rename has been done. */
function syncFolder(folder: string): void {
  try {
    using dir = Deno.openSync(folder, { read: true });
    dir.syncSync();
  } catch {
    // Then the file system decides when.
  }
}

/** Kept short, since a name may be as long as the file system allows already. */
function temporaryPrefix(name: string): string {
  return `.${[...name].slice(0, 20).join("")}.writing-`;
}

function removeStale(folder: string, name: string): void {
  const prefix = temporaryPrefix(name);
  let left = MAX_LOOKED_AT;
  for (const entry of Deno.readDirSync(folder)) {
    if (left-- <= 0) return;
    if (!entry.isFile || !entry.name.startsWith(prefix)) continue;
    try {
      const path = `${folder}/${entry.name}`;
      const { mtime } = Deno.lstatSync(path);
      if (mtime !== null && Date.now() - mtime.getTime() > STALE_MS) Deno.removeSync(path);
    } catch {
      // Somebody else was faster.
    }
  }
}

/**
 * Opens what was decided on, and nothing else: what a child has opened must be the very file that the
 * authority looked at.
 *
 * @module
 */

import type { PathTarget, Target } from "../../contract/actions.ts";

/** The path target of a task; throws when the task is about something else. */
export function pathTarget(target: Target | undefined): PathTarget {
  if (target?.kind !== "path") throw new Error(`expected a path, got ${target?.kind}`);
  return target;
}

/** An error for a target that is no longer what was decided on. */
export function changedError(path: string): Error {
  return new Error(`${path} changed while it was being opened; try again`);
}

/**
 * Opens the file of a target for reading. Throws when it is a folder, is missing, or is not the file
 * that was checked.
 */
export function openChecked(target: PathTarget, shown: string): Deno.FsFile {
  if (target.file === undefined) throw new Error(`${shown} does not exist`);
  if (target.file.isDirectory) throw new Error(`${shown} is a folder, expected a file`);
  const file = Deno.openSync(target.real, { read: true });
  const info = file.statSync();
  if (!info.isFile || info.dev !== target.file.dev || info.ino !== target.file.ino) {
    file.close();
    throw changedError(shown);
  }
  return file;
}

/** Throws unless a folder is still the one that was checked, reached without a link. */
export function checkFolder(folder: PathTarget["folder"], shown: string): void {
  const info = Deno.lstatSync(folder.real);
  if (!info.isDirectory || info.dev !== folder.dev || info.ino !== folder.ino) {
    throw changedError(shown);
  }
}

/**
 * Walks a folder without ever following a link. Names of credentials are left out, and counted, as the
 * gate would refuse them one by one.
 *
 * @module
 */

import { isCredentialPath } from "../../base/protected_names.ts";
import { SEPARATOR } from "./split_path.ts";

/** Something in a folder. */
export interface Entry {
  /** Real path. */
  path: string;
  /** Below the folder where the walk began, such as `src/a.ts`. */
  relative: string;
  kind: "file" | "folder" | "link" | "other";
  depth: number;
}

/** What a walk left out. */
export interface WalkSkips {
  /** Protected names. */
  credentials: number;
  /** Folders that may not be read, or that changed meanwhile. */
  unreadable: number;
  /** There were more entries than a walk looks at. */
  more: boolean;
}

/** How a walk goes. */
export interface WalkOptions {
  /** Levels; 1 is the folder itself. */
  maxDepth: number;
  /** Folders that are not entered; they are still given. */
  enters?: (entry: Entry) => boolean;
}

/** Entries that one walk looks at. */
const MAX_ENTRIES = 200_000;

/** Entries below a folder, folders before files, each by name; what is left out goes into `skips`. */
export function* walk(root: string, options: WalkOptions, skips: WalkSkips): Generator<Entry> {
  let left = MAX_ENTRIES;
  function* folder(path: string, relative: string, depth: number): Generator<Entry> {
    let entries: Deno.DirEntry[];
    try {
      entries = [...Deno.readDirSync(path)];
      // A folder that was swapped for a link shows what is elsewhere.
      if (Deno.realPathSync(path) !== path) throw new Error("changed");
    } catch (error) {
      if (depth === 1) throw error;
      skips.unreadable++;
      return;
    }
    entries.sort((a, b) =>
      Number(b.isDirectory) - Number(a.isDirectory) || (a.name < b.name ? -1 : 1)
    );
    for (const { name, isFile, isDirectory, isSymlink } of entries) {
      if (left-- <= 0) {
        skips.more = true;
        return;
      }
      const kind = isSymlink ? "link" : isDirectory ? "folder" : isFile ? "file" : "other";
      const entry: Entry = {
        path: path.endsWith(SEPARATOR) ? path + name : path + SEPARATOR + name,
        relative: relative === "" ? name : `${relative}/${name}`,
        kind,
        depth,
      };
      if (isCredentialPath(entry.path)) {
        skips.credentials++;
        continue;
      }
      yield entry;
      if (kind === "folder" && depth < options.maxDepth && options.enters?.(entry) !== false) {
        yield* folder(entry.path, entry.relative, depth + 1);
      }
    }
  }
  yield* folder(root, "", 1);
}

/** Skips of a walk that has not begun. */
export function noSkips(): WalkSkips {
  return { credentials: 0, unreadable: 0, more: false };
}

/** Notes about what was left out, for the end of an output. */
export function skipNotes(skips: WalkSkips): string[] {
  const notes: string[] = [];
  if (skips.credentials > 0) notes.push(`${skips.credentials} with credentials left out`);
  if (skips.unreadable > 0) notes.push(`${skips.unreadable} folders cannot be read`);
  if (skips.more) notes.push(`only the first ${MAX_ENTRIES} entries were looked at`);
  return notes;
}

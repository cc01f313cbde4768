/**
 * Paths without Node's module for them, which takes each child 11 ms to load.
 *
 * @module
 */

/** Between the names of a path. */
export const SEPARATOR = Deno.build.os === "windows" ? "\\" : "/";

/** The folder of an absolute path without a separator at its end, and its name there. */
export function splitPath(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf(SEPARATOR);
  const folder = path.slice(0, at);
  // Of a root, the separator is a part.
  return {
    folder: folder.includes(SEPARATOR) ? folder : folder + SEPARATOR,
    name: path.slice(at + 1),
  };
}

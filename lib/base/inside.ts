/**
 * Whether a path lies in a folder.
 *
 * @module
 */

import { SEPARATOR } from "@std/path";

/** Whether a real path is a folder or lies in it. Names are compared exactly. */
export function isInside(path: string, folder: string): boolean {
  return path === folder ||
    path.startsWith(folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR);
}

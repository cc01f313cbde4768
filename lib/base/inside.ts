/**
 * Whether a path lies in a folder.
 *
 * @module
 */

import { SEPARATOR } from "@std/path";

/** Whether a real path is a folder or lies in it. Names are compared exactly; Windows has two separators. */
export function isInside(path: string, folder: string, separator: string = SEPARATOR): boolean {
  const [inner, outer] = separator === "/"
    ? [path, folder]
    : [path.replaceAll("/", separator), folder.replaceAll("/", separator)];
  return inner === outer ||
    inner.startsWith(outer.endsWith(separator) ? outer : outer + separator);
}

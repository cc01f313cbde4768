/**
 * Whether a path lies in a folder.
 *
 * @module
 */

import { SEPARATOR } from "@std/path";
import { foldPath } from "./executor/protected_names.ts";

/**
 * Whether a real path is a folder or lies in it. `forgiving` compares names as the most forgiving file
 * system would: for denials, where a name too many does no harm.
 */
export function isInside(
  path: string,
  folder: string,
  how: "exact" | "forgiving" = "exact",
): boolean {
  if (path === folder) return true;
  const root = folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR;
  if (path.startsWith(root)) return true;
  if (how === "exact" || path.length < folder.length / 2) return false;
  const names = foldPath(path);
  return foldPath(folder).every((name, index) => names[index] === name);
}

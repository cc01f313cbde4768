/**
 * Carries single keys from one configuration to another.
 *
 * @module
 */

import { isObject, parsePath, valueAt } from "../base/key_path.ts";
import type { Config } from "./schema.ts";

/**
 * Copies the values at paths, as `classifyChanges` names them, from one configuration to another,
 * which is changed in place. A value that is gone is taken out.
 */
export function copyPaths(from: Config, to: Config, paths: readonly string[]): void {
  for (const text of paths) {
    const path = parsePath(text);
    if (path === undefined) throw new TypeError(`"${text}" is no path`);
    const last = path.at(-1)!;
    const value = valueAt(from, path);
    const target = path.length === 1 ? to : valueAt(to, path.slice(0, -1));
    if (!isObject(target)) throw new TypeError(`There is no section for "${text}"`);
    if (value === undefined) delete target[last];
    else target[last] = value;
  }
}

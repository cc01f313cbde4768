/**
 * Changes one key of a configuration's value.
 *
 * @module
 */

import { isObject, type KeyPath } from "../base/key_path.ts";

/**
 * The value with another one at a path, sections made where they are missing. `undefined` takes the
 * key out. The first value is left as it is. Throws TypeError for a path through what is neither an
 * object nor a list with that index.
 */
export function withValue(root: unknown, path: KeyPath, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof key === "number") {
    if (!Array.isArray(root) || key >= root.length) {
      throw new TypeError(`There is no list with an item ${key}`);
    }
    const inner = withValue(root[key], rest, value);
    return inner === undefined ? root.toSpliced(key, 1) : root.with(key, inner);
  }
  if (root !== undefined && !isObject(root)) {
    throw new TypeError(`There is no section for "${key}"`);
  }
  const inner = value === undefined && root?.[key] === undefined
    ? undefined
    : withValue(root?.[key], rest, value);
  if (inner !== undefined) return { ...root, [key]: inner };
  const { [key]: _, ...others } = root ?? {};
  return others;
}

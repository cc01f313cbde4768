/**
 * Which keys differ between two values of a configuration file, as they are written.
 *
 * @module
 */

import { isObject, type KeyPath } from "../base/key_path.ts";
import { sameJson } from "./rewrite.ts";

/** Paths of the innermost values that differ, are new or are gone. A list counts as one value. */
export function changedKeys(before: unknown, after: unknown, path: KeyPath = []): KeyPath[] {
  if (sameJson(before, after)) return [];
  // A section that comes or goes whole is looked into, too: each of its keys has a rule of its own.
  const old = isObject(before) ? before : before === undefined ? {} : undefined;
  const next = isObject(after) ? after : after === undefined ? {} : undefined;
  if (old === undefined || next === undefined) return [path];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  if (keys.length === 0) return path.length === 0 ? [] : [path];
  return keys.flatMap((key) => changedKeys(own(old, key), own(next, key), [...path, key]));
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

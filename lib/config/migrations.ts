/**
 * Keys that were renamed go on working: each rename is a migration, which says where the value went.
 *
 * The number of a configuration's version is that of the last migration before it, plus one.
 * `fixtures/version_<n>.json` holds a file of every version with all its keys; a test loads each.
 *
 * @module
 */

import { formatPath, isObject, type KeyPath, parsePath } from "../base/key_path.ts";
import type { Warning } from "./problem.ts";
import { toSnake } from "../base/spelling.ts";

/** A renamed key. */
export interface Migration {
  /** Counts from 1 without a gap. */
  number: number;
  /** Where the value was, in camelCase; `*` stands for any one key. */
  from: string;
  /** Where it is now, with as many `*`. */
  to: string;
  /** The value as it has to be now; unchanged by default. Leaves alone what it does not know. */
  convert?: (value: unknown) => unknown;
}

/** Every migration, oldest first. There are none: this is the first version. */
export const MIGRATIONS: readonly Migration[] = [];

/** A configuration in the newest version. */
export interface Migrated {
  value: unknown;
  warnings: Warning[];
}

/** Applies every migration to a file's value; old keys are found in both spellings. */
export function migrate(raw: unknown, migrations: readonly Migration[]): Migrated {
  const warnings: Warning[] = [];
  const warn = (path: KeyPath, message: string) =>
    warnings.push({ path, kind: "old_name", message });
  let value = raw;
  for (const { from, to, convert = unchanged } of migrations) {
    const target = segments(to);
    for (const { path, stars } of find(value, segments(from))) {
      let star = 0;
      const newPath = target.map((segment) => segment === "*" ? stars[star++]! : segment);
      const taken = take(value, path);
      const name = formatPath(newPath);
      if (has(value, newPath)) {
        warn(path, `is an old name of ${name}, which is set too and counts`);
        value = taken.rest;
      } else {
        warn(path, `is an old name of ${name}; it still works`);
        value = put(taken.rest, newPath, convert(taken.value));
      }
    }
  }
  return { value, warnings };
}

function unchanged(value: unknown): unknown {
  return value;
}

function segments(text: string): string[] {
  const path = text.split(".").map((part) => part === "*" ? part : parsePath(part)?.[0]);
  return path.map(String);
}

/** The paths in a value that a pattern names, with the keys that its stars stand for. */
function find(value: unknown, pattern: readonly string[]): { path: string[]; stars: string[] }[] {
  const [first, ...rest] = pattern;
  if (first === undefined) return [{ path: [], stars: [] }];
  if (!isObject(value)) return [];
  const keys = Object.keys(value).filter((key) =>
    first === "*" || key === first || key === toSnake(first)
  );
  return keys.flatMap((key) =>
    find(value[key], rest).map(({ path, stars }) => ({
      path: [key, ...path],
      stars: first === "*" ? [key, ...stars] : stars,
    }))
  );
}

function has(value: unknown, path: readonly string[]): boolean {
  return find(value, path).length > 0;
}

function take(value: unknown, path: KeyPath): { value: unknown; rest: unknown } {
  const [key, ...inner] = path as string[];
  const { [key!]: found, ...others } = value as Record<string, unknown>;
  if (inner.length === 0) return { value: found, rest: others };
  const taken = take(found, inner);
  return { value: taken.value, rest: { ...(value as object), [key!]: taken.rest } };
}

/** Sets a value; objects on the way are made, and found in both spellings. */
function put(root: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...inner] = path;
  if (key === undefined) return value;
  const object = isObject(root) ? root : {};
  const written = Object.hasOwn(object, key)
    ? key
    : Object.hasOwn(object, toSnake(key))
    ? toSnake(key)
    : key;
  return { ...object, [written]: put(object[written], inner, value) };
}

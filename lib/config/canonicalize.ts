/**
 * Brings a configuration's keys to the spelling of the schema, and finds those that the schema does
 * not know.
 *
 * Only keys that the schema names have two spellings: names of providers, presets and headers are
 * the user's own. An unknown key is kept as it is.
 *
 * @module
 */

import { formatPath, isObject, type KeyPath } from "../base/key_path.ts";
import { nearestKey } from "./nearest.ts";
import type { Problem, Warning } from "./problem.ts";
import {
  childNode,
  isForeign,
  keysOf,
  rootNode,
  type Schema,
  type SchemaNode,
} from "./schema_tree.ts";
import { canonicalKey } from "../base/spelling.ts";

/** A configuration in the schema's spelling. */
export interface Canonical {
  value: unknown;
  problems: Problem[];
  warnings: Warning[];
}

/** Renames keys and reports unknown ones. Does not look at values. */
export function canonicalize(raw: unknown, schema: Schema): Canonical {
  const problems: Problem[] = [];
  const warnings: Warning[] = [];
  return { value: walk(raw, rootNode(schema), []), problems, warnings };

  function walk(value: unknown, node: SchemaNode | undefined, path: KeyPath): unknown {
    if (node === undefined) return value;
    if (Array.isArray(value)) {
      return value.map((item, at) => walk(item, childNode(node, at), [...path, at]));
    }
    if (!isObject(value)) return value;
    const known = keysOf(node);
    const spelledAs = new Map<string, string>();
    const entries: [string, unknown][] = [];
    for (const [written, inner] of Object.entries(value)) {
      const key = known === undefined ? written : canonicalKey(written, known) ?? written;
      const other = spelledAs.get(key);
      if (other !== undefined) {
        problems.push({
          path: [...path, key],
          kind: "spelling",
          message: `stands there twice, as "${other}" and as "${written}"`,
        });
        continue;
      }
      spelledAs.set(key, written);
      const child = childNode(node, key);
      if (child === undefined) report([...path, key], inner, node, known);
      entries.push([key, walk(inner, child, [...path, key])]);
    }
    return Object.fromEntries(entries);
  }

  function report(
    path: KeyPath,
    value: unknown,
    node: SchemaNode,
    known: readonly string[] | undefined,
  ): void {
    // Where no keys are named, the value is of a wrong type, which the schema says better.
    if (known === undefined || isForeign(node, value)) return;
    const message = unknownKey(path, known);
    if (node.meta.strict) problems.push({ path, kind: "unknown_key", message });
    else warnings.push({ path, kind: "unknown_key", message });
  }
}

/** `is not a known key; did you mean api.port?` */
export function unknownKey(path: KeyPath, known: readonly string[]): string {
  const near = nearestKey(String(path.at(-1)), known);
  return near === undefined
    ? "is not a known key"
    : `is not a known key; did you mean ${formatPath([...path.slice(0, -1), near])}?`;
}

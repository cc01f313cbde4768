/**
 * What differs between two configurations, and what each difference takes.
 *
 * @module
 */

import { formatPath, isObject, type KeyPath } from "./key_path.ts";
import { sameJson } from "./rewrite.ts";
import {
  childNode,
  isForeign,
  keysOf,
  kindOf,
  rootNode,
  type Schema,
  type SchemaNode,
} from "./schema_tree.ts";
import { type Config, configSchema } from "./schema.ts";

/** A key whose value is another one. */
export interface Change {
  path: string;
  /** The key's own `takes`, else that of the section around it, else `live`. */
  takes: "live" | "restart";
}

/** Every key that differs and has an effect, in the order of the schema. Names no values. */
export function classifyChanges(
  current: Config,
  next: Config,
  schema: Schema = configSchema,
): Change[] {
  const changes: Change[] = [];
  compare(current, next, rootNode(schema), "live", []);
  return changes;

  function compare(
    a: unknown,
    b: unknown,
    node: SchemaNode | undefined,
    takes: Change["takes"],
    path: KeyPath,
  ): void {
    if (sameJson(a, b)) return;
    const inner = node !== undefined && ["object", "record"].includes(kindOf(node));
    if (!inner || !isObject(a) || !isObject(b)) {
      changes.push({ path: formatPath(path), takes });
      return;
    }
    const keys = new Set([...keysOf(node) ?? [], ...Object.keys(a), ...Object.keys(b)]);
    for (const key of keys) {
      const child = childNode(node, key);
      // A key that nobody knows has no effect. One that a part of its own checks takes what its
      // section takes.
      if (child === undefined && !isForeign(node, own(a, key) ?? own(b, key))) continue;
      const ofChild = child === undefined ? takes : child.meta.takes ?? "live";
      compare(own(a, key), own(b, key), child, ofChild, [...path, key]);
    }
  }
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * What differs between two configurations, and what each difference takes.
 *
 * @module
 */

import { formatPath, isObject, type KeyPath } from "../base/key_path.ts";
import { sameJson } from "../config/rewrite.ts";
import {
  childNode,
  isForeign,
  keysOf,
  kindOf,
  rootNode,
  type SchemaNode,
} from "../config/schema_tree.ts";
import { hasSameProviders } from "./same_providers.ts";
import { type Config, configSchema, type KeyMeta } from "../config/schema.ts";

/** A key whose value is another one. */
export interface Change {
  path: string;
  /** The key's own `takes`, else that of the section around it, else `live`; see {@linkcode KeyMeta}. */
  takes: "live" | "restart";
}

type Takes = NonNullable<KeyMeta["takes"]>;

/**
 * Every key that differs and has an effect, in the order of the schema. Names no values. What depends
 * on providers takes what it would in a service that runs with `current`.
 */
export function classifyChanges(current: Config, next: Config): Change[] {
  const changes: Change[] = [];
  let sameProviders: boolean | undefined;
  compare(current, next, rootNode(configSchema), "live", []);
  return changes;

  function compare(
    a: unknown,
    b: unknown,
    node: SchemaNode | undefined,
    takes: Takes,
    path: KeyPath,
  ): void {
    if (sameJson(a, b)) return;
    const inner = node !== undefined && ["object", "record"].includes(kindOf(node));
    if (!inner || !isObject(a) || !isObject(b)) {
      changes.push({ path: formatPath(path), takes: inThisCase(takes) });
      return;
    }
    const keys = new Set([...keysOf(node) ?? [], ...Object.keys(a), ...Object.keys(b)]);
    for (const key of keys) {
      const child = childNode(node, key);
      // A key that nobody knows has no effect. One that a part of its own checks takes what its
      // section takes.
      if (child === undefined && !isForeign(node, own(a, key) ?? own(b, key))) continue;
      const ofChild = child === undefined
        ? node.meta.openTakes ?? takes
        : child.meta.takes ?? "live";
      compare(own(a, key), own(b, key), child, ofChild, [...path, key]);
    }
  }

  function inThisCase(takes: Takes): Change["takes"] {
    if (takes !== "provider") return takes;
    sameProviders ??= hasSameProviders(current, next);
    return sameProviders ? "live" : "restart";
  }
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

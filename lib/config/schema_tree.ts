/**
 * Finds one's way in the schema by key: what a key wants, and what stands in its meta.
 *
 * @module
 */

import type { z } from "zod";
import { isObject, type KeyPath } from "../base/key_path.ts";
import type { KeyMeta } from "./schema.ts";
import { canonicalKey } from "../base/spelling.ts";

/** Any zod schema. */
export type Schema = z.core.$ZodType;

/** A key of the schema without what is wrapped around it. */
export interface SchemaNode {
  /** The schema inside of defaults and optionals. */
  inner: Schema;
  /** The schema as it stands in its object. */
  outer: Schema;
  /** Its own meta; `takes` and `secret` also from the sections around it. */
  meta: KeyMeta;
  /** Null is a value of its own here. */
  nullable: boolean;
}

/** The node of a whole schema. */
export function rootNode(schema: Schema): SchemaNode {
  return nodeOf(schema, {});
}

/** The node under a key (or index), or undefined when the schema has none. Exact spelling. */
export function childNode(node: SchemaNode, key: string | number): SchemaNode | undefined {
  const def = definition(node.inner);
  switch (def.type) {
    case "object":
      return typeof key === "string" && Object.hasOwn(def.shape!, key)
        ? nodeOf(def.shape![key]!, node.meta)
        : undefined;
    case "record":
      return typeof key === "string" ? nodeOf(def.valueType!, node.meta) : undefined;
    case "array":
      return typeof key === "number" ? nodeOf(def.element!, node.meta) : undefined;
    default:
      return undefined;
  }
}

/** The node at a path, or undefined when the schema has none. */
export function nodeAt(schema: Schema, path: KeyPath): SchemaNode | undefined {
  let node: SchemaNode | undefined = rootNode(schema);
  for (const key of path) node = node && childNode(node, key);
  return node;
}

/** Names of an object's keys; undefined for what is no object with named keys. */
export function keysOf(node: SchemaNode): string[] | undefined {
  const def = definition(node.inner);
  return def.type === "object" ? Object.keys(def.shape!) : undefined;
}

/** What the schema wants here: `object`, `record`, `array`, `string`, `number`, `boolean`, … */
export function kindOf(node: SchemaNode): string {
  return definition(node.inner).type;
}

/** Whether an unknown key with this value belongs to a part that checks it itself. */
export function isForeign(node: SchemaNode, value: unknown): boolean {
  return node.meta.open === "keys" || (node.meta.open === "sections" && isObject(value));
}

/** The path in the schema's own spelling; unknown keys stay as they are. */
export function canonicalPath(schema: Schema, path: KeyPath): KeyPath {
  let node: SchemaNode | undefined = rootNode(schema);
  return path.map((segment) => {
    const keys = node && keysOf(node);
    const key = typeof segment === "string" && keys !== undefined
      ? canonicalKey(segment, keys) ?? segment
      : segment;
    node = node && childNode(node, key);
    return key;
  });
}

/** The parts of zod's definitions that are read here. */
interface Definition {
  type: string;
  innerType?: Schema;
  shape?: Record<string, Schema>;
  valueType?: Schema;
  element?: Schema;
}

function definition(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}

function nodeOf(outer: Schema, around: KeyMeta): SchemaNode {
  let inner = outer;
  let nullable = false;
  let own: KeyMeta = {};
  while (true) {
    own = { ...(inner as z.ZodType).meta() as KeyMeta | undefined, ...own };
    const { type, innerType } = definition(inner);
    if (innerType === undefined) break;
    nullable ||= type === "nullable";
    inner = innerType;
  }
  const { takes, secret } = around;
  return { outer, inner, nullable, meta: { takes, secret, ...own } };
}

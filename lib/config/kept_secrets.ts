/**
 * Finds secrets that would go somewhere else than they were given for: one that stays, in a section
 * whose address changes.
 *
 * @module
 */

import { isObject, type KeyPath } from "../base/key_path.ts";
import { childNode, rootNode, type Schema, type SchemaNode } from "./schema_tree.ts";
import { sameJson } from "./rewrite.ts";

/** Keys that say where a section's secrets are sent, or what is given them. */
const PLACE = /^(?:type|provider|host|port|command)$|url$/i;

/**
 * Paths of the keys that would take a secret elsewhere, between two resolved configurations. A secret
 * that is new, or set anew by the same change, may go anywhere.
 */
export function misdirectedSecrets(before: unknown, after: unknown, schema: Schema): KeyPath[] {
  const found: KeyPath[] = [];
  walk(before, after, rootNode(schema), []);
  return found;

  function walk(a: unknown, b: unknown, node: SchemaNode | undefined, path: KeyPath): void {
    if (!isObject(a) || !isObject(b) || sameJson(a, b)) return;
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    const isSecret = (key: string) => node && childNode(node, key)?.meta.secret === true;
    const keeps = [...keys].some((key) => isSecret(key) && sharesText(a[key], b[key]));
    for (const key of keys) {
      const place = PLACE.test(key) && !isSecret(key);
      if (keeps && place && !sameJson(a[key], b[key])) found.push([...path, key]);
      walk(a[key], b[key], node && childNode(node, key), [...path, key]);
    }
  }
}

/** Whether any text that is not empty stands in both. */
function sharesText(a: unknown, b: unknown): boolean {
  const texts = new Set(textsOf(a));
  return textsOf(b).some((text) => texts.has(text));
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

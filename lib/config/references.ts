/**
 * `${NAME}` in a text of the configuration stands for an environment variable. Source: decisions A1.
 *
 * `$${` stands for `${` itself. References stand in values only, not in keys.
 *
 * @module
 */

import { isObject, type KeyPath } from "./key_path.ts";
import type { Problem } from "./problem.ts";
import { childNode, rootNode, type Schema, type SchemaNode } from "./schema_tree.ts";

/** A reference in the configuration. */
export interface EnvReference {
  path: KeyPath;
  variable: string;
}

/** A configuration with its references replaced. */
export interface Resolved {
  value: unknown;
  references: EnvReference[];
  problems: Problem[];
}

/** Reads an environment variable. */
export type Env = (name: string) => string | undefined;

// Everything that begins like a reference, so that a misspelt one is no plain text.
const REFERENCE = /\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?/g;

/** Replaces every reference. What could not be replaced stays as it was, with a problem. */
export function resolveReferences(raw: unknown, schema: Schema, env: Env): Resolved {
  const references: EnvReference[] = [];
  const problems: Problem[] = [];
  return { value: walk(raw, rootNode(schema), []), references, problems };

  function walk(value: unknown, node: SchemaNode | undefined, path: KeyPath): unknown {
    if (typeof value === "string") return replace(value, node?.meta.secret === true, path);
    const below = (key: string | number, inner: unknown) =>
      walk(inner, node && childNode(node, key), [...path, key]);
    if (Array.isArray(value)) return value.map((item, at) => below(at, item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, below(key, inner)]),
    );
  }

  function replace(text: string, secret: boolean, path: KeyPath): string {
    return text.replace(REFERENCE, (found, variable: string | undefined) => {
      if (found.startsWith("$$")) return found.slice(1);
      const refuse = (message: string) => {
        problems.push({ path, kind: "reference", message });
        return found;
      };
      if (variable === undefined) {
        return refuse('"${" begins no reference such as ${NAME}; for the characters, write $${');
      }
      references.push({ path, variable });
      const value = env(variable);
      if (value === undefined) return refuse(`the environment variable ${variable} is not set`);
      // An empty key would mean that no key is asked for, or sent.
      if (value === "" && secret) return refuse(`the environment variable ${variable} is empty`);
      return value;
    });
  }
}

/** Whether a text holds a reference. */
export function hasReference(text: string): boolean {
  return [...text.matchAll(REFERENCE)].some(([found]) => !found.startsWith("$$"));
}

/** Whether a text is nothing but one reference, so that it holds nothing to hide. */
export function isReference(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);
}

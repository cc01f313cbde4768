/**
 * `${NAME}` in a text of the configuration stands for an environment variable, `${secret:NAME}` for a
 * secret that `service secrets` keeps.
 *
 * `$${` stands for `${` itself. References stand in values only, not in keys.
 *
 * @module
 */

import type { Secret } from "../contract/secrets.ts";
import { isSecretName, SECRET_NAME_FORM } from "../secrets/secret_name.ts";
import { toErrorData } from "../base/errors.ts";
import { isObject, type KeyPath } from "../base/key_path.ts";
import type { Problem } from "./problem.ts";
import { childNode, rootNode, type Schema, type SchemaNode } from "./schema_tree.ts";

/** A reference to a secret that was replaced by its value. */
export interface SecretReference {
  path: KeyPath;
  secret: Secret;
}

/** A configuration with its references replaced. */
export interface Resolved {
  value: unknown;
  secrets: SecretReference[];
  /** Every reference to a secret, also to one that is not there. */
  secretNames: { path: KeyPath; name: string }[];
  problems: Problem[];
}

/** Reads an environment variable. */
export type Env = (name: string) => string | undefined;

/** A secret by its name; throws when secrets cannot be read. */
export type RevealSecret = (name: string) => Secret | undefined;

// Everything that begins like a reference, so that a misspelt one is no plain text.
const REFERENCE = /\$?\$\{(?:(?:secret:([^{}\s]*)|([A-Za-z_][A-Za-z0-9_]*))\})?/g;

/** Replaces every reference. What could not be replaced stays as it was, with a problem. */
export function resolveReferences(
  raw: unknown,
  schema: Schema,
  { env, reveal }: { env: Env; reveal: RevealSecret },
): Resolved {
  const secrets: SecretReference[] = [];
  const secretNames: Resolved["secretNames"] = [];
  const problems: Problem[] = [];
  return { value: walk(raw, rootNode(schema), []), secrets, secretNames, problems };

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
    return text.replace(REFERENCE, (found, name: string | undefined, variable?: string) => {
      if (found.startsWith("$$")) return found.slice(1);
      try {
        if (name !== undefined) return secretValue(name, path);
        if (variable !== undefined) return variableValue(variable, secret);
        throw new Unresolved(
          '"${" begins no reference such as ${NAME} or ${secret:NAME}; for the characters, write $${',
        );
      } catch (error) {
        if (!(error instanceof Unresolved)) throw error;
        problems.push({ path, kind: "reference", message: error.message });
        return found;
      }
    });
  }

  function variableValue(variable: string, secret: boolean): string {
    const value = env(variable);
    const named = `the environment variable ${variable}`;
    if (value === undefined) throw new Unresolved(`${named} is not set`);
    // An empty key would mean that no key is asked for, or sent.
    if (value === "" && secret) throw new Unresolved(`${named} is empty`);
    return value;
  }

  function secretValue(name: string, path: KeyPath): string {
    if (!isSecretName(name)) {
      throw new Unresolved(
        `\${secret:${name.slice(0, 64)}} names no secret: expected ${SECRET_NAME_FORM}`,
      );
    }
    secretNames.push({ path, name });
    let found: Secret | undefined;
    try {
      found = reveal(name);
    } catch (error) {
      throw new Unresolved(`the secret ${name} cannot be read: ${toErrorData(error).message}`);
    }
    if (found === undefined) {
      throw new Unresolved(`there is no secret ${name}; to set it: service secrets set ${name}`);
    }
    secrets.push({ path, secret: found });
    return found.value;
  }
}

/** Why a reference could not be replaced. */
class Unresolved extends Error {}

/** Whether a text holds a reference. */
export function hasReference(text: string): boolean {
  return referencesIn(text).length > 0;
}

/** The references of a text; one that is misspelt has neither a secret nor a variable. */
export function referencesIn(text: string): { secret?: string; variable?: string }[] {
  return [...text.matchAll(REFERENCE)].filter(([found]) => !found.startsWith("$$"))
    .map(([, secret, variable]) => ({ secret, variable }));
}

/**
 * Whether a text is nothing but one reference, so that it holds nothing to hide. The name of a scheme
 * may stand before it, as in `Bearer ${secret:NAME}`.
 */
export function isReference(text: string): boolean {
  return /^(?:(?:[Bb]earer|[Bb]asic|[Tt]oken) )?\$\{(?:secret:[A-Z][A-Z0-9_]*|[A-Za-z_][A-Za-z0-9_]*)\}$/
    .test(text);
}

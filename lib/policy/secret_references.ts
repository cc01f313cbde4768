/**
 * `${secret:NAME}` in a text of a tool's arguments: where the authority puts a secret's value at the last
 * moment, so that neither a model nor a record nor an approval ever holds it.
 *
 * @module
 */

import { SECRET_NAME } from "../secrets/secret_name.ts";

const REFERENCE = new RegExp(`\\$\\{secret:(${SECRET_NAME})\\}`, "g");

/** Names of the secrets that a text refers to, each once. */
export function secretsNamedIn(text: string): string[] {
  return [...new Set([...text.matchAll(REFERENCE)].map(([, name]) => name!))];
}

/** Whether what looks like a reference is one. */
export function areReferencesWhole(text: string): boolean {
  return !/\$\{\s*secret/i.test(text.replaceAll(REFERENCE, ""));
}

/** The text with values instead of references. A value that looks like one is left as it is. */
export function fillSecrets(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(REFERENCE, (reference, name: string) => values.get(name) ?? reference);
}

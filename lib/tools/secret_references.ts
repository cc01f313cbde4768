/**
 * `${secret:NAME}` in a text of a tool's arguments: where the authority puts a secret's value at the last
 * moment, so that neither a model nor a record nor an approval ever holds it.
 *
 * @module
 */

const REFERENCE = /\$\{secret:([A-Z][A-Z0-9_]{0,63})\}/g;

/** What a secret's name looks like. */
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

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

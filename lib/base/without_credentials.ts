/**
 * What may be shown of texts that people configure. Needs no package: adapters of channels load it.
 *
 * @module
 */

/** Parameters of a query by which services take a key, but for one whose value is a reference alone. */
const KEY_IN_QUERY =
  /([?&][^=&#\s]*(?:key|token|secret|passw|credential|auth|sig)[^=&#\s]*=)(?!\$\{[^}]*\}(?:[&#\s]|$))[^&#\s]+/gi;

/** The same as an argument of a program, such as a server's own. */
const KEY_IN_FLAG =
  /^(--?[\w-]*(?:key|token|secret|passw|credential|auth)[\w-]*=)(?!\$\{[^}]*\}$).+$/is;

/** A URL or an argument without the name, password and keys that may stand in it. */
export function withoutCredentials(text: string): string {
  const plain = text.replace(KEY_IN_FLAG, "$1***");
  if (!plain.includes("://")) return plain;
  return plain.replace(/(:\/\/)[^/?#\s]*@/, "$1***@").replace(KEY_IN_QUERY, "$1***");
}

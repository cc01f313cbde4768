/**
 * The two spellings of a key. The configuration is read in both and written in camelCase
 * (decisions, introduction).
 *
 * @module
 */

/** `maxOutputTokens` as `max_output_tokens`. */
export function toSnake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The known key that a spelling means, or undefined. */
export function canonicalKey(key: string, known: readonly string[]): string | undefined {
  if (known.includes(key)) return key;
  return key.includes("_") ? known.find((each) => toSnake(each) === key) : undefined;
}

/**
 * Ids that people type.
 *
 * @module
 */

const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";

/** The prefix and 16 letters and digits, 80 random bits; none that look alike. */
export function newId(prefix: string): string {
  // 256 is a multiple of the 32 letters, so each is as likely as the others.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return prefix + Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("");
}

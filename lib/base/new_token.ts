/**
 * Tokens that nobody can guess.
 *
 * @module
 */

/** The prefix and 43 URL-safe characters, 256 random bits. */
export function newToken(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return prefix + bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

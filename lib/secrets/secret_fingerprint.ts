/**
 * By what the value of a secret is known where the value itself may not be.
 *
 * @module
 */

/**
 * One form in which a value may stand in a text: as it is, in JSON, in a URL, in base64. Its first
 * characters let a stream hold back only what may begin it; the rest is compared by hash.
 */
export interface SecretFingerprint {
  /** The secret's name, for the placeholder `[secret NAME]`. */
  name: string;
  /** Of the form, in UTF-16 code units. */
  length: number;
  /** At most 4 characters, and at most a quarter of the form. */
  prefix: string;
  /**
   * Of longer forms: `bits` bits of the first `length` characters, by which most texts that only begin
   * alike are told apart early. Too few to find those characters by.
   */
  checks: readonly { length: number; bits: number; code: number }[];
  /** Line breaks may stand in it, as `base64` and `xxd -p` set them. */
  wrapped: boolean;
  salt: string;
  /** SHA-256, base64, of salt and form. */
  hash: string;
}

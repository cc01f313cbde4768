/**
 * From the value of a secret to what it is known by.
 *
 * @module
 */

import { codeSeed, hashForm, shortCode } from "./form_hash.ts";
import { formsOf } from "./forms_of.ts";
import type { SecretFingerprint } from "./secret_fingerprint.ts";

/** Characters of a prefix at most, and the part of a form that it may be. */
const MAX_PREFIX_CHARS = 4;
const MAX_PREFIX_PART = 1 / 4;
/** Characters of a form that is checked before it is whole. */
const MIN_CHECKED_CHARS = 24;
/** Characters of the first check of long forms, and how many times as many each further one has. */
const FIRST_CHECK_CHARS = 32;
const CHECK_GROWTH = 4;

/** A salt for fingerprints that are made together: texts are then hashed once for all of them. */
export function newSalt(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toBase64();
}

/** Fingerprints of every form of a value; none of a value of fewer than 8 characters. */
export function fingerprintsOf(
  { name, value }: { name: string; value: string },
  salt: string = newSalt(),
): SecretFingerprint[] {
  return formsOf(value).map(({ text, wrapped }) => ({
    name,
    length: text.length,
    prefix: text.slice(0, Math.min(MAX_PREFIX_CHARS, Math.floor(text.length * MAX_PREFIX_PART))),
    checks: checksOf(text, salt),
    wrapped,
    salt,
    hash: hashForm(salt, text),
  }));
}

/** None of short forms: what is known of them stays little. */
function checksOf(form: string, salt: string): SecretFingerprint["checks"] {
  const seed = codeSeed(salt);
  const check = (length: number, bits: number) => ({
    length,
    bits,
    code: shortCode(seed, form.slice(0, length)) & ((1 << bits) - 1),
  });
  if (form.length < 2 * FIRST_CHECK_CHARS) {
    return form.length < MIN_CHECKED_CHARS ? [] : [check(Math.floor(form.length / 2), 8)];
  }
  const checks: SecretFingerprint["checks"][number][] = [];
  for (let length = FIRST_CHECK_CHARS; length * 2 <= form.length; length *= CHECK_GROWTH) {
    checks.push(check(length, 16));
  }
  return checks;
}

/**
 * How forms of secrets are compared without being known.
 *
 * @module
 */

import { sha256 } from "../base/sha256.ts";

/** SHA-256, base64, of salt and form. Synchronous: it is asked for in the middle of a text. */
export function hashForm(salt: string, form: string): string {
  return sha256(salt + form).toBase64();
}

/** Where the codes of a salt begin. */
export function codeSeed(salt: string): number {
  return feed(0x811c9dc5, salt);
}

/** 16 bits of salt and text (FNV-1a, its end mixed). Cheap, and no proof of anything. */
export function shortCode(seed: number, text: string): number {
  let code = feed(seed, text);
  code = Math.imul(code ^ (code >>> 16), 0x85ebca6b);
  code = Math.imul(code ^ (code >>> 13), 0xc2b2ae35);
  return (code ^ (code >>> 16)) & 0xffff;
}

function feed(start: number, text: string): number {
  let code = start;
  for (let at = 0; at < text.length; at++) {
    code = Math.imul(code ^ text.charCodeAt(at), 0x01000193);
  }
  return code;
}

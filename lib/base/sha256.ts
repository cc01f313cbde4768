/**
 * SHA-256 for what a start hashes. node:crypto takes a process 12 to 25 ms to load, ten times what a start
 * hashes in JavaScript; whoever hashes more than a start does gets node:crypto, which is up to ten times
 * faster.
 *
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as hash } from "@noble/hashes/sha2.js";
import { nodeCrypto } from "./node_crypto.ts";

/** Bytes that a process hashes in JavaScript, which takes 3 ms. */
const OWN_BYTES = 256 * 1_024;

let left = OWN_BYTES;

/** SHA-256 of bytes or of a text's UTF-8. */
export function sha256(data: string | Uint8Array): Uint8Array {
  const bytes = toBytes(data);
  if (isLittle(bytes)) return hash(bytes);
  return new Uint8Array(nodeCrypto().createHash("sha256").update(bytes).digest());
}

/** The same, hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return sha256(data).toHex();
}

/** HMAC-SHA-256 of a text's UTF-8. */
export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  const bytes = toBytes(text);
  if (isLittle(bytes)) return hmac(hash, key, bytes);
  return new Uint8Array(nodeCrypto().createHmac("sha256", key).update(bytes).digest());
}

function isLittle({ length }: Uint8Array): boolean {
  left -= length;
  return left >= 0;
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}

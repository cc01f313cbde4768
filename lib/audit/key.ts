/**
 * The key of the audit's digests. What an action's arguments were can be confirmed by who has it, and
 * guessed by nobody else.
 *
 * @module
 */

import { hmacSha256 } from "../base/sha256.ts";
import { readTextIfAny } from "./files.ts";

const KEY_BYTES = 32;

/** Keyed digest of a text: HMAC-SHA-256, hex. */
export type KeyedDigest = (text: string) => string;

/** Reads the key of a folder, or makes it, mode 0600. Throws when what is there is no key. */
export async function openDigestKey(keysDir: string): Promise<KeyedDigest> {
  const path = `${keysDir}/audit.key`;
  const hex = await readKey(path) ?? await makeKey(keysDir, path);
  checkKey(hex, path);
  const key = Uint8Array.fromHex(hex);
  return (text) => hmacSha256(key, text).toHex();
}

function checkKey(hex: string, path: string): void {
  if (/^[0-9a-f]{64}$/.test(hex)) return;
  throw new Error(`Cannot use "${path}": expected ${KEY_BYTES * 2} hexadecimal digits`);
}

/** Throws when a folder has a key with which no audit can be opened. Makes none. */
export async function checkDigestKey(keysDir: string): Promise<void> {
  const path = `${keysDir}/audit.key`;
  const hex = await readKey(path);
  if (hex !== undefined) checkKey(hex, path);
}

/** Whether a folder has a key already. */
export async function hasDigestKey(keysDir: string): Promise<boolean> {
  return await readKey(`${keysDir}/audit.key`).then((hex) => hex !== undefined, () => true);
}

async function readKey(path: string): Promise<string | undefined> {
  return (await readTextIfAny(path))?.trim();
}

/** Written beside and renamed, so that a crash leaves no half key. */
async function makeKey(keysDir: string, path: string): Promise<string> {
  await Deno.mkdir(keysDir, { recursive: true, mode: 0o700 });
  const hex = crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toHex();
  const next = `${path}.new`;
  await Deno.remove(next).catch(() => {});
  const file = await Deno.open(next, { write: true, createNew: true, mode: 0o600 });
  try {
    await file.write(new TextEncoder().encode(hex + "\n"));
    await file.sync();
  } finally {
    file.close();
  }
  await Deno.rename(next, path);
  return hex;
}

/**
 * The key that seals the operators' state. Whoever can write the state's folder but not read the key's
 * can damage what is remembered, and not change it.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { hmacSha256 } from "../base/sha256.ts";
import type { Damaged } from "./damaged.ts";

/** HMAC-SHA-256 of a text, hex. */
export type Seal = (text: string) => string;

/** Name of the key in its folder. */
export const STATE_KEY_FILE = "operator.key";

const KEY_BYTES = 32;

/** The key of a folder; undefined when there is none. */
export function readStateKey(keysDir: string): Seal | Damaged | undefined {
  const path = `${keysDir}/${STATE_KEY_FILE}`;
  try {
    const { mode, isFile, size } = Deno.lstatSync(path);
    if (!isFile) return { damaged: `The key "${path}" is no file` };
    if (Deno.build.os !== "windows" && mode !== null && (mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8);
      return { damaged: `The key "${path}" has the mode ${octal}, so others may have read it` };
    }
    const hex = size > 2 * KEY_BYTES + 1 ? "" : Deno.readTextFileSync(path).replace(/\n$/, "");
    if (!/^[0-9a-f]{64}$/.test(hex)) {
      return { damaged: `The key "${path}" is not ${2 * KEY_BYTES} hexadecimal digits` };
    }
    const key = Uint8Array.fromHex(hex);
    return (text) => hmacSha256(key, text).toHex();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    return { damaged: `The key "${path}" cannot be read: ${(error as Error).message}` };
  }
}

/** Makes a key, mode 0600. What is there under its name is replaced. */
export async function makeStateKey(keysDir: string): Promise<void> {
  const hex = crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toHex();
  await writeFileAtomic(`${keysDir}/${STATE_KEY_FILE}`, `${hex}\n`, { mode: 0o600 });
}

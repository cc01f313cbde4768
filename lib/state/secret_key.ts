/**
 * The key that the values of secrets are encrypted with: in the environment, so that a copy of the home
 * alone reveals nothing, or else in the folder of keys.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { hmacSha256 } from "../base/sha256.ts";
import type { Damaged } from "./damaged.ts";
import { readBounded } from "./state_disk.ts";

/** Variable that holds the key: base64 of 32 bytes. It goes before the file. */
export const SECRETS_KEY_VARIABLE = "SERVICE_SECRETS_KEY";

/** Name of the key's file in its folder, mode 0600. */
export const SECRETS_KEY_FILE = "secrets.key";

const KEY_BYTES = 32;
const MAX_FILE_BYTES = 100;
const FORM = `base64 of ${KEY_BYTES} bytes, such as openssl rand -base64 ${KEY_BYTES} prints`;

/** A key, and how it is known. */
export interface SecretsKey {
  bytes: Uint8Array;
  /** 16 hex digits that tell it from others and say nothing about it. */
  id: string;
  /** For people: where it comes from. */
  from: string;
}

/** The key in force; undefined when there is none. `fromEnv` is the variable's value, empty for unset. */
export function readSecretsKey(
  { keysDir, fromEnv = "" }: { keysDir: string; fromEnv?: string },
): SecretsKey | Damaged | undefined {
  if (fromEnv.trim() !== "") {
    // What stands there is not repeated: it may be a key with one character missing.
    return toKey(fromEnv, SECRETS_KEY_VARIABLE) ??
      { damaged: `${SECRETS_KEY_VARIABLE} is not ${FORM}` };
  }
  const path = `${keysDir}/${SECRETS_KEY_FILE}`;
  const text = readBounded(path, MAX_FILE_BYTES);
  if (text === undefined) return undefined;
  if ("damaged" in text) return { damaged: `The key "${path}" is damaged: ${text.damaged}` };
  const mode = modeOf(path);
  if ((mode & 0o077) !== 0) {
    const octal = mode.toString(8);
    return {
      damaged: `The key "${path}" has the mode ${octal}, so others may have read it; ` +
        "if nobody has, then: chmod 600",
    };
  }
  return toKey(text.text, `"${path}"`) ?? { damaged: `The key "${path}" is not ${FORM}` };
}

/** Makes a key, mode 0600, in its folder. To be called under the state's lock, when there is none. */
export async function makeSecretsKey(
  keysDir: string,
  write: typeof writeFileAtomic = writeFileAtomic,
): Promise<void> {
  const text = crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toBase64();
  await write(`${keysDir}/${SECRETS_KEY_FILE}`, `${text}\n`, { mode: 0o600 });
}

function toKey(text: string, from: string): SecretsKey | undefined {
  const trimmed = text.trim();
  if (!/^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/.test(trimmed)) return undefined;
  const bytes = Uint8Array.fromBase64(trimmed.replaceAll("-", "+").replaceAll("_", "/"));
  const id = hmacSha256(bytes, "service secrets key id").toHex();
  return { bytes, id: id.slice(0, 16), from };
}

function modeOf(path: string): number {
  if (Deno.build.os === "windows") return 0o600;
  try {
    return (Deno.lstatSync(path).mode ?? 0) & 0o777;
  } catch {
    return 0;
  }
}

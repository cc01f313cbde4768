/**
 * One encrypted value: AES-256-GCM, bound to everything that is said of the secret, so that a value
 * which is moved to another name, or whose scope is edited, does not open.
 *
 * @module
 */

import { nodeCrypto } from "../base/node_crypto.ts";
import type { SecretInfo } from "../contract/secrets.ts";

/** A secret as it is kept. */
export interface StoredSecret extends SecretInfo {
  /** 12 random bytes, base64; new with every value. */
  iv: string;
  /** The value's UTF-8, encrypted, and the 16 bytes of its tag; base64. */
  sealed: string;
}

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a value. */
export function sealSecret(info: SecretInfo, value: string, key: Uint8Array): StoredSecret {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const cipher = nodeCrypto().createCipheriv(ALGORITHM, key, iv).setAAD(boundTo(info));
  const parts = [cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()];
  const sealed = new Uint8Array(parts.flatMap((part) => [...part]));
  return { ...info, iv: iv.toBase64(), sealed: sealed.toBase64() };
}

/** The value; undefined when key, name, scope or value are not those that it was encrypted with. */
export function openSecret(
  { iv, sealed, ...info }: StoredSecret,
  key: Uint8Array,
): string | undefined {
  try {
    const [nonce, bytes] = [Uint8Array.fromBase64(iv), Uint8Array.fromBase64(sealed)];
    if (nonce.length !== IV_BYTES || bytes.length < TAG_BYTES) return undefined;
    const at = bytes.length - TAG_BYTES;
    const decipher = nodeCrypto()
      .createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(boundTo(info)).setAuthTag(bytes.subarray(at));
    return decipher.update(bytes.subarray(0, at), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

/** A list, so that no part can pass for a part of its neighbour. */
function boundTo({ name, hosts, commands, createdAt, updatedAt }: SecretInfo): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify(["service secret", 1, name, hosts, commands, createdAt, updatedAt]),
  );
}

/**
 * The key that signs releases: Ed25519, in the variable `SERVICE_RELEASE_KEY`, as
 * `openssl genpkey -algorithm ed25519` prints it. Its public half is part of every program and of the
 * install script.
 *
 * @module
 */

import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

/** The variable that holds it. */
export const RELEASE_KEY = "SERVICE_RELEASE_KEY";

/** It, and what others need of it. */
export interface SigningKey {
  /** SubjectPublicKeyInfo in base64. */
  publicKey: string;
  /** The same as PEM. */
  publicPem: string;
  /** Signature of bytes, 64 bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** Reads it; undefined where the variable isn't set. Throws an Error for anything else than such a key. */
export function readSigningKey(pem: string | undefined): SigningKey | undefined {
  if (!pem?.trim()) return undefined;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Error(`${RELEASE_KEY} isn't a private key in PEM`);
  }
  if (key.asymmetricKeyType !== "ed25519") {
    throw new Error(`${RELEASE_KEY} is a key for ${key.asymmetricKeyType}: expected ed25519`);
  }
  const publicKey = createPublicKey(key);
  return {
    publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    sign: (bytes) => sign(null, bytes, key),
  };
}

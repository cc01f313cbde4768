/**
 * The key that checkpoints are signed with: Ed25519, in the key folder, which neither
 * the service's Worker nor a child can read. The public key stands beside the records, for everyone.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { sha256Hex } from "../base/sha256.ts";
import { readTextIfAny } from "./files.ts";

/** Signs for one key. */
export interface AuditSigner {
  /** SHA-256, hex, of the public key's DER form. */
  readonly fingerprint: string;
  /** The public key: SPKI, PEM. */
  readonly publicKey: string;
  /** Ed25519 signature of the text's UTF-8, base64. */
  sign(text: string): Promise<string>;
}

/** Checks signatures of one key. */
export interface AuditVerifier {
  readonly fingerprint: string;
  readonly publicKey: string;
  verify(text: string, signature: string): Promise<boolean>;
}

/** Name of the private key in its folder: PKCS 8, PEM. */
const KEY_FILE = "audit-signing.key";

/**
 * Reads the key of a folder, or makes it, mode 0600. `prepare` runs before a new key is stored: what
 * has to be there whenever the key is, it makes first. Throws when what is there is no key.
 */
export async function openSigner(
  keysDir: string,
  prepare: (signer: AuditSigner) => Promise<void>,
): Promise<AuditSigner> {
  const path = `${keysDir}/${KEY_FILE}`;
  const pem = await readTextIfAny(path);
  if (pem !== undefined) return await signerOf(await importPrivate(pem, path));
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const signer = await signerOf(privateKey);
  await prepare(signer);
  const text = toPem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", privateKey));
  await writeFileAtomic(path, text, { mode: 0o600 });
  return signer;
}

/** The verifier of a folder's own key; undefined where it has none. */
export async function ownVerifier(keysDir: string): Promise<AuditVerifier | undefined> {
  const path = `${keysDir}/${KEY_FILE}`;
  const pem = await readTextIfAny(path);
  if (pem === undefined) return undefined;
  return await verifierOf(await publicOf(await importPrivate(pem, path)));
}

/** The verifier of a public key, PEM. `from` names it in an error. */
export async function importVerifier(pem: string, from: string): Promise<AuditVerifier> {
  try {
    const der = fromPem("PUBLIC KEY", pem);
    return await verifierOf(
      await crypto.subtle.importKey("spki", der, "Ed25519", true, ["verify"]),
    );
  } catch (cause) {
    throw new Error(`Cannot use "${from}": expected an Ed25519 public key, PEM`, { cause });
  }
}

async function signerOf(privateKey: CryptoKey): Promise<AuditSigner> {
  const { fingerprint, publicKey } = await verifierOf(await publicOf(privateKey));
  return {
    fingerprint,
    publicKey,
    async sign(text) {
      const bytes = new TextEncoder().encode(text);
      return new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, bytes)).toBase64();
    },
  };
}

async function verifierOf(key: CryptoKey): Promise<AuditVerifier> {
  const der = new Uint8Array(await crypto.subtle.exportKey("spki", key));
  return {
    fingerprint: sha256Hex(der),
    publicKey: toPem("PUBLIC KEY", der.buffer),
    async verify(text, signature) {
      let bytes: Uint8Array<ArrayBuffer>;
      try {
        bytes = Uint8Array.fromBase64(signature);
      } catch {
        return false;
      }
      if (bytes.length !== SIGNATURE_BYTES) return false;
      return await crypto.subtle.verify("Ed25519", key, bytes, new TextEncoder().encode(text));
    },
  };
}

const SIGNATURE_BYTES = 64;

async function importPrivate(pem: string, path: string): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey("pkcs8", fromPem("PRIVATE KEY", pem), "Ed25519", true, [
      "sign",
    ]);
  } catch (cause) {
    throw new Error(`Cannot use "${path}": expected an Ed25519 private key, PEM`, { cause });
  }
}

async function publicOf(privateKey: CryptoKey): Promise<CryptoKey> {
  const { kty, crv, x } = await crypto.subtle.exportKey("jwk", privateKey);
  return await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", true, ["verify"]);
}

function toPem(label: string, der: ArrayBuffer): string {
  const lines = new Uint8Array(der).toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function fromPem(label: string, pem: string): Uint8Array<ArrayBuffer> {
  const match = new RegExp(`^-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]+)-----END ${label}-----$`)
    .exec(pem.trim());
  if (match === null) throw new Error(`no ${label}`);
  return Uint8Array.fromBase64(match[1]!.replace(/\s/g, ""));
}

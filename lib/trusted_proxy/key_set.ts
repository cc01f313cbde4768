/**
 * A set of signing keys, by id (RFC 7517).
 *
 * @module
 */

import { importJWK } from "jose";
import { algorithmsOf, type AssertionAlgorithm, isKid, type Jwk } from "./signing_key.ts";

/** What a token's header says of its key. */
export interface KeyName {
  kid: string;
  alg: AssertionAlgorithm;
}

/** What a look-up found; `reason` says why there is no key, and holds nothing of a token. */
export type FoundKey = { key: CryptoKey } | { reason: string };

/** Where a token's key is found. Never rejects. */
export interface KeySource {
  find(name: KeyName): Promise<FoundKey>;
}

/** Why a token is refused whose key is not there. */
const UNKNOWN_KID = "no signing key has the kid of the assertion";

/** Keys that do not change. */
export class KeySet implements KeySource {
  readonly #byKid = new Map<string, Jwk[]>();
  readonly #imported = new Map<string, Promise<FoundKey>>();

  /** Keys of other purposes are left out. Throws a `TypeError` for what is no set of keys. */
  constructor(set: unknown) {
    const keys = (set as { keys?: unknown } | null)?.keys;
    if (!Array.isArray(keys)) throw new TypeError("it is no set of keys");
    for (const jwk of keys) {
      if (typeof jwk !== "object" || jwk === null || !isKid(jwk.kid)) continue;
      if (algorithmsOf(jwk).length === 0) continue;
      const same = this.#byKid.get(jwk.kid);
      if (same === undefined) this.#byKid.set(jwk.kid, [jwk]);
      else same.push(jwk);
    }
  }

  /** Whether a key of that id is there, whatever it can be used for. */
  has(kid: string): boolean {
    return this.#byKid.has(kid);
  }

  async find({ kid, alg }: KeyName): Promise<FoundKey> {
    const named = this.#byKid.get(kid);
    if (named === undefined) return { reason: UNKNOWN_KID };
    const fitting = named.filter((jwk) => algorithmsOf(jwk).includes(alg));
    const [jwk] = fitting;
    if (jwk === undefined) return { reason: "the key of that kid is not for that algorithm" };
    if (fitting.length > 1) return { reason: "several signing keys have the kid of the assertion" };
    const slot = `${alg} ${kid}`;
    const known = this.#imported.get(slot) ?? importKey(jwk, alg);
    this.#imported.set(slot, known);
    return await known;
  }
}

async function importKey(jwk: Jwk, alg: AssertionAlgorithm): Promise<FoundKey> {
  // Its public numbers alone: no set can hand in a secret, or say what else it is for.
  const { kty, crv, n, e, x, y } = jwk as Record<string, string>;
  try {
    const key = await importJWK({ kty, crv, n, e, x, y } as Parameters<typeof importJWK>[0], alg);
    if (key instanceof CryptoKey) return { key };
  } catch {
    // What a library says of a key's numbers helps nobody.
  }
  return { reason: "the signing key of that kid cannot be used" };
}

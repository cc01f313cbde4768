/**
 * An issuer for tests: real keys, and tokens as right or as wrong as a test wants them.
 *
 * @module
 */

import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import type { AssertionAlgorithm } from "../signing_key.ts";

export const ISSUER = "https://issuer.example";
export const AUDIENCE = "service";
/** Wall time of the tests, seconds. */
export const NOW_S = 1_800_000_000;

/** A pair of keys, the public one as it stands in a set. */
export interface Signer {
  alg: AssertionAlgorithm;
  kid: string;
  privateKey: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
  jwk: JWK;
}

export async function makeSigner(alg: AssertionAlgorithm, kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...await exportJWK(publicKey), kid, alg, use: "sig" } };
}

/** A token that holds, but for what is given otherwise; undefined takes a claim out. */
export function sign(
  { alg, kid, privateKey }: Signer,
  claims: JWTPayload = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const all = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: "u-1",
    email: "ann@example.org",
    iat: NOW_S,
    exp: NOW_S + 300,
    ...claims,
  };
  return new SignJWT(all).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

/** A token's part, as JSON. */
export function encodePart(value: unknown): string {
  return new TextEncoder().encode(JSON.stringify(value))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

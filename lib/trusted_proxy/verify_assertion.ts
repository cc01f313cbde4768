/**
 * Verifies the signed word of a proxy (RFC 7519). The header is judged
 * before the signature, and the signature before any claim.
 *
 * @module
 */

import { errors, jwtVerify } from "jose";
import type { Clock } from "../base/clock.ts";
import type { TrustedProxyConfig } from "../config/schema.ts";
import type { Claims } from "./identity.ts";
import type { KeyName, KeySource } from "./key_set.ts";
import { ASSERTION_ALGORITHMS, isKid } from "./signing_key.ts";

/** Longest token that is looked at, characters. */
const MAX_ASSERTION_CHARS = 16_384;
/** Allowed difference between two clocks. */
const CLOCK_SKEW_S = 60;

/** What a verification works with. */
export interface VerifyDeps {
  keys: KeySource;
  clock: Pick<Clock, "now">;
}

/** The claims, or why there are none; a reason holds nothing of the token. Never rejects. */
export async function verifyAssertion(
  token: string,
  { issuer, audience }: Pick<TrustedProxyConfig, "issuer" | "audience">,
  { keys, clock }: VerifyDeps,
): Promise<{ claims: Claims } | { reason: string }> {
  const name = readHeader(token);
  if ("reason" in name) return name;
  const found = await keys.find(name);
  if ("reason" in found) return found;
  let claims: Claims;
  try {
    const { payload } = await jwtVerify(token, found.key, {
      algorithms: [name.alg],
      issuer,
      requiredClaims: ["iss", "aud", "exp"],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(clock.now()),
    });
    claims = payload;
  } catch (error) {
    return { reason: reasonOf(error) };
  }
  // 1e999 is a number to JSON and never comes.
  if (!Number.isSafeInteger(Math.trunc(claims.exp as number))) {
    return { reason: "the claim exp is no time" };
  }
  // One name in a list is the same by RFC 7519, 4.1.3; a token for others too is not ours alone.
  const { aud } = claims;
  const only = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (only !== audience) return { reason: "the claim aud is not the audience" };
  return { claims };
}

/** Which key the token names, if it is of a kind that is verified at all. */
function readHeader(token: string): KeyName | { reason: string } {
  if (token.length > MAX_ASSERTION_CHARS) {
    return { reason: `the assertion is longer than ${MAX_ASSERTION_CHARS} characters` };
  }
  const parts = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.exec(token);
  let header: unknown;
  try {
    const bytes = Uint8Array.fromBase64(parts?.[1] ?? "", { alphabet: "base64url" });
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    header = undefined;
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    return { reason: "the assertion is no signed token" };
  }
  const { alg, kid } = header as Record<string, unknown>;
  const known = ASSERTION_ALGORITHMS.find((each) => each === alg);
  if (known === undefined) {
    return { reason: `its algorithm is none of ${ASSERTION_ALGORITHMS.join(", ")}` };
  }
  if (Object.hasOwn(header, "crit")) return { reason: "its header demands extensions (crit)" };
  if (!isKid(kid)) return { reason: "its header names no key (kid)" };
  return { kid, alg: known };
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong";
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    const known = ["iss", "aud", "exp", "nbf", "iat"].includes(claim) ? claim : "a claim";
    if (reason === "missing") return `it lacks ${known}`;
    if (known === "nbf" && reason === "check_failed") return "it is not valid yet (nbf)";
    return known === "iss" && reason === "check_failed"
      ? "the claim iss is not the issuer"
      : `the claim ${known} has a wrong form`;
  }
  return "it cannot be verified";
}

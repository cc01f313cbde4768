/**
 * Which keys may sign the word of a trusted proxy, and which algorithm each may be used with (decisions
 * C, "Trusted proxy JWT"). A key's type decides the algorithm, never the token alone.
 *
 * @module
 */

/** The algorithms of tokens; never `none`, and none of a shared secret. */
export const ASSERTION_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"] as const;

/** One of them. */
export type AssertionAlgorithm = typeof ASSERTION_ALGORITHMS[number];

/** A key as RFC 7517 has it; anything may stand in it. */
export type Jwk = Readonly<Record<string, unknown>>;

/** Smallest modulus (RFC 7518, 3.3), and one beyond which a check takes seconds. */
const MODULUS_BITS = { min: 2_048, max: 8_192 };
const MAX_KID_CHARS = 256;
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** Whether a value can be the id of a key. */
export function isKid(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_KID_CHARS;
}

/** Algorithms that a key can check; none for a key of another purpose or kind. */
export function algorithmsOf(jwk: Jwk): readonly AssertionAlgorithm[] {
  if (jwk.use !== undefined && jwk.use !== "sig") return [];
  if (
    jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes("verify"))
  ) return [];
  const byType = algorithmsOfType(jwk);
  return jwk.alg === undefined ? byType : byType.filter((each) => each === jwk.alg);
}

/** What is wrong with a key that an operator wrote down; undefined for one that can be used. */
export function signingKeyProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is no key";
  const jwk = value as Jwk;
  if (jwk.kty === "oct" || PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))) {
    return "holds a secret; only the public part of a signing key may stand here";
  }
  if (!isKid(jwk.kid)) return "has no kid, by which tokens name their key";
  if (algorithmsOf(jwk).length > 0) return undefined;
  return `can check no ${ASSERTION_ALGORITHMS.join(", ")}: ` +
    "an RSA key of 2048 to 8192 bits, EC P-256 or OKP Ed25519 for signatures can";
}

function algorithmsOfType({ kty, crv, n, e, x, y }: Jwk): readonly AssertionAlgorithm[] {
  if (kty === "RSA") {
    const bits = isBase64Url(n) && isBase64Url(e) ? modulusBits(n) : 0;
    return bits >= MODULUS_BITS.min && bits <= MODULUS_BITS.max ? ["RS256", "PS256"] : [];
  }
  if (kty === "EC") return crv === "P-256" && isBase64Url(x) && isBase64Url(y) ? ["ES256"] : [];
  if (kty === "OKP") return crv === "Ed25519" && isBase64Url(x) ? ["EdDSA"] : [];
  return [];
}

function isBase64Url(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9_-]+$/.test(value);
}

/** Whole bytes, without zeros in front. */
function modulusBits(n: string): number {
  return Math.floor(n.replace(/^A+/, "").length * 6 / 8) * 8;
}

/**
 * Signatures of the Standard Webhooks scheme, symmetric form: HMAC-SHA256 over id, time and body.
 *
 * @module
 */

/** How far the time of a request may be off, seconds. */
export const MAX_SKEW_S = 5 * 60;

const PREFIX = "whsec_";
const MAX_ID_CHARS = 256;
/** Signatures of one request that are looked at; one a secret of the sender is usual. */
const MAX_SIGNATURES = 8;

const encoder = new TextEncoder();

/** What a request is signed with, and what tells it apart from others. */
export interface SignedHeaders {
  "webhook-id": string;
  /** Seconds since 1970. */
  "webhook-timestamp": string;
  /** `v1,<base64>`, several with a space between them. */
  "webhook-signature": string;
}

/** The keys of one or several secrets. */
export class Signer {
  readonly #keys: readonly CryptoKey[];

  private constructor(keys: readonly CryptoKey[]) {
    this.#keys = keys;
  }

  /** Rejects for no secret, and with what {@linkcode secretProblem} says of one. */
  static async from(secrets: readonly string[]): Promise<Signer> {
    if (secrets.length === 0) throw new Error("Cannot sign: no secret is set");
    const keys = secrets.map((secret) => {
      const problem = secretProblem(secret);
      if (problem !== undefined) throw new Error(`Cannot use a signing secret: ${problem}`);
      return crypto.subtle.importKey(
        "raw",
        Uint8Array.fromBase64(secret.slice(PREFIX.length)),
        { name: "HMAC", hash: "SHA-256" },
        false,
        ["sign", "verify"],
      );
    });
    return new Signer(await Promise.all(keys));
  }

  /** Headers for a request, signed with every secret so that either end can change first. */
  async sign(
    { id, timestampS, body }: { id: string; timestampS: number; body: Uint8Array },
  ): Promise<SignedHeaders> {
    const signed = signedBytes(id, String(timestampS), body);
    const signatures = await Promise.all(
      this.#keys.map((key) => crypto.subtle.sign("HMAC", key, signed)),
    );
    return {
      "webhook-id": id,
      "webhook-timestamp": String(timestampS),
      "webhook-signature": signatures
        .map((bytes) => `v1,${new Uint8Array(bytes).toBase64()}`).join(" "),
    };
  }

  /** Whether one of the signatures is that of one of the secrets. Takes as long whichever fails. */
  async isSigned(
    { id, timestamp, signatures }: Claim,
    body: Uint8Array,
  ): Promise<boolean> {
    const signed = signedBytes(id, timestamp, body);
    const checks = this.#keys.flatMap((key) =>
      signatures.map((signature) => crypto.subtle.verify("HMAC", key, signature, signed))
    );
    return (await Promise.all(checks)).includes(true);
  }
}

/** What the headers of a request say, before anything is checked but their form and time. */
export interface Claim {
  id: string;
  timestamp: string;
  signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** The claim of a request; undefined for one that is missing, malformed, too old or of the future. */
export function readClaim(headers: Headers, nowMs: number): Claim | undefined {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  // A dot would let a part of the id be taken for the time.
  if (!/^[\x21-\x2D\x2F-\x7E]+$/.test(id) || id.length > MAX_ID_CHARS) return undefined;
  if (!/^[0-9]{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > MAX_SKEW_S) return undefined;
  const signatures = (headers.get("webhook-signature") ?? "")
    .split(" ", MAX_SIGNATURES)
    .filter((one) => one.startsWith("v1,"))
    .flatMap((one) => fromBase64(one.slice(3)) ?? []);
  return signatures.length === 0 ? undefined : { id, timestamp, signatures };
}

/** The secrets in a field: one, or several with spaces or commas between them. */
export function readSecrets(...fields: readonly unknown[]): string[] {
  const all = fields.flatMap((field) => typeof field === "string" ? field.split(/[\s,]+/) : []);
  return [...new Set(all.filter((secret) => secret !== ""))];
}

/** What is wrong with a secret; never says it. */
export function secretProblem(secret: string): string | undefined {
  const bytes = secret.startsWith(PREFIX) ? fromBase64(secret.slice(PREFIX.length)) : undefined;
  if (bytes !== undefined && bytes.length >= 24 && bytes.length <= 64) return undefined;
  return "expected whsec_ and base64 of 24 to 64 random bytes";
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

function signedBytes(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

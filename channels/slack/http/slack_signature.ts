/**
 * Whether a request is from Slack
 * (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 *
 * @module
 */

/** How far the time of a request may be from ours, seconds. */
const MAX_SKEW_S = 300;

const SIGNATURE = /^v0=([0-9a-f]{64})$/;

const encoder = new TextEncoder();

/** What of a request is signed. */
export interface SignedRequest {
  /** Header `x-slack-signature`. */
  signature: string | null;
  /** Header `x-slack-request-timestamp`. */
  timestamp: string | null;
  body: Uint8Array;
}

/** Checks requests with the app's signing secret. */
export class SlackSignature {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  static async from(signingSecret: string): Promise<SlackSignature> {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const raw = encoder.encode(signingSecret);
    return new SlackSignature(
      await crypto.subtle.importKey("raw", raw, algorithm, false, ["sign", "verify"]),
    );
  }

  /** Why a request is not taken whatever is in it; its body need not be read then. */
  static problemAhead(
    { signature, timestamp }: Pick<SignedRequest, "signature" | "timestamp">,
    nowMs: number,
  ): string | undefined {
    if (signature === null || timestamp === null) return "it is not signed";
    if (!/^\d{1,12}$/.test(timestamp)) return "its time is none";
    if (Math.abs(nowMs / 1_000 - Number(timestamp)) > MAX_SKEW_S) return "it is not of now";
    return SIGNATURE.test(signature) ? undefined : "its signature is none";
  }

  /** Why a request is not taken, for the log; undefined for one that is. Compares in constant time. */
  async problemOf(
    { signature, timestamp, body }: SignedRequest,
    nowMs: number,
  ): Promise<string | undefined> {
    const problem = SlackSignature.problemAhead({ signature, timestamp }, nowMs);
    if (problem !== undefined || signature === null || timestamp === null) return problem;
    const [, hex = ""] = SIGNATURE.exec(signature) ?? [];
    const isRight = await crypto.subtle.verify(
      "HMAC",
      this.#key,
      Uint8Array.fromHex(hex),
      signedBytes(timestamp, body),
    );
    return isRight ? undefined : "its signature is wrong";
  }

  /** The signature of a body, as Slack writes it. */
  async sign(timestamp: string, body: Uint8Array): Promise<string> {
    const bytes = await crypto.subtle.sign("HMAC", this.#key, signedBytes(timestamp, body));
    return `v0=${new Uint8Array(bytes).toHex()}`;
  }
}

function signedBytes(timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`v0:${timestamp}:`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/**
 * Whether a request is from Slack
 * (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";

/** How far the time of a request may be from ours, seconds. */
const MAX_SKEW_S = 300;

const SIGNATURE = /^v0=[0-9a-f]{64}$/;

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
  readonly #secret: string;

  constructor(signingSecret: string) {
    this.#secret = signingSecret;
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
  problemOf({ signature, timestamp, body }: SignedRequest, nowMs: number): string | undefined {
    const problem = SlackSignature.problemAhead({ signature, timestamp }, nowMs);
    if (problem !== undefined) return problem;
    const [said, right] = [signature!, this.sign(timestamp!, body)].map((text) =>
      new TextEncoder().encode(text)
    );
    return timingSafeEqual(said!, right!) ? undefined : "its signature is wrong";
  }

  /** The signature of a body, as Slack writes it. */
  sign(timestamp: string, body: Uint8Array): string {
    const mac = createHmac("sha256", this.#secret).update(`v0:${timestamp}:`).update(body);
    return `v0=${mac.digest("hex")}`;
  }
}

/**
 * What signal-cli refuses.
 *
 * @module
 */

import {
  callError,
  type CallFacts,
  failedCall,
  type FailureTable,
} from "../../../lib/channel/platform/mod.ts";

/** Codes of signal-cli's own (SignalJsonRpcCommandHandler), and of JSON-RPC 2.0. */
export const CODES = {
  user: -1,
  io: -3,
  untrustedKey: -4,
  rateLimit: -5,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

const SIGNAL_FAULTS: FailureTable = {
  peer: "signal-cli",
  kinds: {
    // JSON-RPC has no statuses.
    0: "refused",
    [CODES.rateLimit]: "later",
    // No message has left: signal-cli has no connection to Signal.
    [CODES.io]: "failed",
    [CODES.internal]: "failed",
  },
  unsaidMs: 60_000,
};

/** How a recipient was not reached. */
interface SendResult {
  type?: string;
  retryAfterSeconds?: number;
  /** To be given with a captcha. */
  token?: string;
}

/** Whether it refused a call with that code. */
export function isRefusedAs(error: unknown, code: number): boolean {
  return failedCall(error)?.code === String(code);
}

/** The error of a call; `response`: what it came to all the same. */
export function rpcFault(code: number, said: string, response: unknown): Error {
  const { results: given } = Object(response) as { results?: unknown };
  const results: SendResult[] = Array.isArray(given)
    ? given.filter((one) => typeof one === "object" && one)
    : [];
  const seconds = Math.max(0, ...results.map((one) => Number(one.retryAfterSeconds ?? 0)));
  const retryAfterMs = seconds > 0 ? seconds * 1_000 : undefined;
  const meaning = meaningOf(code, said, results);
  return callError(SIGNAL_FAULTS, { code: String(code), said, retryAfterMs, ...meaning });
}

function meaningOf(
  code: number,
  said: string,
  results: readonly SendResult[],
): Pick<CallFacts, "kind" | "advice"> {
  const types = new Set(code === CODES.user ? results.map(({ type }) => type) : []);
  if (code === CODES.rateLimit || types.has("RATE_LIMIT_FAILURE")) {
    const token = results.find(({ token }) => token !== undefined)?.token;
    const captcha =
      "Signal wants a captcha: submitRateLimitChallenge of signal-cli, with the challenge";
    return { kind: "later", ...token !== undefined && { advice: `${captcha} ${token}` } };
  }
  if (types.has("NETWORK_FAILURE")) return { kind: "failed", advice: "Signal can't be reached" };
  if (types.has("UNREGISTERED_FAILURE")) return { advice: "there is no such account on Signal" };
  if (code === CODES.invalidParams && /account/i.test(said)) {
    const advice = "it doesn't have the account any more. Link it again: " +
      "service channels login signal";
    return { kind: "login", advice };
  }
  if (code !== CODES.untrustedKey) return {};
  const advice = "the safety number has changed. Compare it with the person, and have signal-cli " +
    "trust it";
  return { advice };
}

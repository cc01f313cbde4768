/**
 * What signal-cli refuses, as a delivery fails.
 *
 * @module
 */

import {
  LoginRefusedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { RpcError } from "./signal_rpc.ts";

/** Codes of signal-cli's own (SignalJsonRpcCommandHandler), and of JSON-RPC 2.0. */
export const CODES = {
  user: -1,
  io: -3,
  untrustedKey: -4,
  rateLimit: -5,
  captcha: -6,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

/** Where signal-cli does not say how long, milliseconds. */
const PAUSE_MS = 60_000;

/** How a recipient was not reached. */
interface SendResult {
  type?: string;
  retryAfterSeconds?: number;
  /** To be given with a captcha. */
  token?: string;
}

/** As it is where it is none of signal-cli's. */
export function deliveryErrorOf(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const { code, message } = error;
  const results = resultsOf(error);
  const types = new Set(results.map(({ type }) => type));
  switch (code) {
    case CODES.invalidParams:
      return /account/i.test(message)
        ? new LoginRefusedError(
          `signal-cli doesn't have the account any more (${message}). Link it again: ` +
            "service channels login signal",
        )
        : new PermanentDeliveryError(message);
    case CODES.rateLimit:
      return pause(message, results);
    case CODES.untrustedKey:
      return new PermanentDeliveryError(
        "The safety number has changed. Compare it with the person, and have signal-cli trust it",
      );
    // No message has left: signal-cli has no connection to Signal.
    case CODES.io:
    case CODES.internal:
      return new Error(message);
    case CODES.user:
      if (types.has("RATE_LIMIT_FAILURE")) return pause(message, results);
      if (types.has("NETWORK_FAILURE")) return new Error(`${message}: Signal can't be reached`);
      return new PermanentDeliveryError(
        types.has("UNREGISTERED_FAILURE") ? "There is no such account on Signal" : message,
      );
    default:
      return new PermanentDeliveryError(message);
  }
}

function pause(message: string, results: readonly SendResult[]): RetryLaterError {
  const token = results.find(({ token }) => token !== undefined)?.token;
  const captcha = token === undefined
    ? ""
    : `. Signal wants a captcha: submitRateLimitChallenge of signal-cli, with the challenge ${token}`;
  const seconds = results.map(({ retryAfterSeconds }) => Number(retryAfterSeconds ?? 0));
  const ms = Math.max(0, ...seconds) * 1_000;
  return new RetryLaterError(`${message}${captcha}`, ms > 0 ? ms : PAUSE_MS);
}

function resultsOf({ response }: RpcError): SendResult[] {
  const { results } = (response ?? {}) as { results?: unknown };
  return Array.isArray(results) ? results.filter((one) => typeof one === "object" && one) : [];
}

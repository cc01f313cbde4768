/**
 * Why turns end otherwise than with an answer.
 *
 * @module
 */

import { type ErrorCode, ServiceError } from "../base/errors.ts";
import type { Verdict } from "../contract/life.ts";

/** Errors that a caller is told as they are; any other is a fault of the service. */
const KNOWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider_error",
  "provider_rate_limited",
  "provider_unreachable",
  "empty_answer",
  "context_overflow",
  "tool_loop",
  "max_steps",
  "token_budget",
  "turn_failed",
]);

/** Someone who may has cancelled the turn. */
export function cancellation(): Verdict {
  return {
    status: "cancelled",
    error: new ServiceError("turn_cancelled", "The turn was cancelled"),
  };
}

/** The service stops during the turn. */
export function interruption(): Verdict {
  return {
    status: "interrupted",
    error: new ServiceError("turn_interrupted", "The service stopped before the turn was done"),
  };
}

/** Something was thrown; what nobody expected is told in general words, and in the log as it is. */
export function failure(cause: unknown): Verdict {
  return {
    status: "failed",
    error: cause instanceof ServiceError && KNOWN.has(cause.code)
      ? cause
      : new ServiceError("turn_failed", "The turn failed unexpectedly"),
    cause,
  };
}

/**
 * Errors between parts of this program: a {@linkcode ServiceError} arrives as one, with its code.
 *
 * @module
 */

import { type ErrorData, fromErrorData, ServiceError, toErrorData } from "../base/errors.ts";
import type { ErrorCodec } from "./peer.ts";

/** The codec; `lost` says what a call under way rejects with, default `internal` with the reason. */
export function serviceErrors(
  lost: (reason: string) => Error = (reason) => new ServiceError("internal", reason),
): ErrorCodec {
  return {
    encode: toErrorData,
    decode: (data) => fromErrorData(data as ErrorData),
    lost,
    cancelled: () => new ServiceError("turn_cancelled", "Cancelled"),
    busy: (message) => new ServiceError("overloaded", message, { retryAfterS: 1 }),
    unknown: (method) => new ServiceError("internal", `${method} is not answered here`),
  };
}

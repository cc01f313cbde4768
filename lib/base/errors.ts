/**
 * The one base of every error that this project throws on purpose.
 *
 * A layer throws a {@linkcode ServiceError} with a stable `code`; only the edges turn it into
 * something else: `lib/listen/errors.ts` into a status and an envelope, `cli/output.ts` into a line
 * and an exit code. The codes are a closed set, so that a new one has to be placed in both.
 *
 * @module
 */

/** Every code that a {@linkcode ServiceError} can carry. Stable: clients match on them. */
export const ERROR_CODES = [
  // the caller's input
  "invalid_request",
  "not_found",
  "method_not_allowed",
  "unsupported_media_type",
  "too_large",
  "request_timeout",
  "model_not_found",
  "unsupported_image_url",
  "no_user_message",
  "unreadable_document",
  "conflict",
  "idempotency_conflict",
  "response_not_found",
  "response_in_progress",
  "usage",
  // who is asking
  "invalid_api_key",
  "forbidden_host",
  "forbidden_origin",
  "too_many_auth_failures",
  "invalid_token",
  "insufficient_scope",
  "too_many_tokens",
  "forbidden_client",
  "forbidden_user",
  // an approval
  "approval_not_found",
  "approval_answered",
  "approval_mismatch",
  "approval_expired",
  "approval_void",
  "approval_stopped",
  // a turn
  "queue_full",
  "turn_failed",
  "turn_crashed",
  "turn_timeout",
  "turn_cancelled",
  "turn_interrupted",
  "tool_loop",
  "max_steps",
  "token_budget",
  "provider_error",
  "provider_rate_limited",
  "provider_unreachable",
  "empty_answer",
  "context_overflow",
  // an action
  "refused",
  "tool_failed",
  "executor_fault",
  "audit_unavailable",
  // the process
  "overloaded",
  "storage_full",
  "config_invalid",
  "draining",
  "home_busy",
  "not_enabled",
  "database_newer",
  "database_unusable",
  "internal",
] as const;

/** One of {@linkcode ERROR_CODES}. */
export type ErrorCode = typeof ERROR_CODES[number];

/** What an error may carry beside its message; all of it may be shown to the caller. */
export interface ErrorDetails {
  /** The field, key or argument that is wrong, in the caller's own spelling. */
  param?: string;
  /** Status that a model provider answered with. */
  providerStatus?: number;
  /** After how many seconds a repeat may work. */
  retryAfterS?: number;
  /** Name under which the log has more. */
  logId?: string;
}

/** An error with a stable code. The message may be shown to the caller and holds no secret. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A {@linkcode ServiceError} as plain data, as it crosses a Worker, a socket or the journal. */
export interface ErrorData extends ErrorDetails {
  code: ErrorCode;
  message: string;
}

/** The error as plain data; an unknown error becomes `internal` and keeps its message. */
export function toErrorData(error: unknown): ErrorData {
  if (error instanceof ServiceError) {
    return { code: error.code, message: error.message, ...error.details };
  }
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}

/** The opposite of {@linkcode toErrorData}. */
export function fromErrorData({ code, message, ...details }: ErrorData): ServiceError {
  return new ServiceError(code, message, details);
}

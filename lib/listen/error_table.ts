/**
 * How each error code looks over HTTP. A code without a row does not compile.
 *
 * @module
 */

import type { ErrorCode } from "../base/errors.ts";

/** `error.type` of the envelope: a closed set. */
export type HttpErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "not_found_error"
  | "conflict_error"
  | "rate_limit_error"
  | "server_error";

/** How a code looks over HTTP. */
export interface HttpErrorKind {
  status: number;
  type: HttpErrorType;
  /** `error.code` of the envelope. Stable: clients match on it. */
  slug: string;
  /** When it happens; for the table in the docs. */
  meaning: string;
  /** Its own text stays inside; the caller gets a general one and a log id. */
  hidden?: true;
  headers?: Readonly<Record<string, string>>;
}

/** Every code over HTTP. */
export const HTTP_ERRORS = {
  invalid_request: {
    status: 400,
    type: "invalid_request_error",
    slug: "invalid_request",
    meaning: "A field of the request is missing or wrong; `param` names it.",
  },
  not_found: {
    status: 404,
    type: "not_found_error",
    slug: "not_found",
    meaning: "There is no such route or resource.",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    slug: "method_not_allowed",
    meaning: "The route exists, but not for this method; the header Allow lists those it has.",
  },
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    slug: "unsupported_media_type",
    meaning: "The type of the body, or of a file in it, is not one that is understood.",
  },
  too_large: {
    status: 413,
    type: "invalid_request_error",
    slug: "too_large",
    meaning: "The body, or a file in it, is over its limit.",
  },
  request_timeout: {
    status: 408,
    type: "invalid_request_error",
    slug: "request_timeout",
    meaning: "The request did not arrive in time.",
  },
  model_not_found: {
    status: 404,
    type: "not_found_error",
    slug: "model_not_found",
    meaning: "The request names another model than the one of GET /v1/models.",
  },
  unsupported_image_url: {
    status: 400,
    type: "invalid_request_error",
    slug: "unsupported_image_url",
    meaning: "An image was given as a remote URL; only base64 data URLs are taken.",
  },
  no_user_message: {
    status: 400,
    type: "invalid_request_error",
    slug: "no_user_message",
    meaning: "Nothing from the user stands after the last assistant message.",
  },
  unreadable_document: {
    status: 400,
    type: "invalid_request_error",
    slug: "unreadable_document",
    meaning: "A document is corrupt, encrypted or over a limit; the message has the reason.",
  },
  conflict: {
    status: 409,
    type: "conflict_error",
    slug: "conflict",
    meaning: "It has changed since, or somebody else does the same now; look again.",
  },
  idempotency_conflict: {
    status: 409,
    type: "conflict_error",
    slug: "idempotency_key_reused",
    meaning:
      "The Idempotency-Key or client_msg_id was used before in this session, with other content.",
  },
  response_not_found: {
    status: 404,
    type: "not_found_error",
    slug: "response_not_found",
    meaning:
      "No response of this id is on record for this key: it was not stored, was deleted, or " +
      "4,096 others were used since.",
  },
  response_in_progress: {
    status: 409,
    type: "conflict_error",
    slug: "response_in_progress",
    meaning: "The response is not finished; cancel it first.",
  },
  usage: {
    status: 400,
    type: "invalid_request_error",
    slug: "usage",
    meaning: "A command was used wrongly.",
  },
  invalid_api_key: {
    status: 401,
    type: "authentication_error",
    slug: "invalid_api_key",
    meaning: "The API key is missing or wrong.",
    headers: { "www-authenticate": "Bearer" },
  },
  forbidden_host: {
    status: 403,
    type: "authentication_error",
    slug: "forbidden_host",
    meaning:
      "The Host header is no IP address, no loopback name and not in the port's allowedHosts.",
  },
  forbidden_origin: {
    status: 403,
    type: "authentication_error",
    slug: "forbidden_origin",
    meaning:
      "A page of another origin, which is not in the port's allowedOrigins, or somebody elsewhere sent it.",
  },
  too_many_auth_failures: {
    status: 429,
    type: "rate_limit_error",
    slug: "too_many_auth_failures",
    meaning: "Too many wrong keys or tokens came from this address within a minute.",
  },
  invalid_token: {
    status: 401,
    type: "authentication_error",
    slug: "invalid_token",
    meaning:
      "A token or secret is needed, and this is none of those that count here, or no longer.",
    headers: { "www-authenticate": "Bearer" },
  },
  insufficient_scope: {
    status: 403,
    type: "authentication_error",
    slug: "insufficient_scope",
    meaning: "The token is right, but its scopes do not cover the route, or not this approval.",
  },
  too_many_tokens: {
    status: 429,
    type: "rate_limit_error",
    slug: "too_many_tokens",
    meaning: "10,000 issued tokens are outstanding; Retry-After says when the oldest expires.",
  },
  forbidden_client: {
    status: 403,
    type: "authentication_error",
    slug: "forbidden_client",
    meaning: "The client_id is not in channels.websocket.allowFrom, or there is none to look for.",
  },
  forbidden_user: {
    status: 403,
    type: "authentication_error",
    slug: "forbidden_user",
    meaning:
      "No secret is set, and the connection is not of the service's own user or of `gates.trustedUids`.",
  },
  approval_not_found: {
    status: 404,
    type: "not_found_error",
    slug: "approval_not_found",
    meaning: "No approval of this id waits or waited lately.",
  },
  approval_answered: {
    status: 409,
    type: "conflict_error",
    slug: "approval_answered",
    meaning: "The approval was answered before; an approval can be answered once.",
  },
  approval_mismatch: {
    status: 409,
    type: "conflict_error",
    slug: "approval_mismatch",
    meaning: "The digest is not that of the action that waits; it still waits.",
  },
  approval_expired: {
    status: 409,
    type: "conflict_error",
    slug: "approval_expired",
    meaning: "Nobody answered in time (gates.approvalTimeoutS); nothing ran.",
  },
  approval_void: {
    status: 409,
    type: "conflict_error",
    slug: "approval_void",
    meaning: "Whoever asked has left; nothing ran.",
  },
  approval_stopped: {
    status: 409,
    type: "conflict_error",
    slug: "approval_stopped",
    meaning: "The service was stopped or started again while it waited; nothing ran.",
  },
  queue_full: {
    status: 429,
    type: "rate_limit_error",
    slug: "queue_full",
    meaning: "Too many turns wait, or inputs too large to hold together; nothing was stored.",
  },
  turn_failed: {
    status: 500,
    type: "server_error",
    slug: "turn_failed",
    meaning: "The turn failed; the log has the cause under the id in the message.",
    hidden: true,
  },
  turn_crashed: {
    status: 500,
    type: "server_error",
    slug: "turn_crashed",
    meaning: "The service stopped unexpectedly in each run of the turn, so it is not run again.",
  },
  turn_timeout: {
    status: 504,
    type: "server_error",
    slug: "turn_timeout",
    meaning: "The turn took longer than api.timeoutS or agent.turnTimeoutS, or was stuck.",
  },
  turn_cancelled: {
    status: 409,
    type: "conflict_error",
    slug: "turn_cancelled",
    meaning: "The turn was cancelled.",
  },
  turn_interrupted: {
    status: 503,
    type: "server_error",
    slug: "turn_interrupted",
    meaning: "The service stopped while the turn ran.",
  },
  tool_loop: {
    status: 500,
    type: "server_error",
    slug: "tool_loop",
    meaning: "The model made the same tool call again and again.",
  },
  max_steps: {
    status: 500,
    type: "server_error",
    slug: "max_steps",
    meaning:
      "The turn needed more model calls than agent.maxSteps, or than its automation may make.",
  },
  token_budget: {
    status: 500,
    type: "server_error",
    slug: "token_budget",
    meaning: "The run of an automation has used more tokens than its tokenBudget.",
  },
  provider_error: {
    status: 502,
    type: "server_error",
    slug: "provider_error",
    meaning:
      "The model provider answered with an error, whose status the message has, or broke off.",
  },
  provider_rate_limited: {
    status: 429,
    type: "rate_limit_error",
    slug: "provider_rate_limited",
    meaning: "The model provider asks for fewer requests; Retry-After is passed on.",
  },
  provider_unreachable: {
    status: 502,
    type: "server_error",
    slug: "provider_unreachable",
    meaning: "The model provider could not be reached.",
  },
  empty_answer: {
    status: 502,
    type: "server_error",
    slug: "empty_answer",
    meaning:
      "The model ended its answer without text or a tool call, also when it was asked again.",
  },
  context_overflow: {
    status: 400,
    type: "invalid_request_error",
    slug: "context_length_exceeded",
    meaning: "The conversation does not fit into the model's context.",
  },
  refused: {
    status: 403,
    type: "invalid_request_error",
    slug: "refused",
    meaning: "The gate refused an action.",
  },
  tool_failed: {
    status: 500,
    type: "server_error",
    slug: "tool_failed",
    meaning: "A tool could not do its work.",
  },
  executor_fault: {
    status: 500,
    type: "server_error",
    slug: "executor_fault",
    meaning: "The process that ran an action, or read a document, broke.",
  },
  audit_unavailable: {
    status: 503,
    type: "server_error",
    slug: "audit_unavailable",
    meaning: "The audit record cannot be written, so no action runs.",
  },
  config_invalid: {
    status: 500,
    type: "server_error",
    slug: "config_invalid",
    meaning: "The configuration is broken; the log has more under the id in the message.",
    hidden: true,
  },
  overloaded: {
    status: 503,
    type: "server_error",
    slug: "overloaded",
    meaning: "Too much is being uploaded, read or decided at the same time; nothing was stored.",
  },
  storage_full: {
    status: 507,
    type: "server_error",
    slug: "storage_full",
    meaning: "Too little disk space is free for new work (storage.minFreeMiB); nothing was stored.",
  },
  draining: {
    status: 503,
    type: "server_error",
    slug: "draining",
    meaning: "The service is stopping and takes no new turns; nothing was stored.",
  },
  home_busy: {
    status: 503,
    type: "server_error",
    slug: "home_busy",
    meaning: "Another process owns the service's folder.",
    hidden: true,
  },
  not_enabled: {
    status: 503,
    type: "server_error",
    slug: "not_enabled",
    meaning: "The part of the service is switched off; the message says what switches it on.",
  },
  database_newer: {
    status: 500,
    type: "server_error",
    slug: "database_newer",
    meaning: "The database was written by a newer version.",
    hidden: true,
  },
  database_unusable: {
    status: 500,
    type: "server_error",
    slug: "database_unusable",
    meaning: "The database is missing, damaged or not one of this program.",
    hidden: true,
  },
  internal: {
    status: 500,
    type: "server_error",
    slug: "internal_error",
    meaning: "Something unexpected; the log has more under the id in the message.",
    hidden: true,
  },
} as const satisfies Record<ErrorCode, HttpErrorKind>;

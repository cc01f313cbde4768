/**
 * What an error means for a command line: its exit code, and what to do next.
 *
 * @module
 */

import type { ErrorCode } from "../lib/base/errors.ts";
import { EXIT, type ExitCode } from "./command.ts";

/** How a command that failed with some code ends. */
export interface Outcome {
  exit: ExitCode;
  /** What the user can do about it; absent where the message says it. */
  next?: string;
}

/** Every error code's outcome. Exhaustive: a new code does not compile without one. */
export const OUTCOMES: Readonly<Record<ErrorCode, Outcome>> = {
  invalid_request: { exit: EXIT.failed },
  not_found: { exit: EXIT.failed },
  method_not_allowed: { exit: EXIT.failed },
  unsupported_media_type: { exit: EXIT.failed },
  too_large: { exit: EXIT.failed },
  request_timeout: { exit: EXIT.failed },
  model_not_found: { exit: EXIT.failed, next: "List models with: service models" },
  unsupported_image_url: { exit: EXIT.failed },
  no_user_message: { exit: EXIT.failed },
  unreadable_document: { exit: EXIT.failed },
  conflict: { exit: EXIT.failed },
  idempotency_conflict: { exit: EXIT.failed },
  response_not_found: { exit: EXIT.failed },
  response_in_progress: { exit: EXIT.failed },
  usage: { exit: EXIT.usage },
  invalid_api_key: { exit: EXIT.failed },
  forbidden_host: { exit: EXIT.failed },
  forbidden_origin: { exit: EXIT.failed },
  too_many_auth_failures: { exit: EXIT.failed },
  invalid_token: {
    exit: EXIT.refused,
    next: "Issue one with: service tokens issue --scopes approve",
  },
  insufficient_scope: { exit: EXIT.refused },
  too_many_tokens: { exit: EXIT.failed },
  forbidden_client: { exit: EXIT.failed },
  forbidden_user: { exit: EXIT.failed },
  approval_not_found: {
    exit: EXIT.failed,
    next: "List pending actions with: service approvals list",
  },
  approval_answered: { exit: EXIT.failed },
  approval_mismatch: { exit: EXIT.refused, next: "Show it again with: service approvals show ID" },
  approval_expired: { exit: EXIT.refused },
  approval_void: { exit: EXIT.refused },
  approval_stopped: { exit: EXIT.refused },
  queue_full: { exit: EXIT.failed, next: "Wait for this session's turns, or use another session" },
  turn_failed: { exit: EXIT.failed },
  turn_crashed: { exit: EXIT.failed, next: "Find the problem with: service doctor" },
  turn_timeout: {
    exit: EXIT.failed,
    next: "Allow more time with: service config set agent.turnTimeoutS SECONDS",
  },
  turn_cancelled: { exit: EXIT.interrupted },
  turn_interrupted: { exit: EXIT.failed, next: "Ask again" },
  tool_loop: { exit: EXIT.failed },
  token_budget: {
    exit: EXIT.failed,
    next: "Allow more with: service automations update ID --token-budget N",
  },
  max_steps: {
    exit: EXIT.failed,
    next: "Allow more steps with: service config set agent.maxSteps NUMBER",
  },
  provider_error: { exit: EXIT.provider, next: "Check key and model with: service doctor" },
  provider_rate_limited: {
    exit: EXIT.provider,
    next: "Wait, or set agent.fallbacks to another model",
  },
  provider_unreachable: { exit: EXIT.provider, next: "Find out why with: service doctor" },
  empty_answer: { exit: EXIT.provider },
  context_overflow: {
    exit: EXIT.provider,
    next: "Shorten the input, lower agent.contextTokens, or use a new --session",
  },
  refused: { exit: EXIT.refused },
  tool_failed: { exit: EXIT.failed },
  executor_fault: { exit: EXIT.failed, next: "Find out why with: service doctor" },
  audit_unavailable: { exit: EXIT.failed, next: "Find out why with: service doctor" },
  overloaded: { exit: EXIT.failed, next: "Wait a little and try again" },
  storage_full: { exit: EXIT.failed, next: "Free some disk space and try again" },
  config_invalid: { exit: EXIT.config, next: "List every problem with: service config check" },
  draining: { exit: EXIT.failed, next: "The service is stopping; try again once it runs" },
  home_busy: { exit: EXIT.failed },
  not_enabled: { exit: EXIT.failed },
  database_newer: {
    exit: EXIT.failed,
    next: "Use the version of service that wrote it, or a newer one",
  },
  database_unusable: { exit: EXIT.failed, next: "Find the problem with: service doctor" },
  internal: { exit: EXIT.failed },
};

/**
 * What the answer of a turn is made of on the chat route, streamed or whole: the texts of all its
 * steps, apart by a blank line, its reasoning likewise, and its usage.
 *
 * @module
 */

import type { AgentEvent, FinishReason, TurnStatus, Usage } from "../../../contract/events.ts";
import type { ErrorCode, ErrorData } from "../../../base/errors.ts";
import type { ApprovalAsked } from "./chat_segment.ts";

/** Fields that every chunk of an answer has. */
export interface ChatIdentity {
  /** `chatcmpl-…` */
  id: string;
  /** Seconds since 1970. */
  created: number;
  model: string;
}

/** Joins the texts of several streams: a blank line stands where the next one begins. */
export class StepJoiner {
  #streamId: string | undefined;

  /** The text as it continues the answer. */
  next(streamId: string, text: string): string {
    const follows = this.#streamId !== undefined && this.#streamId !== streamId;
    this.#streamId = streamId;
    return follows ? `\n\n${text}` : text;
  }
}

/** `usage` of the chat shape. */
export function chatUsage(usage: Usage) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** How a turn ended. */
export type TurnEnd = Extract<AgentEvent, { type: "turn_end" }>;

const STATUS_ERRORS: Record<Exclude<TurnStatus, "done">, { code: ErrorCode; message: string }> = {
  failed: { code: "turn_failed", message: "The turn failed" },
  cancelled: { code: "turn_cancelled", message: "The turn was cancelled" },
  timed_out: { code: "turn_timeout", message: "The turn took too long" },
  interrupted: { code: "turn_interrupted", message: "The service stopped while the turn ran" },
};

/** `finish_reason` of a response that ends so. */
export function finishReason(end: TurnEnd | ApprovalAsked): FinishReason | "tool_calls" {
  return end.type === "turn_end" ? end.finishReason : "tool_calls";
}

/** Why a turn failed; undefined if it did not. `error` is what it said before its end, if anything. */
export function turnFailure(end: TurnEnd, error: ErrorData | undefined): ErrorData | undefined {
  return end.status === "done" ? undefined : error ?? STATUS_ERRORS[end.status];
}

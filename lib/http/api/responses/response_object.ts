/**
 * The response object, as far as this service has something to say in it. Everything else holds what
 * OpenAI's API has there when nothing was asked for.
 *
 * @module
 */

import type { Usage } from "../../../contract/events.ts";
import { responseId } from "./response_id.ts";

/** What a response repeats of its request; kept in the index of responses beside the turn. */
export interface ResponseEcho {
  /** The one model at the time of the request. */
  model: string;
  previous_response_id: string | null;
  metadata: Record<string, string>;
  store: boolean;
  background: boolean;
}

/** What makes a response the one that it is. Nothing in it ever changes. */
export interface ResponseIdentity {
  turnId: string;
  /** Milliseconds since 1970. */
  acceptedAt: number;
  echo: ResponseEcho;
}

/** Of an item: it is being said, was said whole, or was cut off. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** A text part of a message. */
export interface OutputText {
  type: "output_text";
  text: string;
  annotations: [];
  logprobs: [];
}

/** One stretch of text of the answer. */
export interface MessageItem {
  id: string;
  type: "message";
  status: ItemStatus;
  role: "assistant";
  content: OutputText[];
}

/** A part of a reasoning item. */
export interface SummaryText {
  type: "summary_text";
  text: string;
}

/** One stretch of reasoning. Clients of this shape look for its text in the summary. */
export interface ReasoningItem {
  id: string;
  type: "reasoning";
  status: ItemStatus;
  summary: SummaryText[];
}

/** What a response is made of. */
export type OutputItem = MessageItem | ReasoningItem;

/** How far a response is. */
export type ResponseStatus =
  | "queued"
  | "in_progress"
  | "completed"
  | "incomplete"
  | "failed"
  | "cancelled";

/** Why a response failed. Clients know a closed set of codes; the service's own is beside it. */
export interface ResponseError {
  code: "server_error" | "rate_limit_exceeded" | "invalid_prompt";
  message: string;
  /** Slug as in the error envelope. */
  service_code: string;
}

/** What of a response changes while its turn runs. */
export interface ResponseState {
  status: ResponseStatus;
  output: OutputItem[];
  usage?: Usage;
  error?: ResponseError;
  /** Milliseconds since 1970; of one that is completed. */
  completedAt?: number;
}

/** The object as it is sent. */
export type ResponseObject = ReturnType<typeof responseObject>;

/** The object for a response in some state. */
export function responseObject(
  { turnId, acceptedAt, echo }: ResponseIdentity,
  { status, output, usage, error, completedAt }: ResponseState,
) {
  return {
    id: responseId(turnId),
    object: "response" as const,
    created_at: Math.floor(acceptedAt / 1000),
    completed_at: completedAt === undefined ? null : Math.floor(completedAt / 1000),
    status,
    background: echo.background,
    error: error ?? null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" as const } : null,
    // The system prompt belongs to the deployment, and so do the tools.
    instructions: null,
    tools: [],
    tool_choice: "auto" as const,
    parallel_tool_calls: true,
    max_output_tokens: null,
    max_tool_calls: null,
    frequency_penalty: 0 as const,
    presence_penalty: 0 as const,
    model: echo.model,
    output,
    previous_response_id: echo.previous_response_id,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default" as const,
    store: echo.store,
    temperature: 1 as const,
    text: { format: { type: "text" as const } },
    top_logprobs: 0,
    top_p: 1 as const,
    truncation: "disabled" as const,
    access_programs: null,
    usage: usage === undefined ? null : responseUsage(usage),
    metadata: echo.metadata,
  };
}

/** `usage` of this shape. */
function responseUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    // What a provider wrote into its cache is not on record.
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

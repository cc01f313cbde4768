/**
 * What the agent needs of a model. `lib/model/` implements it over the AI SDK's providers and for
 * the built-in `offline` model; tests implement it in a few lines.
 *
 * @module
 */

import type { FinishReason, Usage } from "../contract/events.ts";
import type { PromptMessage, ToolCall } from "../contract/messages.ts";

/** A tool as a model is told of it. `parameters` is a JSON Schema object. */
export interface ToolDescription {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** One call of a model. */
export interface ModelRequest {
  /** The system prompt; empty for none. */
  system: string;
  messages: readonly PromptMessage[];
  tools: readonly ToolDescription[];
  /** Aborting closes the connection to the provider. */
  signal: AbortSignal;
  /**
   * Takes what is called when the model was silent for too long, in milliseconds. It returns whether
   * another model is asked instead. Absent: nobody watches.
   */
  onStall?: (rescue: (quietMs: number) => boolean) => void;
}

/** What a model says, in order. `finish` is last and comes exactly once. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "call"; call: ToolCall }
  /** A retry or a fallback, in words for people; only ever before the first other event. */
  | { type: "notice"; text: string }
  | {
    type: "finish";
    /** `<provider>/<id>` of the model that answered (a fallback, maybe), or `offline`. */
    model: string;
    reason: FinishReason;
    usage: Usage;
    /**
     * What this provider wants back with this answer (signatures of reasoning, for one), as plain
     * JSON. Belongs into `replay` of the assistant message; nobody but lib/model reads it.
     */
    replay?: unknown;
  };

/**
 * A model, its retries and its fallbacks.
 *
 * `stream` yields events as they arrive, those that came together in one list, and never waits for a
 * whole answer. It throws a
 * `ServiceError` with one of the codes `provider_error`, `provider_rate_limited`,
 * `provider_unreachable` or `context_overflow`, after its own retries; it retries only before the
 * first text, reasoning or call was yielded. When `signal` aborts it throws the signal's reason.
 * Empty texts are not yielded.
 */
export interface Model {
  /** `<provider>/<id>` as configured, or `offline`; the id that /v1/models shows. */
  readonly name: string;
  /** Tokens that fit into one call, input and output together. */
  readonly contextTokens: number;
  stream(request: ModelRequest): AsyncIterable<readonly ModelEvent[]>;
}

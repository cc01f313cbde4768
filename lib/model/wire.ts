/**
 * How one model is asked, once.
 *
 * @module
 */

import type { ModelEvent, ModelRequest } from "./port.ts";
import type { ErrorOrigin } from "./provider_error.ts";

/** Settings of a model's calls; undefined: the provider's default. */
export interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
}

/** What a wire is made for. */
export interface WireDeps {
  origin: ErrorOrigin;
  /** The model's id at the provider. */
  id: string;
  settings: ModelSettings;
  fetch: typeof fetch;
}

/**
 * Asks a model: what it says as it says it, several at a time where they came together, and `finish`
 * last. Throws what went wrong, whatever its shape; for an abort the signal's reason may come as it is.
 * The connection is closed when the signal aborts, or when the reader leaves.
 */
export type Wire = (request: ModelRequest) => AsyncIterable<readonly ModelEvent[]>;

/** Whether the conversation has a call of that id. */
export function hasCall({ messages }: Pick<ModelRequest, "messages">, callId: string): boolean {
  return messages.some((message) =>
    message.role === "assistant" && message.calls.some((call) => call.callId === callId)
  );
}

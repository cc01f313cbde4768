/**
 * Messages as the journal keeps them and as a model is given them.
 *
 * @module
 */

/** A piece of a user message. `image` data is base64 without the data-URL head. */
export type UserPart =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data: string };

/** A tool call as the model made it. `args` is the parsed JSON, or the raw text if it did not parse. */
export interface ToolCall {
  callId: string;
  tool: string;
  args: unknown;
}

/** A message of the model's context. */
export type Message =
  | { role: "user"; parts: UserPart[] }
  | {
    role: "assistant";
    text: string;
    reasoning?: string;
    calls: ToolCall[];
    /** As the model's `finish` event gave it, kept verbatim and given back with the message. */
    replay?: unknown;
  }
  | {
    role: "tool";
    results: { callId: string; tool: string; output: string; failed: boolean }[];
  }
  /** Stands for every message before it (compaction). */
  | { role: "summary"; text: string };

/**
 * The events of a turn as `chat.completion.chunk` lines of an event stream.
 *
 * @module
 */

import type { AgentEvent } from "../../../contract/events.ts";
import type { ErrorEnvelope } from "../../../listen/errors.ts";
import { approvalCall } from "./approval_call.ts";
import type { ApprovalAsked } from "./chat_segment.ts";
import {
  type ChatIdentity,
  chatUsage,
  finishReason,
  StepJoiner,
  type TurnEnd,
} from "./chat_text.ts";

/** What the request asked for with `stream_options`. */
export interface ChunkOptions {
  includeUsage: boolean;
  includeProgress: boolean;
}

/** Ends a stream that succeeded. */
const DONE = "data: [DONE]\n\n";

/** Writes the chunks of one answer. Everything that does not change is put together once. */
export class ChatChunks {
  readonly #head: string;
  readonly #usage: string;
  readonly #options: ChunkOptions;
  readonly #textSteps = new StepJoiner();
  readonly #reasoningSteps = new StepJoiner();

  constructor({ id, created, model }: ChatIdentity, options: ChunkOptions) {
    const identity = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
    this.#head = `data: ${identity.slice(0, -1)},"choices":`;
    // As OpenAI does: with include_usage every chunk has the field, and only the last one a value.
    this.#usage = options.includeUsage ? ',"usage":null' : "";
    this.#options = options;
  }

  /** The first chunk: who speaks. */
  opening(): string {
    return this.#chunk('{"role":"assistant","content":""}');
  }

  /** The lines of an event; empty for those that clients of this shape do not see. */
  lines(event: AgentEvent): string {
    switch (event.type) {
      case "text_delta": {
        const text = this.#textSteps.next(event.streamId, event.text);
        return this.#chunk(`{"content":${JSON.stringify(text)}}`);
      }
      case "reasoning_delta": {
        const text = this.#reasoningSteps.next(event.streamId, event.text);
        return this.#chunk(`{"reasoning_content":${JSON.stringify(text)}}`);
      }
      case "tool_call": {
        const { callId, tool, hint } = event;
        return this.#progress({ type: event.type, call_id: callId, tool, hint });
      }
      case "tool_progress": {
        const { callId, tool, text } = event;
        return this.#progress({ type: event.type, call_id: callId, tool, text });
      }
      case "tool_result": {
        const { callId, tool, status } = event;
        return this.#progress({ type: event.type, call_id: callId, tool, status });
      }
      case "approval_requested": {
        const { callId, tool, approval: { id, digest, capability, target, expiresAt } } = event;
        return this.#progress({
          type: event.type,
          call_id: callId,
          tool,
          id,
          digest,
          capability,
          target,
          expires_at: Math.floor(expiresAt / 1000),
        });
      }
      case "approval_resolved": {
        const { callId, approvalId, outcome } = event;
        return this.#progress({ type: event.type, call_id: callId, id: approvalId, outcome });
      }
      case "notice":
        return this.#progress({ type: event.type, text: event.text });
      case "turn_start":
      case "segment_end":
      case "reasoning_end":
      case "usage":
      case "summary":
      case "error":
      case "files":
      case "session_updated":
      case "message":
      case "turn_end":
        return "";
    }
  }

  /** The end of an answer that succeeded. */
  closing(end: TurnEnd | ApprovalAsked): string {
    const call = end.type === "approval_asked" ? this.#call(end) : "";
    const stop = call + this.#chunk("{}", `"${finishReason(end)}"`);
    if (!this.#options.includeUsage) return stop + DONE;
    return `${stop}${this.#head}[],"usage":${JSON.stringify(chatUsage(end.usage))}}\n\n${DONE}`;
  }

  #call({ approval }: ApprovalAsked): string {
    return this.#chunk(JSON.stringify({ tool_calls: [{ index: 0, ...approvalCall(approval) }] }));
  }

  #progress(fields: Record<string, unknown>): string {
    if (!this.#options.includeProgress) return "";
    return this.#chunk("{}", "null", `,"service":${JSON.stringify(fields)}`);
  }

  #chunk(delta: string, finishReason = "null", more = ""): string {
    return `${this.#head}[{"index":0,"delta":${delta},"logprobs":null,` +
      `"finish_reason":${finishReason}}]${this.#usage}${more}}\n\n`;
  }
}

/** The last line of an answer that failed: no stop chunk and no `[DONE]` follow. */
export function failureLine(envelope: ErrorEnvelope): string {
  return `data: ${JSON.stringify(envelope)}\n\n`;
}

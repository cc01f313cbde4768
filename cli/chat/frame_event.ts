/**
 * A frame of the wire as the event that it was made of, so that one printer shows both.
 *
 * @module
 */

import type { AgentEvent, StoredEvent } from "../../lib/contract/events.ts";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";

/** The event of a turn that a frame tells of; undefined for every other frame. */
export function frameEvent(frame: ServerFrame): StoredEvent | undefined {
  if (!("turn_id" in frame) || frame.turn_id === undefined) return undefined;
  if (!("seq" in frame) || frame.seq === undefined) return undefined;
  const event = toEvent(frame);
  return event && { seq: frame.seq, turnId: frame.turn_id, event };
}

function toEvent(frame: ServerFrame): AgentEvent | undefined {
  switch (frame.event) {
    case "turn_start":
      return { type: "turn_start", model: frame.model };
    case "delta":
      return { type: "text_delta", streamId: frame.stream_id, text: frame.text };
    case "stream_end":
      return { type: "segment_end", streamId: frame.stream_id, resuming: frame.resuming };
    case "reasoning_delta":
      return { type: "reasoning_delta", streamId: frame.stream_id, text: frame.text };
    case "reasoning_end":
      return { type: "reasoning_end", streamId: frame.stream_id };
    case "message":
      // A server that does not stream says a stretch whole.
      return { type: "text_delta", streamId: "", text: frame.text };
    case "progress": {
      const { tool = "", text } = frame;
      return frame.tool_hint
        ? { type: "tool_call", callId: "", tool, args: undefined, hint: text }
        : { type: "tool_progress", callId: "", tool, text };
    }
    case "approval_requested": {
      const { created_at, expires_at, capability, whole, ...approval } = frame.approval;
      return {
        type: "approval_requested",
        callId: "",
        tool: approval.tool,
        approval: {
          ...approval,
          isWhole: whole,
          capability: capability as never,
          session: frame.chat_id,
          channel: "websocket",
          actor: "",
          createdAt: created_at * 1000,
          expiresAt: expires_at * 1000,
        },
      };
    }
    case "approval_resolved":
      return {
        type: "approval_resolved",
        callId: "",
        approvalId: frame.approval_id,
        outcome: frame.outcome,
      };
    case "error":
      return {
        type: "error",
        error: { code: (frame.code ?? "turn_failed") as never, message: frame.detail },
      };
    case "turn_end": {
      const { input_tokens, output_tokens, reasoning_tokens, cached_tokens } = frame.usage;
      return {
        type: "turn_end",
        status: frame.status,
        finishReason: "stop",
        usage: {
          inputTokens: input_tokens,
          outputTokens: output_tokens,
          reasoningTokens: reasoning_tokens,
          cachedTokens: cached_tokens,
        },
      };
    }
    default:
      return undefined;
  }
}

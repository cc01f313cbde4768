/**
 * The wire of Anthropic messages.
 *
 * @module
 */

import type { Answer } from "./model_behaviour.ts";
import { named, type Wire } from "./wire.ts";

function messagesUsage({ usage }: Answer): unknown {
  return {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: usage.output,
  };
}

function messagesFinish(answer: Answer): string {
  return answer.finishReason ?? (answer.calls.length > 0 ? "tool_use" : "end_turn");
}

/** Anthropic messages, `POST /messages`. */
export const MESSAGES: Wire = {
  events(answer, { model }) {
    const events = [named({
      type: "message_start",
      ...{
        message: {
          id: "msg_fake",
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: messagesUsage({ ...answer, usage: { ...answer.usage, output: 1 } }),
        },
      },
    })];
    events.push(named({ type: "ping" }));
    let index = 0;
    const block = (start: unknown, deltas: readonly unknown[]) => {
      const at = { index };
      events.push(named({ type: "content_block_start", ...at, ...{ content_block: start } }));
      for (const delta of deltas) {
        events.push(named({ type: "content_block_delta", ...at, ...{ delta } }));
      }
      events.push(named({ type: "content_block_stop", ...at }));
      index++;
    };
    if (answer.reasoning.length > 0 || answer.signature !== undefined) {
      const deltas: unknown[] = answer.reasoning.map((thinking) => ({
        type: "thinking_delta",
        thinking,
      }));
      if (answer.signature !== undefined) {
        deltas.push({ type: "signature_delta", signature: answer.signature });
      }
      block({ type: "thinking", thinking: "", signature: "" }, deltas);
    }
    if (answer.text.length > 0) {
      block({ type: "text", text: "" }, answer.text.map((text) => ({ type: "text_delta", text })));
    }
    for (const { id, tool, pieces } of answer.calls) {
      block(
        { type: "tool_use", id, name: tool, input: {} },
        pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      );
    }
    events.push(named({
      type: "message_delta",
      ...{
        delta: { stop_reason: messagesFinish(answer), stop_sequence: null },
        usage: { output_tokens: answer.usage.output },
      },
    }));
    events.push(named({ type: "message_stop" }));
    return events;
  },
  body(answer, { model }) {
    return {
      id: "msg_fake",
      type: "message",
      role: "assistant",
      model,
      content: [
        ...(answer.reasoning.length > 0
          ? [{
            type: "thinking",
            thinking: answer.reasoning.join(""),
            signature: answer.signature ?? "",
          }]
          : []),
        ...(answer.text.length > 0 ? [{ type: "text", text: answer.text.join("") }] : []),
        ...answer.calls.map(({ id, tool, args }) => ({
          type: "tool_use",
          id,
          name: tool,
          input: JSON.parse(args),
        })),
      ],
      stop_reason: messagesFinish(answer),
      stop_sequence: null,
      usage: messagesUsage(answer),
    };
  },
  errorEvent: (message) =>
    named({ type: "error", ...{ error: { type: "overloaded_error", message } } }),
  errorBody: (message, status) => ({
    type: "error",
    error: {
      type: status === 429
        ? "rate_limit_error"
        : status >= 500
        ? "api_error"
        : "invalid_request_error",
      message,
    },
  }),
};

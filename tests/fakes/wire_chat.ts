/**
 * The wire of OpenAI chat completions.
 *
 * @module
 */

import type { Answer } from "./model_behaviour.ts";
import { CREATED, data, openAiError, type Wire } from "./wire.ts";

function chatUsage({ usage }: Answer): unknown {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function chatFinish(answer: Answer): string {
  return answer.finishReason ?? (answer.calls.length > 0 ? "tool_calls" : "stop");
}

/** OpenAI chat completions, `POST /chat/completions`. */
export const CHAT: Wire = {
  events(answer, { model, includeUsage }) {
    const chunk = (delta: unknown, finish: string | null = null) =>
      data({
        id: "chatcmpl-fake",
        object: "chat.completion.chunk",
        created: CREATED,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...(includeUsage ? { usage: null } : {}),
      });
    const events = [chunk({ role: "assistant", content: "" })];
    for (const text of answer.reasoning) events.push(chunk({ reasoning_content: text }));
    for (const text of answer.text) events.push(chunk({ content: text }));
    for (const [index, { id, tool, pieces }] of answer.calls.entries()) {
      events.push(chunk({
        tool_calls: [{ index, id, type: "function", function: { name: tool, arguments: "" } }],
      }));
      for (const piece of pieces) {
        events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
      }
    }
    events.push(chunk({}, chatFinish(answer)));
    if (includeUsage) {
      events.push(data({
        id: "chatcmpl-fake",
        object: "chat.completion.chunk",
        created: CREATED,
        model,
        choices: [],
        usage: chatUsage(answer),
      }));
    }
    events.push("data: [DONE]\n\n");
    return events;
  },
  body(answer, { model }) {
    const calls = answer.calls.map(({ id, tool, args }) => ({
      id,
      type: "function",
      function: { name: tool, arguments: args },
    }));
    return {
      id: "chatcmpl-fake",
      object: "chat.completion",
      created: CREATED,
      model,
      choices: [{
        index: 0,
        message: {
          role: "assistant",
          content: answer.text.join(""),
          ...(answer.reasoning.length > 0 ? { reasoning_content: answer.reasoning.join("") } : {}),
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        finish_reason: chatFinish(answer),
      }],
      usage: chatUsage(answer),
    };
  },
  errorEvent: (message) => data(openAiError(message, 500)),
  errorBody: openAiError,
};

/**
 * The three wires of the fake model server: OpenAI chat completions, OpenAI responses and Anthropic
 * messages, each as a list of SSE events and as one JSON body.
 *
 * @module
 */

import type { Answer } from "./model_behaviour.ts";

/** What of a request an answer depends on. */
export interface WireRequest {
  model: string;
  includeUsage: boolean;
}

/** A wire. */
export interface Wire {
  /** Events of a streamed answer, each with its blank line. */
  events(answer: Answer, request: WireRequest): string[];
  /** Body of an answer that is not streamed. */
  body(answer: Answer, request: WireRequest): unknown;
  /** An error that is sent inside a stream. */
  errorEvent(message: string): string;
  /** Body of an answer with an error status. */
  errorBody(message: string, status: number): unknown;
}

/** A fixed time, so that equal requests get equal bytes. */
const CREATED = 1_760_000_000;

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function named(value: { type: string }): string {
  return `event: ${value.type}\n${data(value)}`;
}

function openAiError(message: string, status: number): unknown {
  const type = status === 429
    ? "rate_limit_error"
    : status >= 500
    ? "server_error"
    : "invalid_request_error";
  return { error: { message, type, param: null, code: null } };
}

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

function responsesItems(answer: Answer): { added: unknown; done: unknown; deltas: unknown[] }[] {
  const items: { added: unknown; done: unknown; deltas: unknown[] }[] = [];
  const at = () => ({ output_index: items.length });
  if (answer.reasoning.length > 0 || answer.signature !== undefined) {
    const item = { id: "rs_fake", type: "reasoning", summary: [] as unknown[] };
    const place = { ...at(), item_id: item.id, summary_index: 0 };
    const text = answer.reasoning.join("");
    items.push({
      added: { ...item, encrypted_content: "" },
      deltas: [
        {
          type: "response.reasoning_summary_part.added",
          ...place,
          part: { type: "summary_text", text: "" },
        },
        ...answer.reasoning.map((delta) => ({
          type: "response.reasoning_summary_text.delta",
          ...place,
          delta,
        })),
        {
          type: "response.reasoning_summary_part.done",
          ...place,
          part: { type: "summary_text", text },
        },
      ],
      done: {
        ...item,
        summary: [{ type: "summary_text", text }],
        encrypted_content: answer.signature ?? null,
      },
    });
  }
  if (answer.text.length > 0) {
    const item = { id: "msg_fake", type: "message", role: "assistant" };
    const text = answer.text.join("");
    const place = { ...at(), item_id: item.id, content_index: 0 };
    items.push({
      added: { ...item, status: "in_progress", content: [] },
      deltas: answer.text.map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        delta,
        logprobs: [],
      })),
      done: {
        ...item,
        status: "completed",
        content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
      },
    });
  }
  for (const [index, { id, tool, args, pieces }] of answer.calls.entries()) {
    const item = { id: `fc_fake${index}`, type: "function_call", call_id: id, name: tool };
    const place = { ...at(), item_id: item.id };
    items.push({
      added: { ...item, arguments: "", status: "in_progress" },
      deltas: [
        ...pieces.map((delta) => ({
          type: "response.function_call_arguments.delta",
          ...place,
          delta,
        })),
        { type: "response.function_call_arguments.done", ...place, arguments: args },
      ],
      done: { ...item, arguments: args, status: "completed" },
    });
  }
  return items;
}

function responseObject(answer: Answer, model: string, output: unknown[]): Record<string, unknown> {
  const { usage } = answer;
  return {
    id: "resp_fake",
    object: "response",
    created_at: CREATED,
    model,
    service_tier: "default",
    status: answer.finishReason === "length" ? "incomplete" : "completed",
    incomplete_details: answer.finishReason === "length" ? { reason: "max_output_tokens" } : null,
    output,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  };
}

/** OpenAI responses, `POST /responses`. */
export const RESPONSES: Wire = {
  events(answer, { model }) {
    let sequence = 0;
    const event = (value: unknown) =>
      named({ ...(value as { type: string }), ...{ sequence_number: sequence++ } });
    const started = {
      ...responseObject(answer, model, []),
      status: "in_progress",
      incomplete_details: null,
      usage: null,
    };
    const events = [event({ type: "response.created", response: started })];
    const items = responsesItems(answer);
    for (const [output_index, { added, deltas, done }] of items.entries()) {
      events.push(event({ type: "response.output_item.added", output_index, item: added }));
      for (const delta of deltas) events.push(event(delta));
      events.push(event({ type: "response.output_item.done", output_index, item: done }));
    }
    const response = responseObject(answer, model, items.map(({ done }) => done));
    events.push(event({ type: `response.${response.status}`, response }));
    return events;
  },
  body: (answer, { model }) =>
    responseObject(answer, model, responsesItems(answer).map(({ done }) => done)),
  errorEvent: (message) =>
    named({
      type: "error",
      ...{
        sequence_number: 1,
        error: { type: "server_error", code: "server_error", message, param: null },
      },
    }),
  errorBody: openAiError,
};

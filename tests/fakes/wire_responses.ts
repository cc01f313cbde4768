/**
 * The wire of OpenAI responses.
 *
 * @module
 */

import type { Answer } from "./model_behaviour.ts";
import { CREATED, named, openAiError, type Wire } from "./wire.ts";

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

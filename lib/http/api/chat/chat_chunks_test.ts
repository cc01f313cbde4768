import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { AgentEvent } from "../../../contract/events.ts";
import { ended } from "../../testing/fake_turns.ts";
import { ChatChunks } from "./chat_chunks.ts";
import { ChatCompletion } from "./chat_completion.ts";
import { anyString } from "../../../../tests/support/any_string.ts";

const identity = { id: "chatcmpl-1", created: 1_700_000_000, model: "fake/one" };
const usage = { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cachedTokens: 4 };

const EVENTS: AgentEvent[] = [
  { type: "turn_start", model: "fake/one" },
  { type: "notice", text: "retrying" },
  { type: "reasoning_delta", streamId: "r1", text: "Hmm" },
  { type: "reasoning_end", streamId: "r1" },
  { type: "text_delta", streamId: "s1", text: "Let me " },
  { type: "text_delta", streamId: "s1", text: "look." },
  { type: "segment_end", streamId: "s1", resuming: true },
  { type: "tool_call", callId: "c1", tool: "read_file", args: { path: "x" }, hint: "read_file x" },
  { type: "tool_progress", callId: "c1", tool: "read_file", text: "half" },
  { type: "tool_result", callId: "c1", tool: "read_file", status: "ok", output: "secret" },
  { type: "usage", model: "fake/one", usage },
  { type: "text_delta", streamId: "s2", text: 'A "quoted"\nline\u2028' },
  { type: "segment_end", streamId: "s2", resuming: false },
];

// deno-lint-ignore no-explicit-any -- tests look at whatever is written
function chunksOf(events: AgentEvent[], includeUsage: boolean, includeProgress: boolean): any[] {
  const chunks = new ChatChunks(identity, { includeUsage, includeProgress });
  const text = chunks.opening() + events.map((event) => chunks.lines(event)).join("") +
    chunks.closing(ended(usage));
  const lines = text.split("\n\n");
  assertEquals(lines.pop(), "");
  assertEquals(lines.pop(), "data: [DONE]");
  return lines.map((line) => {
    assertEquals(line.slice(0, 6), "data: ");
    return JSON.parse(line.slice(6));
  });
}

const base = {
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "fake/one",
};

function chunk(delta: unknown, finish_reason: string | null = null, more = {}) {
  return { ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...more };
}

Deno.test("ChatChunks writes role, reasoning, the texts of every step and the finish reason", () => {
  assertEquals(chunksOf(EVENTS, false, false), [
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "Hmm" }),
    chunk({ content: "Let me " }),
    chunk({ content: "look." }),
    chunk({ content: '\n\nA "quoted"\nline\u2028' }),
    chunk({}, "stop"),
  ]);
});

Deno.test("ChatChunks adds a usage chunk without choices when it is asked to", () => {
  const chunks = chunksOf(EVENTS.slice(0, 1), true, false);
  assertEquals(chunks, [
    chunk({ role: "assistant", content: "" }, null, { usage: null }),
    chunk({}, "stop", { usage: null }),
    {
      ...base,
      choices: [],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    },
  ]);
});

Deno.test("ChatChunks shows tool activity in a field of its own when it is asked to", () => {
  const service = chunksOf(EVENTS, false, true).filter((one) => "service" in one);
  assertEquals(service.map((one) => one.choices[0].delta), [{}, {}, {}, {}]);
  assertEquals(service.map((one) => one.service), [
    { type: "notice", text: "retrying" },
    { type: "tool_call", call_id: "c1", tool: "read_file", hint: "read_file x" },
    { type: "tool_progress", call_id: "c1", tool: "read_file", text: "half" },
    { type: "tool_result", call_id: "c1", tool: "read_file", status: "ok" },
  ]);
});

Deno.test("ChatCompletion holds the same text as the chunks, with reasoning and usage", () => {
  const completion = new ChatCompletion();
  for (const event of [...EVENTS, ended(usage)]) completion.add(event);
  assertEquals(JSON.parse(completion.toJson(identity)), {
    ...base,
    object: "chat.completion",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: 'Let me look.\n\nA "quoted"\nline\u2028',
        reasoning_content: "Hmm",
        refusal: null,
      },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
});

Deno.test("ChatCompletion and ChatChunks say the same whatever the events", () => {
  const event: fc.Arbitrary<AgentEvent> = fc.oneof(
    fc.record({
      type: fc.constant("text_delta" as const),
      streamId: fc.constantFrom("s1", "s2", "s3"),
      text: anyString(),
    }),
    fc.record({
      type: fc.constant("reasoning_delta" as const),
      streamId: fc.constantFrom("r1", "r2"),
      text: fc.string(),
    }),
    fc.constantFrom(...EVENTS),
  );
  fc.assert(fc.property(fc.array(event), fc.boolean(), (events, includeProgress) => {
    const completion = new ChatCompletion();
    for (const one of [...events, ended(usage)]) completion.add(one);
    const { message } = JSON.parse(completion.toJson(identity)).choices[0];
    const deltas = chunksOf(events, true, includeProgress)
      .flatMap((one) => one.choices.map((choice: { delta: unknown }) => choice.delta));
    const all = (field: string) => deltas.map((delta) => delta[field] ?? "").join("");
    assertEquals(all("content"), message.content);
    assertEquals(all("reasoning_content"), message.reasoning_content ?? "");
  }));
});

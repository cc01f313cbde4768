/** The responses routes through the `openai` package and the AI SDK, as most programs will use them. */

import { createOpenAI } from "@ai-sdk/openai";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { streamText } from "ai";
import OpenAI from "openai";
import type { AgentEvent } from "../../../contract/events.ts";
import { ended, failed, says, type Script, staysSilent } from "../../testing/fake_turns.ts";
import { startTestApi, type TestApi } from "../../testing/test_api.ts";

const model = "fake/one";
const usage = { inputTokens: 7, outputTokens: 3, reasoningTokens: 1, cachedTokens: 2 };

const THINKS: AgentEvent[] = [
  { type: "reasoning_delta", streamId: "r1", text: "A greeting" },
  { type: "reasoning_delta", streamId: "r1", text: "." },
  { type: "reasoning_end", streamId: "r1" },
];

const TWO_STEPS: Script = () => [
  ...THINKS,
  ...says(["Let me ", "look."], { resuming: true }),
  { type: "usage", model, usage },
  { type: "tool_call", callId: "c1", tool: "read_file", args: {}, hint: "read_file" },
  { type: "tool_result", callId: "c1", tool: "read_file", status: "ok", output: "it" },
  ...says(["Hello"], { streamId: "s2" }),
  { type: "usage", model, usage },
  ended(usage),
];

async function start(script?: Script) {
  const api = await startTestApi({ script, config: { apiKey: "right" } });
  return Object.assign(api, { client: clientOf(api) });
}

function clientOf(api: TestApi): OpenAI {
  return new OpenAI({ baseURL: `${api.url}/v1`, apiKey: "right", maxRetries: 0 });
}

Deno.test("openai gets a whole response, and goes on from it", async () => {
  await using api = await start(TWO_STEPS);
  const first = await api.client.responses.create({ model, input: "hi" });
  assertEquals(first.output_text, "Let me look.\n\nHello");
  assertEquals(first.output.map(({ type }) => type), ["reasoning", "message", "message"]);
  assertEquals(first.usage?.output_tokens_details.reasoning_tokens, 1);
  assertEquals(first._request_id, api.access[0]!.requestId);
  const next = await api.client.responses.create({
    model,
    input: [
      { role: "user", content: "hi" },
      ...first.output.filter(({ type }) => type === "message"),
      { role: "user", content: [{ type: "input_text", text: "and now?" }] },
    ] as OpenAI.Responses.ResponseInput,
    previous_response_id: first.id,
  });
  assertEquals(next.previous_response_id, first.id);
  assertEquals(api.turns.accepted[1]!.request.input, [{ type: "text", text: "and now?" }]);
});

Deno.test("openai puts a stream together", async () => {
  await using api = await start(TWO_STEPS);
  const stream = api.client.responses.stream({ model, input: "hi" });
  let text = "";
  let reasoning = "";
  stream.on("response.output_text.delta", ({ delta }) => void (text += delta));
  stream.on("response.reasoning_summary_text.delta", ({ delta }) => void (reasoning += delta));
  const response = await stream.finalResponse();
  assertEquals([response.status, response.output_text], ["completed", text]);
  assertEquals(text, "Let me look.\n\nHello");
  assertEquals(reasoning, "A greeting.");
});

Deno.test("openai retrieves, streams again, cancels and deletes a response of the background", async () => {
  await using api = await start(staysSilent);
  const { responses } = api.client;
  const open = await responses.create({ model, input: "work", background: true });
  assertEquals(open.status, "in_progress");
  assertEquals((await responses.retrieve(open.id)).status, "in_progress");
  const busy = await assertRejects(() => responses.delete(open.id), OpenAI.ConflictError);
  assertEquals(busy.code, "response_in_progress");
  assertEquals((await responses.cancel(open.id)).status, "cancelled");
  const types: string[] = [];
  for await (
    const event of await responses.retrieve(open.id, { stream: true, starting_after: 0 })
  ) {
    types.push(event.type);
  }
  assertEquals(types, ["response.in_progress", "response.failed"]);
  await responses.delete(open.id);
  const gone = await assertRejects(() => responses.retrieve(open.id), OpenAI.NotFoundError);
  assertEquals(gone.code, "response_not_found");
});

Deno.test("openai aborts a stream and the turn is cancelled", async () => {
  await using api = await start(staysSilent);
  const accepted = api.turns.next();
  const stream = await api.client.responses.create({ model, input: "hi", stream: true });
  const turn = await accepted;
  const cancelled = new Promise((resolve) => turn.cancelled.addEventListener("abort", resolve));
  stream.controller.abort();
  await cancelled;
});

Deno.test("openai throws the error of a failed turn, and shows that of a failed stream", async () => {
  await using api = await start(() => failed({ code: "turn_timeout", message: "Too slow" }));
  const error = await assertRejects(
    () => api.client.responses.create({ model, input: "hi" }, { maxRetries: 2 }),
    OpenAI.InternalServerError,
  );
  assertEquals([error.status, error.code], [504, "turn_timeout"]);
  assertEquals(api.turns.accepted.length, 1);
  const stream = api.client.responses.stream({ model, input: "hi" });
  const response = await stream.finalResponse();
  assertEquals(response.status, "failed");
  assertEquals(response.error?.message, "Too slow");
});

Deno.test("@ai-sdk/openai streams text and reasoning, and sends references to what it got", async () => {
  await using api = await start(TWO_STEPS);
  const openai = createOpenAI({ baseURL: `${api.url}/v1`, apiKey: "right" });
  const first = streamText({ model: openai.responses(model), prompt: "hi" });
  assertEquals(await first.text, "Let me look.\n\nHello");
  assertEquals(await first.reasoningText, "A greeting.");
  assertEquals(await first.finishReason, "stop");
  assertEquals((await first.usage).outputTokens, 3);
  const next = streamText({
    model: openai.responses(model),
    messages: [
      { role: "user", content: "hi" },
      ...(await first.response).messages,
      { role: "user", content: "and now?" },
    ],
  });
  assertEquals(await next.text, "Let me look.\n\nHello");
  assertEquals(api.turns.accepted[1]!.request.input, [{ type: "text", text: "and now?" }]);
});

Deno.test("@ai-sdk/openai tells of a failed stream", async () => {
  await using api = await start(() => [
    ...says(["Hel"]),
    ...failed({ code: "provider_error", message: "It broke" }),
  ]);
  const openai = createOpenAI({ baseURL: `${api.url}/v1`, apiKey: "right" });
  const errors: unknown[] = [];
  const answer = streamText({
    model: openai.responses(model),
    prompt: "hi",
    onError: ({ error }) => void errors.push(error),
  });
  await answer.consumeStream();
  assertEquals(await answer.finishReason, "error");
  assertEquals(errors.length, 1);
  assert(JSON.stringify(errors[0], Object.getOwnPropertyNames(errors[0])).includes("It broke"));
});

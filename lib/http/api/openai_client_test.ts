/** The API through the `openai` package, as most programs will use it. */

import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import OpenAI from "openai";
import { type ErrorCode, ServiceError } from "../../base/errors.ts";
import { ended, failed, says, staysSilent } from "../testing/fake_turns.ts";
import { startTestApi, type TestApi, type TestApiOptions } from "../testing/test_api.ts";

const MESSAGES = [{ role: "user" as const, content: "hi" }];
const model = "fake/one";
const usage = { inputTokens: 7, outputTokens: 3, reasoningTokens: 1, cachedTokens: 2 };

async function start(options: TestApiOptions = {}) {
  const api = await startTestApi({
    ...options,
    config: { apiKey: "right", ...options.config },
  });
  return Object.assign(api, { client: clientOf(api) });
}

function clientOf(api: TestApi, options: { apiKey?: string; maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${api.url}/v1`, apiKey: "right", maxRetries: 0, ...options });
}

const KINDS = [{}, { host: "0.0.0.0" }];

for (const config of KINDS) {
  const name = config.host ?? "loopback";

  Deno.test(`openai on ${name} gets a whole answer`, async () => {
    await using api = await start({ config, script: () => [...says(["Hel", "lo"]), ended(usage)] });
    const answer = await api.client.chat.completions.create({ model, messages: MESSAGES });
    assertEquals(answer.choices[0]!.message.content, "Hello");
    assertEquals(answer.choices[0]!.finish_reason, "stop");
    assertEquals(answer.usage!.total_tokens, 10);
    assertEquals(answer._request_id, api.access[0]!.requestId);
  });

  Deno.test(`openai on ${name} streams`, async () => {
    await using api = await start({ config, script: () => [...says(["Hel", "lo"]), ended(usage)] });
    const stream = await api.client.chat.completions.create({
      model,
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let last: OpenAI.Chat.ChatCompletionChunk | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      last = chunk;
    }
    assertEquals(text, "Hello");
    assertEquals(last!.choices, []);
    assertEquals(last!.usage!.prompt_tokens_details!.cached_tokens, 2);
  });

  Deno.test(`openai on ${name} aborts a stream and the turn is cancelled`, async () => {
    await using api = await start({
      config,
      async *script(turn) {
        yield { type: "text_delta", streamId: "s", text: "x" };
        await turn.until(new Promise(() => {}));
      },
    });
    const logged = api.nextAccess();
    const stream = await api.client.chat.completions.create({
      model,
      messages: MESSAGES,
      stream: true,
    });
    for await (const chunk of stream) {
      if (chunk.choices[0]!.delta.content === "x") stream.controller.abort();
    }
    assertEquals((await logged).stream, "cancelled");
    assert(api.turns.accepted[0]!.cancelled.aborted);
  });
}

Deno.test("openai's stream helper puts the answer of several steps together", async () => {
  await using api = await start({
    script: () => [
      ...says(["One."], { resuming: true }),
      { type: "tool_call", callId: "c", tool: "t", args: {}, hint: "t" },
      { type: "tool_result", callId: "c", tool: "t", status: "ok", output: "" },
      ...says(["Two."], { streamId: "s2" }),
    ],
  });
  const runner = api.client.chat.completions.stream({ model, messages: MESSAGES });
  const { choices } = await runner.finalChatCompletion();
  assertEquals(choices[0]!.message.content, "One.\n\nTwo.");
  assertEquals(choices[0]!.finish_reason, "stop");
});

Deno.test("openai lists and retrieves the model by its id with a slash", async () => {
  await using api = await start();
  const ids: string[] = [];
  for await (const { id } of api.client.models.list()) ids.push(id);
  assertEquals(ids, [model]);
  assertEquals((await api.client.models.retrieve(model)).owned_by, "service");
  await assertRejects(() => api.client.models.retrieve("gpt-5"), OpenAI.NotFoundError);
});

Deno.test("openai sends an image part and a session in an extra field", async () => {
  await using api = await start();
  await api.client.chat.completions.create({
    model,
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      ],
    }],
    temperature: 0.1,
    tools: [{ type: "function", function: { name: "x", parameters: {} } }],
    ...{ session_id: "mine" },
  });
  const { sessionKey, input } = api.turns.accepted[0]!.request;
  assertEquals(sessionKey, "api:mine");
  assertEquals(input.map((part) => part.type), ["text", "image"]);
});

Deno.test("openai shows each refusal as its own class of error", async () => {
  await using api = await start({ config: { authFailuresPerMinute: 1 } });
  const ask = (
    client = api.client,
    body: Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming> = {},
  ) => client.chat.completions.create({ model, messages: MESSAGES, ...body });
  const wrong = clientOf(api, { apiKey: "wrong" });
  const refused = await assertRejects(() => ask(wrong), OpenAI.AuthenticationError);
  assertEquals([refused.code, refused.type], ["invalid_api_key", "authentication_error"]);
  await assertRejects(() => ask(wrong), OpenAI.RateLimitError);
  const other = await assertRejects(
    () => ask(api.client, { model: "gpt-5" }),
    OpenAI.NotFoundError,
  );
  assertEquals([other.code, other.param], ["model_not_found", "model"]);
  const empty = await assertRejects(
    () => ask(api.client, { messages: [{ role: "system", content: "x" }] }),
    OpenAI.BadRequestError,
  );
  assertEquals(empty.code, "no_user_message");
  api.turns.refusal = new ServiceError("queue_full", "64 turns wait");
  assertEquals((await assertRejects(() => ask(), OpenAI.RateLimitError)).code, "queue_full");
});

const TURN_ERRORS: [ErrorCode, unknown][] = [
  ["turn_failed", OpenAI.InternalServerError],
  ["turn_timeout", OpenAI.InternalServerError],
  ["provider_error", OpenAI.InternalServerError],
  ["provider_rate_limited", OpenAI.RateLimitError],
  ["context_overflow", OpenAI.BadRequestError],
  ["turn_cancelled", OpenAI.ConflictError],
];

for (const [code, errorClass] of TURN_ERRORS) {
  Deno.test(`openai throws on ${code} and does not send the request again`, async () => {
    await using api = await start({ script: () => failed({ code, message: "No" }) });
    const client = clientOf(api, { maxRetries: 2 });
    for (const stream of [false, true]) {
      const before = api.turns.accepted.length;
      const error = await assertRejects(() =>
        client.chat.completions.create({ model, messages: MESSAGES, stream })
      );
      assertInstanceOf(error, errorClass as typeof OpenAI.APIError);
      assertEquals(api.turns.accepted.length, before + 1);
    }
  });
}

Deno.test("W6 openai throws on a stream that fails in the middle", async () => {
  await using api = await start({
    script: () => [...says(["Hel"]), ...failed({ code: "provider_error", message: "It broke" })],
  });
  const stream = await api.client.chat.completions.create({
    model,
    messages: MESSAGES,
    stream: true,
  });
  let text = "";
  const error = await assertRejects(async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  }, OpenAI.APIError);
  assertEquals(text, "Hel");
  assertEquals(error.code, "provider_error");
});

Deno.test("openai that gives up on a whole answer cancels the turn", async () => {
  await using api = await start({
    script: staysSilent,
  });
  const accepted = api.turns.next();
  const logged = api.nextAccess();
  const controller = new AbortController();
  const answer = assertRejects(
    () =>
      api.client.chat.completions.create({ model, messages: MESSAGES }, {
        signal: controller.signal,
      }),
    OpenAI.APIUserAbortError,
  );
  await accepted;
  controller.abort();
  await answer;
  assertEquals((await logged).status, 499);
  assert(api.turns.accepted[0]!.cancelled.aborted);
});

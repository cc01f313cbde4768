import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { ErrorData } from "../../../base/errors.ts";
import { ended, failed, FakeTurns, says, staysSilent } from "../../testing/fake_turns.ts";
import {
  createTestApi,
  HELLO,
  jsonOf,
  startTestApi,
  type TestApi,
} from "../../testing/test_api.ts";
import { at, blocksOf, eventOf, eventsOf, liveBlocks, post } from "./testing/responses_client.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

const usage = { inputTokens: 3, outputTokens: 2, reasoningTokens: 0, cachedTokens: 1 };
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const PDF = `data:application/pdf;base64,${btoa("%PDF-1.7")}`;

/** `error` of an answer that has this status. */
async function errorOf(response: Response, status: number): Promise<Record<string, string | null>> {
  assertEquals(response.status, status);
  return (await jsonOf(response)).error;
}

/** Sends a request that is answered whole and returns the response's id. */
async function idOf(api: TestApi, body: Record<string, unknown>): Promise<string> {
  const response = await post(api, { input: "hi", ...body });
  assertEquals(response.status, 200);
  return (await jsonOf(response)).id;
}

Deno.test("POST /v1/responses answers whole", async () => {
  await using api = await startTestApi({ script: () => [...says(["Hel", "lo"]), ended(usage)] });
  const response = await post(api, { input: "hi", model: "fake/one", metadata: { topic: "x" } });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(await jsonOf(response), {
    id: "resp_turn1",
    object: "response",
    created_at: 1_700_000_000,
    completed_at: null,
    status: "completed",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: true,
    max_output_tokens: null,
    max_tool_calls: null,
    frequency_penalty: 0,
    presence_penalty: 0,
    model: "fake/one",
    output: [{
      id: "msg_turn1_0",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
    }],
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: true,
    temperature: 1,
    text: { format: { type: "text" } },
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    access_programs: null,
    usage: {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 5,
    },
    metadata: { topic: "x" },
  });
  const { sessionKey, channel, input, durable, attended, requestKey, response: facts } =
    api.turns.accepted[0]!.request;
  assertEquals({ sessionKey, channel, durable, attended, requestKey }, {
    sessionKey: "api:default",
    channel: "api",
    durable: false,
    attended: true,
    requestKey: undefined,
  });
  assertEquals(input, [{ type: "text", text: "hi" }]);
  assertEquals(facts?.request.metadata, { topic: "x" });
  assertEquals(api.access.at(-1)?.stream, undefined);
});

Deno.test("POST /v1/responses streams the events, and no [DONE]", async () => {
  await using api = await startTestApi();
  const logged = api.nextAccess();
  const events = await eventsOf(await post(api, { input: "hi", stream: true }));
  assertEquals(events.map(({ sequence_number }) => sequence_number), [...events.keys()]);
  assertEquals(events[0]!.type, "response.created");
  assertEquals(events.at(-1)!.type, "response.completed");
  assertEquals((await logged).stream, "ended");
  assertEquals(api.turns.accepted[0]!.readers, 0);
});

Deno.test("POST /v1/responses opens the stream before the model says anything", async () => {
  await using api = await startTestApi({ script: staysSilent });
  const response = await post(api, { input: "hi", stream: true });
  for await (const block of liveBlocks(response)) {
    assertEquals(eventOf(block).type, "response.created");
    break;
  }
});

Deno.test("POST /v1/responses ends a stream with [DONE] where that is configured", async () => {
  await using api = await startTestApi({ config: { openResponsesDone: true } });
  const blocks = await blocksOf(await post(api, { input: "hi", stream: true }));
  assertEquals(blocks.pop(), "data: [DONE]");
  assertEquals(eventOf(blocks.at(-1)!).type, "response.completed");
});

Deno.test("W6 POST /v1/responses ends the stream of a failed turn with response.failed", async () => {
  const error: ErrorData = { code: "provider_error", message: "It said no", providerStatus: 500 };
  await using api = await startTestApi({
    config: { openResponsesDone: true },
    script: () => failed(error),
  });
  const logged = api.nextAccess();
  const events = await eventsOf(await post(api, { input: "hi", stream: true }));
  const last = events.at(-1)!;
  assert(last.type === "response.failed");
  assertEquals(last.response.error, {
    code: "server_error",
    message: "It said no (the provider answered with status 500)",
    service_code: "provider_error",
  });
  assertEquals((await logged).reason, "provider_error");
});

Deno.test("W6 POST /v1/responses answers with the error of a failed turn", async () => {
  const error: ErrorData = { code: "internal", message: "SQLITE_FULL" };
  await using api = await startTestApi({ script: () => [...says(["Hel"]), ...failed(error)] });
  const response = await post(api, { input: "hi" });
  assertEquals(response.headers.get("x-should-retry"), "false");
  const { code, type, message } = await errorOf(response, 500);
  assertEquals({ code, type }, { code: "turn_failed", type: "server_error" });
  assert(!message!.includes("SQLITE_FULL"));
  const stored = await jsonOf(await at(api, "/resp_turn1"));
  assertEquals(stored.status, "failed");
  assertEquals(stored.error.service_code, "turn_failed");
});

Deno.test("POST /v1/responses refuses before a turn is opened", async () => {
  await using api = await startTestApi();
  const cases: [body: unknown, status: number, code: string, param: string | null][] = [
    [{ input: "hi", model: "gpt-4o" }, 404, "model_not_found", "model"],
    [{ input: [{ type: "reasoning" }] }, 400, "invalid_request", "input[0].type"],
    [{ input: [{ role: "system", content: "x" }] }, 400, "no_user_message", "input"],
    [{ input: "hi", previous_response_id: "x" }, 400, "invalid_request", "previous_response_id"],
    [
      { input: "hi", previous_response_id: "resp_x" },
      404,
      "response_not_found",
      "previous_response_id",
    ],
    [{ input: "hi", stream: true, conversation: "c" }, 400, "invalid_request", "conversation"],
    [
      { input: [{ type: "input_file", file_data: "data:;base64,AAEC" }], stream: true },
      415,
      "unsupported_media_type",
      "input[0].file_data",
    ],
  ];
  for (const [body, status, code, param] of cases) {
    const error = await errorOf(await post(api, body), status);
    assertEquals({ code: error.code, param: error.param }, { code, param });
  }
  const form = new FormData();
  form.set("message", "hi");
  const sent = await fetch(`${api.url}/v1/responses`, { method: "POST", body: form });
  assertEquals((await errorOf(sent, 415)).code, "unsupported_media_type");
  assertEquals(api.turns.accepted, []);
});

Deno.test("POST /v1/responses reads images and documents", async () => {
  await using api = await startTestApi();
  await idOf(api, {
    input: [
      { type: "input_text", text: "look" },
      { type: "input_image", image_url: PNG },
      { type: "input_file", filename: "a.pdf", file_data: PDF },
    ],
  });
  const { input } = api.turns.accepted[0]!.request;
  assertEquals(input.map(({ type }) => type), ["text", "image", "document"]);
  assert(input[2]?.type === "document");
  assertEquals([input[2].name, input[2].text], ["a.pdf", "words of a PDF"]);
});

Deno.test("POST /v1/responses goes on in the session of an earlier response", async () => {
  await using api = await startTestApi();
  const first = await idOf(api, { session_id: "one" });
  const next = await post(api, { input: "more", previous_response_id: first });
  assertEquals((await jsonOf(next)).previous_response_id, first);
  await idOf(api, { previous_response_id: first, session_id: "one" });
  await idOf(api, { session_id: null });
  const sessions = api.turns.accepted.map(({ request }) => request.sessionKey);
  assertEquals(sessions, ["api:one", "api:one", "api:one", "api:default"]);

  const other = { input: "hi", previous_response_id: first, session_id: "two" };
  const error = await errorOf(await post(api, other), 400);
  assertEquals(error.param, "previous_response_id");
  assertStringIncludes(error.message!, '"two" and "one"');
  const named = { input: "hi", previous_response_id: first };
  const byHeader = await post(api, named, { "x-session-id": "two" });
  assertEquals((await errorOf(byHeader, 400)).param, "previous_response_id");
});

Deno.test("POST /v1/responses does not know responses of another key, or that were not stored", async () => {
  const turns = new FakeTurns(HELLO);
  await using before = await startTestApi({ turns, config: { apiKey: "old" } });
  await using after = await startTestApi({ turns, config: { apiKey: "new" } });
  const old = { authorization: "Bearer old" };
  const now = { authorization: "Bearer new" };
  const { id } = await jsonOf(await post(before, { input: "hi" }, old));
  assertEquals((await at(before, `/${id}`, { headers: old })).status, 200);
  const follow = { input: "hi", previous_response_id: id };
  assertEquals((await errorOf(await post(after, follow, now), 404)).code, "response_not_found");
  assertEquals((await errorOf(await at(after, `/${id}`, { headers: now }), 404)).param, null);

  const answer = await jsonOf(await post(after, { input: "hi", store: false }, now));
  assertEquals(answer.store, false);
  assertEquals(turns.accepted.at(-1)!.request.response, undefined);
  const unstored = { input: "hi", previous_response_id: answer.id };
  assertEquals((await errorOf(await post(after, unstored, now), 404)).code, "response_not_found");
});

Deno.test("POST /v1/responses in the background answers at once and needs no reader", async () => {
  const said = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      await turn.until(said.promise);
      yield* says(["Done"]);
    },
  });
  const response = await jsonOf(await post(api, { input: "work", background: true }));
  assertEquals([response.status, response.background], ["in_progress", true]);
  assertEquals(response.output, []);
  const [turn] = api.turns.accepted;
  assertEquals(turn!.request.durable, true);
  assertEquals(turn!.presence, [true, false]);
  assertEquals(turn!.cancelled.aborted, false);
  said.resolve();
  await Array.fromAsync(turn!.events());
  const later = await jsonOf(await at(api, `/${response.id}`));
  assertEquals([later.status, later.output[0].content[0].text], ["completed", "Done"]);
});

Deno.test("POST /v1/responses in the background streams, and goes on without its reader", async () => {
  const said = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      yield* says(["Hel"]).slice(0, 1);
      await turn.until(said.promise);
      yield* says(["lo"]);
    },
  });
  const logged = api.nextAccess();
  const response = await post(api, { input: "work", background: true, stream: true });
  for await (const block of liveBlocks(response)) {
    if (eventOf(block).type === "response.output_text.delta") break;
  }
  assertEquals((await logged).stream, "cancelled");
  const [turn] = api.turns.accepted;
  assertEquals(turn!.presence, [true, false]);
  said.resolve();
  const events = await eventsOf(await at(api, "/resp_turn1?stream=true&starting_after=4"));
  assertEquals(events[0]!.sequence_number, 5);
  assertEquals(events.at(-1)!.type, "response.completed");
  assertEquals(turn!.cancelled.aborted, false);
});

Deno.test("POST /v1/responses cancels the turn when its client leaves", async () => {
  await using api = await startTestApi({ script: staysSilent });
  for (const stream of [true, false]) {
    const client = new AbortController();
    const accepted = api.turns.next();
    const logged = api.nextAccess();
    const answer = post(api, { input: "hi", stream }, {}, client.signal)
      .then((response) => response.text()).catch(() => {});
    const turn = await accepted;
    const cancelled = new Promise((resolve) => turn.cancelled.addEventListener("abort", resolve));
    client.abort();
    await answer;
    await cancelled;
    await logged;
    await turn.unread();
  }
});

Deno.test("POST /v1/responses answers a repeat with the turn of the first", async () => {
  await using api = await startTestApi();
  const key = { "idempotency-key": "k1" };
  const body = { input: "hi", metadata: { a: "b" } };
  const first = await jsonOf(await post(api, body, key));
  assertEquals(await jsonOf(await post(api, { metadata: { a: "b" }, input: "hi" }, key)), first);
  const again = await errorOf(await post(api, { ...body, metadata: {} }, key), 409);
  assertEquals(again.code, "idempotency_key_reused");
  const streamed = await post(api, { ...body, stream: true }, key);
  assertEquals((await errorOf(streamed, 409)).code, "idempotency_key_reused");
  assertEquals(api.turns.accepted.length, 1);
});

Deno.test("W16 POST /v1/responses answers a helper call beside the conversation", async () => {
  await using api = await startTestApi();
  const task = { "x-openwebui-task": "title_generation" };
  const response = await jsonOf(await post(api, { input: "A title, please" }, task));
  assertEquals([response.id, response.status], ["resp_aside1", "completed"]);
  assertEquals(response.store, false);
  assertEquals(api.turns.accepted, []);
  const follow = await post(api, { input: "hi", previous_response_id: response.id });
  assertEquals(follow.status, 404);
  const background = await post(api, { input: "A title, please", background: true }, task);
  assertEquals((await errorOf(background, 400)).param, "background");
  assertEquals(api.turns.accepted, []);
});

Deno.test("POST /v1/responses says once of each field that it has no effect", async () => {
  await using api = await startTestApi();
  const body = {
    tools: [{ type: "function", name: "f" }],
    tool_choice: "required",
    instructions: "Be rude",
    temperature: 2,
    top_p: null,
    user: undefined,
  };
  const response = await jsonOf(await post(api, { ...body, input: "hi" }));
  assertEquals([response.tools, response.tool_choice, response.instructions], [[], "auto", null]);
  await idOf(api, body);
  await idOf(api, { ...body, stream_options: {} });
  const fields = api.infos.map(({ fields }) => fields?.field);
  const expected = ["tools", "tool_choice", "instructions", "temperature", "stream_options"];
  assertEquals(fields, expected);
  assertEquals(api.turns.accepted[0]!.request.input, [{ type: "text", text: "hi" }]);
});

Deno.test("POST /v1/responses leaves its streams when the service stops", async () => {
  for (const background of [false, true]) {
    await using api = await startTestApi({ script: staysSilent });
    const response = await post(api, { input: "hi", stream: true, background });
    const types: string[] = [];
    for await (const block of liveBlocks(response)) {
      types.push(eventOf(block).type);
      if (types.length === 2) api.api.endStreams();
    }
    // A turn in the background goes on after the restart: its stream is cut off, it did not fail.
    const end = background ? [] : ["response.failed"];
    assertEquals(types, ["response.created", "response.in_progress", ...end]);
    assertEquals(api.turns.accepted[0]!.cancelled.aborted, !background);
  }
});

Deno.test("the responses routes answer HEAD, OPTIONS and wrong methods like the others", async () => {
  await using api = await startTestApi();
  const id = await idOf(api, {});
  const head = await at(api, `/${id}`, { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
  const allow = async (path: string) => {
    const response = await at(api, path, { method: "OPTIONS" });
    assertEquals(response.status, 204);
    return response.headers.get("allow");
  };
  assertEquals(await allow(""), "POST, OPTIONS");
  assertEquals(await allow(`/${id}`), "GET, DELETE, HEAD, OPTIONS");
  assertEquals(await allow(`/${id}/cancel`), "POST, OPTIONS");
  const wrong = await at(api, "");
  assertEquals((await errorOf(wrong, 405)).code, "method_not_allowed");
});

Deno.test("POST /v1/responses gives any JSON an answer or a proper refusal", async () => {
  const { api, errors } = createTestApi({ script: () => says(["ok"]) });
  const wild = fc.jsonValue({ maxDepth: 2 });
  /** Right more often than not, or hardly any body would be. */
  const mostly = <T>(...right: T[]) =>
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: wild });
  const item = fc.record({
    type: mostly("message", "message", "input_text", "item_reference", "function_call", null),
    role: mostly("user", "user", "assistant", "system"),
    content: fc.oneof(fc.string(), fc.array(fc.record({ type: fc.string(), text: fc.string() }))),
    text: fc.string(),
  }, { requiredKeys: ["type"] });
  const body = fc.oneof(
    wild,
    fc.record({
      input: fc.oneof(wild, fc.string(), fc.array(item, { maxLength: 3 })),
      session_id: mostly("default", "other"),
      previous_response_id: mostly("resp_turn1", null),
      model: mostly("fake/one"),
      stream: mostly(true, false),
      store: mostly(true, true, false),
      background: mostly(false, false, true),
      metadata: mostly({}),
      tools: wild,
    }, { requiredKeys: ["input"] }),
  );
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(body, async (body) => {
      const response = await api.fetch(
        new Request("http://127.0.0.1/v1/responses", {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json", host: "127.0.0.1" },
        }),
        "127.0.0.1",
      );
      const text = await response.text();
      seen.add(response.status);
      if (response.status === 200) return assert(text.includes("resp_"));
      assert(response.status >= 400 && response.status < 500, `${response.status} ${text}`);
      assertEquals(Object.keys(JSON.parse(text).error), ["message", "type", "param", "code"]);
    }),
    { numRuns: rounds(300), examples: [[{ input: "hi" }], [{}]] },
  );
  // The bodies were looked at, and not turned away before.
  assert(seen.has(200) && seen.has(400) && !seen.has(403), [...seen].join());
  assertEquals(errors, []);
});

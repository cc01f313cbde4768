import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { AgentEvent } from "../../../contract/events.ts";
import { type ErrorData, ServiceError } from "../../../base/errors.ts";
import { ended, failed, FakeTurns, says, staysSilent } from "../../testing/fake_turns.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { createTestApi, jsonOf, rawRequest, startTestApi } from "../../testing/test_api.ts";
import { OPENING_MS } from "./chat_stream.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const REQUEST = { messages: MESSAGES };
const STREAM = { messages: MESSAGES, stream: true };
const BINDINGS = [
  { name: "loopback", config: { apiKey: "k" } },
  { name: "all addresses", config: { host: "0.0.0.0", apiKey: "k" } },
];
const AUTH = { headers: { authorization: "Bearer k" } };

/** The events of a stream, `[DONE]` and comments included, and whether it ended well. */
async function dataOf(response: Response): Promise<string[]> {
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const lines = (await response.text()).split("\n\n");
  assertEquals(lines.pop(), "");
  return lines;
}

function textOf(lines: string[]): string {
  return lines.filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").join("");
}

for (const { name, config } of BINDINGS) {
  Deno.test(`chat on ${name} answers whole`, async () => {
    const usage = { inputTokens: 3, outputTokens: 2, reasoningTokens: 0, cachedTokens: 1 };
    await using api = await startTestApi({
      config,
      script: () => [...says(["Hel", "lo"]), { ...ended(usage), finishReason: "length" }],
    });
    const response = await api.chat({ ...REQUEST, model: "fake/one" }, AUTH);
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(await jsonOf(response), {
      id: "chatcmpl-turn1",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "fake/one",
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Hello", refusal: null },
        logprobs: null,
        finish_reason: "length",
      }],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    assertEquals(api.turns.accepted[0]!.request, {
      sessionKey: "api:default",
      channel: "api",
      actor: "api:key",
      input: [{ type: "text", text: "hi" }],
      durable: false,
      attended: true,
      timeoutMs: 600_000,
      requestKey: undefined,
      response: undefined,
      toldAtEnd: true,
    });
    assertEquals(api.access.at(-1)?.status, 200);
    assertEquals(api.access.at(-1)?.stream, undefined);
  });

  Deno.test(`chat on ${name} streams and ends with [DONE]`, async () => {
    await using api = await startTestApi({ config });
    const logged = api.nextAccess();
    const lines = await dataOf(await api.chat(STREAM, AUTH));
    assertEquals(lines.at(-1), "data: [DONE]");
    assertEquals(textOf(lines), "Hello");
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)));
    assertEquals(chunks[0].choices[0].delta.role, "assistant");
    assertEquals(chunks.at(-1).choices[0].finish_reason, "stop");
    assertEquals(new Set(chunks.map((chunk) => chunk.id)), new Set(["chatcmpl-turn1"]));
    const entry = await logged;
    assertEquals([entry.status, entry.stream, entry.reason], [200, "ended", undefined]);
    assertEquals(api.api.openStreams, 0);
    assertEquals(api.turns.accepted[0]!.readers, 0);
  });

  Deno.test(`chat on ${name} shows each event when it comes`, async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using api = await startTestApi({
      config,
      async *script(turn) {
        for (const step of steps) {
          yield { type: "text_delta", streamId: "s1", text: "x" };
          await turn.until(step.promise);
        }
      },
    });
    const response = await api.chat(STREAM, AUTH);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (const step of steps) {
      const before = text.split('"content":"x"').length;
      while (text.split('"content":"x"').length === before) text += (await reader.read()).value;
      step.resolve();
    }
    while (!text.includes("[DONE]")) text += (await reader.read()).value;
    await reader.cancel();
  });

  Deno.test(`a client of ${name} that goes away before the answer cancels its turn`, async () => {
    await using api = await startTestApi({
      config,
      script: staysSilent,
    });
    for (const body of [REQUEST, STREAM]) {
      const accepted = api.turns.next();
      const logged = api.nextAccess();
      const controller = new AbortController();
      const answer = api.chat(body, { ...AUTH, signal: controller.signal })
        .catch((error) => error.name);
      const turn = await accepted;
      controller.abort();
      assertEquals(await answer, "AbortError");
      const entry = await logged;
      assertEquals([entry.status, entry.reason], [499, "client_gone"]);
      assert(turn.cancelled.aborted);
      await turn.unread();
    }
  });

  Deno.test(`a client of ${name} that goes away during a stream cancels its turn`, async () => {
    await using api = await startTestApi({
      config,
      async *script(turn) {
        yield { type: "text_delta", streamId: "s1", text: "x" };
        await turn.until(new Promise(() => {}));
      },
    });
    const accepted = api.turns.next();
    const logged = api.nextAccess();
    const controller = new AbortController();
    const response = await api.chat(STREAM, { ...AUTH, signal: controller.signal });
    const reader = response.body!.getReader();
    await reader.read();
    controller.abort();
    await reader.read().catch(() => {});
    const entry = await logged;
    assertEquals([entry.status, entry.stream], [200, "cancelled"]);
    assert((await accepted).cancelled.aborted);
    assertEquals(api.api.openStreams, 0);
  });

  Deno.test(`a client of ${name} that goes away while it sends starts no turn`, async () => {
    await using api = await startTestApi({ config });
    const logged = api.nextAccess();
    const connection = await Deno.connect({ port: api.listener.port });
    await connection.write(new TextEncoder().encode(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n" +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"messages":',
    ));
    connection.close();
    const { status } = await logged;
    assert(status === 400 || status === 499, String(status));
    assertEquals(api.turns.accepted.length, 0);
  });

  Deno.test(`a body on ${name} over 90 MiB is 413, with a length and without`, async () => {
    await using api = await startTestApi({ config });
    const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
      "Authorization: Bearer k\r\nContent-Type: application/json\r\n";
    const declared = await rawRequest(
      api.listener.port,
      `${head}Content-Length: ${90 * 1024 * 1024 + 1}\r\n\r\n`,
      (answer) => answer.includes("}}"),
    );
    assertStringIncludes(declared, "413 ");
    assertStringIncludes(declared, '"code":"too_large"');
    const chunk = new Uint8Array(1024 * 1024).fill(0x20);
    let sent = 0;
    const response = await fetch(`${api.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...AUTH.headers, "content-type": "application/json" },
      body: new ReadableStream({
        pull(controller) {
          if (++sent > 95) return controller.close();
          controller.enqueue(chunk.slice());
        },
      }, { highWaterMark: 0 }),
    });
    assertEquals(response.status, 413);
    assertEquals((await jsonOf(response)).error.code, "too_large");
    assertEquals(api.turns.accepted.length, 0);
  });

  Deno.test(`a body on ${name} that is longer than it said is cut at its length`, async () => {
    await using api = await startTestApi({ config });
    const body = JSON.stringify(REQUEST);
    const answer = await rawRequest(
      api.listener.port,
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n" +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n` +
        `${body}and more that is no request\r\n\r\n`,
    );
    assertStringIncludes(answer, "400 Bad Request");
    for (const { request } of api.turns.accepted) {
      assertEquals(request.input, [{ type: "text", text: "hi" }]);
    }
  });
}

Deno.test("chat names conversation and actor after the request", async () => {
  await using api = await startTestApi({ config: { attended: false, timeoutS: 5 } });
  await (await api.chat({ ...REQUEST, session_id: "a:1" })).body?.cancel();
  await (await api.chat(REQUEST, { headers: { "x-session-id": "b-2" } })).body?.cancel();
  assertEquals(
    api.turns.accepted.map(({ request }) => [
      request.sessionKey,
      request.actor,
      request.attended,
      request.timeoutMs,
    ]),
    [["api:a:1", "api:anonymous", false, 5_000], ["api:b-2", "api:anonymous", false, 5_000]],
  );
});

for (
  const [name, body, status, code, param] of [
    ["no JSON", "{", 400, "invalid_request", null],
    ["another model", { ...REQUEST, model: "gpt-5" }, 404, "model_not_found", "model"],
    ["a bad session", { ...REQUEST, session_id: "a b" }, 400, "invalid_request", "session_id"],
    ["no messages", {}, 400, "invalid_request", "messages"],
    [
      "no user message",
      { messages: [...MESSAGES, { role: "assistant", content: "x" }] },
      400,
      "no_user_message",
      "messages",
    ],
    [
      "a remote image",
      {
        messages: [{
          role: "user",
          content: [{ type: "image_url", image_url: { url: "https://x.example/a.png" } }],
        }],
      },
      400,
      "unsupported_image_url",
      "messages[0].content[0].image_url.url",
    ],
  ] as [string, unknown, number, string, string | null][]
) {
  Deno.test(`chat refuses ${name} before anything is stored`, async () => {
    await using api = await startTestApi();
    for (const stream of [false, true]) {
      const sent = typeof body === "string" ? body : JSON.stringify({ ...body as object, stream });
      const response = await api.chat(null, { body: sent });
      assertEquals(response.status, status);
      assertEquals(response.headers.get("x-should-retry"), null);
      const { error } = await jsonOf(response);
      assertEquals([error.code, error.param], [code, param]);
    }
    assertEquals(api.turns.accepted.length, 0);
  });
}

Deno.test("chat passes on why a turn was not accepted", async () => {
  await using api = await startTestApi();
  for (const [code, status] of [["queue_full", 429], ["draining", 503]] as const) {
    api.turns.refusal = new ServiceError(code, "Not now");
    const response = await api.chat(REQUEST);
    assertEquals(response.status, status);
    assertEquals(response.headers.get("x-should-retry"), null);
    assertEquals((await jsonOf(response)).error.code, code);
  }
});

const FAILURES: [
  ErrorData,
  "failed" | "timed_out" | "cancelled" | "interrupted",
  number,
  string,
][] = [
  [{ code: "turn_failed", message: "at /x.ts" }, "failed", 500, "turn_failed"],
  [{ code: "internal", message: "at /x.ts" }, "failed", 500, "turn_failed"],
  [{ code: "turn_timeout", message: "Too long" }, "timed_out", 504, "turn_timeout"],
  [{ code: "provider_error", message: "No", providerStatus: 503 }, "failed", 502, "provider_error"],
  [{ code: "provider_unreachable", message: "No" }, "failed", 502, "provider_unreachable"],
  [
    { code: "provider_rate_limited", message: "No", retryAfterS: 7 },
    "failed",
    429,
    "provider_rate_limited",
  ],
  [{ code: "context_overflow", message: "Long" }, "failed", 400, "context_length_exceeded"],
  [{ code: "tool_loop", message: "Again" }, "failed", 500, "tool_loop"],
  [{ code: "max_steps", message: "Enough" }, "failed", 500, "max_steps"],
  [{ code: "turn_cancelled", message: "By hand" }, "cancelled", 409, "turn_cancelled"],
  [{ code: "turn_interrupted", message: "Stop" }, "interrupted", 503, "turn_interrupted"],
];

for (const [error, turnStatus, status, code] of FAILURES) {
  Deno.test(`W6 a turn that fails early with ${error.code} is ${status}, streamed or not`, async () => {
    await using api = await startTestApi({ script: () => failed(error, turnStatus) });
    for (const body of [REQUEST, STREAM]) {
      const response = await api.chat(body);
      assertEquals(response.status, status);
      assertEquals(response.headers.get("x-should-retry"), "false");
      assertEquals(
        response.headers.get("retry-after"),
        error.retryAfterS === undefined ? null : String(error.retryAfterS),
      );
      const text = await response.text();
      assertEquals(JSON.parse(text).error.code, code);
      assert(!text.includes("/x.ts"));
      if (error.providerStatus) assertStringIncludes(text, String(error.providerStatus));
    }
    assertEquals(api.errors.length, code === "turn_failed" ? 2 : 0);
    assertEquals(api.access.map((entry) => entry.reason), [code, code]);
  });

  Deno.test(`W6 a turn that fails late with ${error.code} has no stop and no [DONE]`, async () => {
    await using api = await startTestApi({
      script: () => [...says(["Hel"]), ...failed(error, turnStatus)],
    });
    const logged = api.nextAccess();
    const lines = await dataOf(await api.chat(STREAM));
    const last = JSON.parse(lines.at(-1)!.slice(6));
    assertEquals(Object.keys(last), ["error"]);
    assertEquals(last.error.code, code);
    assertEquals(textOf(lines.slice(0, -1)), "Hel");
    const all = lines.join("");
    assert(!all.includes("[DONE]") && !all.includes('"finish_reason":"') && !all.includes("/x.ts"));
    const entry = await logged;
    assertEquals([entry.status, entry.stream, entry.reason], [200, "ended", code]);
    assertEquals((await api.chat(REQUEST)).status, status);
  });
}

Deno.test("W6 a turn that failed without saying why is still an error", async () => {
  for (
    const [turnStatus, code] of [
      ["failed", "turn_failed"],
      ["timed_out", "turn_timeout"],
      ["cancelled", "turn_cancelled"],
      ["interrupted", "turn_interrupted"],
    ] as const
  ) {
    await using api = await startTestApi({
      script: () => [...says(["x"]), { ...ended(), status: turnStatus }],
    });
    assertEquals((await jsonOf(await api.chat(REQUEST))).error.code, code);
    const lines = await dataOf(await api.chat(STREAM));
    assertEquals(JSON.parse(lines.at(-1)!.slice(6)).error.code, code);
  }
});

Deno.test("W6 events that break off are an error and cancel the turn", async () => {
  class BrokenTurns extends FakeTurns {
    override async submit(request: Parameters<FakeTurns["submit"]>[0]) {
      const handle = await super.submit(request);
      handle.events = async function* () {
        yield { seq: 1, turnId: "x", event: { type: "text_delta", streamId: "s", text: "x" } };
        throw new Error("disk gone");
      };
      return handle;
    }
  }
  const turns = new BrokenTurns(staysSilent);
  const parts = createTestApi({ turns });
  const post = (body: unknown) =>
    parts.api.fetch(
      new Request("http://127.0.0.1/v1/chat/completions", {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
      "127.0.0.1",
    );
  const whole = await post(REQUEST);
  assertEquals(whole.status, 500);
  assertEquals((await jsonOf(whole)).error.code, "turn_failed");
  const lines = await dataOf(await post(STREAM));
  assertEquals(JSON.parse(lines.at(-1)!.slice(6)).error.code, "turn_failed");
  assertEquals(turns.accepted.map((turn) => turn.cancelled.aborted), [true, true]);
  assertEquals(parts.errors.length, 2);
});

Deno.test("W7 a turn that uses tools keeps its stream open until the answer", async () => {
  const tool = Promise.withResolvers<void>();
  await using api = await startTestApi({
    async *script(turn) {
      yield* says(["Looking."], { resuming: true });
      yield { type: "tool_call", callId: "c", tool: "read_file", args: {}, hint: "read_file x" };
      await turn.until(tool.promise);
      yield { type: "tool_result", callId: "c", tool: "read_file", status: "ok", output: "y" };
      yield* says(["It is y."], { streamId: "s2" });
    },
  });
  const response = await api.chat(STREAM);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("Looking.")) text += (await reader.read()).value;
  tool.resolve();
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  const lines = text.trimEnd().split("\n\n");
  assertEquals(textOf(lines), "Looking.\n\nIt is y.");
  assertEquals(text.split("[DONE]").length, 2);
  assert(!text.includes('"service"'));
});

Deno.test("chat answers a turn of 1,500 progress events, shown only to who asked", async () => {
  const progress: AgentEvent[] = Array.from(
    { length: 1_500 },
    (_, index) => ({ type: "tool_progress", callId: "c", tool: "t", text: `step ${index}` }),
  );
  await using api = await startTestApi({
    script: () => [
      { type: "tool_call", callId: "c", tool: "t", args: {}, hint: "t" },
      ...progress,
      { type: "tool_result", callId: "c", tool: "t", status: "ok", output: "" },
      ...says(["done"]),
    ],
  });
  const whole = await jsonOf(await api.chat(REQUEST));
  assertEquals(whole.choices[0].message.content, "done");
  const plain = await dataOf(await api.chat(STREAM));
  assertEquals(plain.length, 4);
  const shown = await dataOf(
    await api.chat({ ...STREAM, stream_options: { include_progress: true } }),
  );
  assertEquals(shown.filter((line) => line.includes('"tool_progress"')).length, 1_500);
  assertEquals(textOf(shown), "done");
});

/** The API without a listener under a clock that is moved by hand. */
function withClock(script: (go: Promise<void>) => AsyncIterable<AgentEvent>) {
  const clock = new ManualClock();
  const go = Promise.withResolvers<void>();
  const parts = createTestApi({ clock, script: () => script(go.promise) });
  const accepted = parts.turns.next();
  const response = parts.api.fetch(
    new Request("http://127.0.0.1/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(STREAM),
      headers: { "content-type": "application/json" },
    }),
    "127.0.0.1",
  );
  return { ...parts, clock, go: go.resolve, accepted, response };
}

/** Resolves when nothing is left to do without the clock. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

Deno.test("W8 a silent model opens the stream after 10 s and gets comments every 15 s", async () => {
  const { clock, go, accepted, response } = withClock(async function* (go) {
    await go;
    yield* says(["late"]);
  });
  await accepted;
  await settled();
  let opened = false;
  response.then(() => opened = true);
  clock.advance(OPENING_MS - 1);
  await settled();
  assertEquals(opened, false);
  clock.advance(1);
  const reader = (await response).body!.pipeThrough(new TextDecoderStream()).getReader();
  assertStringIncludes((await reader.read()).value!, '"role":"assistant"');
  for (let i = 0; i < 3; i++) {
    const next = reader.read();
    await settled();
    clock.advance(15_000);
    assertEquals((await next).value, ": keep-alive\n\n");
  }
  go();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  assertStringIncludes(text, '"content":"late"');
  assertStringIncludes(text, "data: [DONE]");
  assertEquals(clock.timers, 0);
});

Deno.test("W6 a model that fails after the stream opened by itself gives the error line", async () => {
  const { clock, go, accepted, response } = withClock(async function* (go) {
    await go;
    yield* failed({ code: "provider_error", message: "No", providerStatus: 500 });
  });
  await accepted;
  await settled();
  clock.advance(OPENING_MS);
  const opened = await response;
  assertEquals(opened.status, 200);
  go();
  const lines = await dataOf(opened);
  assertEquals(JSON.parse(lines.at(-1)!.slice(6)).error.code, "provider_error");
  assert(!lines.join("").includes("[DONE]"));
});

Deno.test("endStreams() ends open streams with an error line", async () => {
  await using api = await startTestApi({
    async *script(turn) {
      yield { type: "text_delta", streamId: "s", text: "x" };
      await turn.until(new Promise(() => {}));
    },
  });
  const responses = await Promise.all([api.chat(STREAM), api.chat(STREAM)]);
  assertEquals(api.api.openStreams, 2);
  api.api.endStreams();
  for (const response of responses) {
    const lines = await dataOf(response);
    assertEquals(JSON.parse(lines.at(-1)!.slice(6)).error.code, "turn_interrupted");
  }
  assertEquals(api.api.openStreams, 0);
  await api.listener.close(60_000);
});

Deno.test("W13 a client that reads late loses nothing and delays nobody", async () => {
  const pieces = 20_000;
  const text = "x".repeat(1_000);
  let said = 0;
  await using api = await startTestApi({
    async *script(turn) {
      if (turn.request.sessionKey !== "api:slow") return yield* says(["quick"]);
      for (; said < pieces; said++) yield { type: "text_delta", streamId: "s", text };
    },
  });
  const slow = await api.chat({ ...STREAM, session_id: "slow" });
  for (let i = 0; i < 20; i++) {
    assertEquals((await jsonOf(await api.chat(REQUEST))).choices[0].message.content, "quick");
  }
  assertEquals(textOf(await dataOf(slow)).length, pieces * text.length);
});

Deno.test("chat gives an answer or a proper refusal for any body", async () => {
  const { api, turns, errors } = createTestApi();
  const part = fc.oneof(
    fc.record({ type: fc.constant("text"), text: fc.string() }),
    fc.record({
      type: fc.constant("image_url"),
      image_url: fc.record({
        url: fc.oneof(fc.string().map((data) => `data:x;base64,${data}`), fc.webUrl()),
      }),
    }),
    fc.jsonValue(),
  );
  const message = fc.record({
    role: fc.oneof(fc.constantFrom("user", "system", "assistant", "tool"), fc.jsonValue()),
    content: fc.oneof(fc.string(), fc.array(part), fc.jsonValue()),
  });
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({
      messages: fc.oneof(fc.array(message), fc.jsonValue()),
      session_id: fc.oneof(fc.string(), fc.jsonValue()),
      model: fc.oneof(fc.constant("fake/one"), fc.jsonValue()),
      stream: fc.oneof(fc.boolean(), fc.jsonValue()),
      stream_options: fc.jsonValue(),
    }, { requiredKeys: ["messages"] }).map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const before = turns.accepted.length;
      const response = await api.fetch(
        new Request("http://127.0.0.1/v1/chat/completions", {
          method: "POST",
          body: sent,
          headers: { "content-type": "application/json" },
        }),
        "127.0.0.1",
      );
      const text = await response.text();
      if (response.status === 200) return assertEquals(turns.accepted.length, before + 1);
      assert([400, 404, 413, 415].includes(response.status), String(response.status));
      assert(JSON.parse(text).error.message.length > 0);
      assertEquals(turns.accepted.length, before);
    }),
    { numRuns: rounds(500) },
  );
  assertEquals(errors, []);
});

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Behaviour, startModelServer } from "../../tests/fakes/model_server.ts";
import { ServiceError } from "../base/errors.ts";
import { ask, says, type WireName, WIRES } from "./testing/ask.ts";
import { registryFor, requestOf } from "./testing/ask.ts";
import { freePort } from "../../tests/support/free_port.ts";

/** A test of each wire against the fake. */
function onEachWire(
  name: string,
  test: (wire: WireName) => Promise<void>,
  wires: readonly WireName[] = WIRES,
): void {
  for (const wire of wires) Deno.test(`stream() ${name} (${wire})`, () => test(wire));
}

const REASONING_WIRES: WireName[] = ["openai-compatible", "anthropic", "openai responses"];

onEachWire("yields text as it comes, and finish last", async (wire) => {
  await using server = startModelServer({
    script: {
      text: ["Hel", "lo", " thére 𝄞"],
      usage: { input: 20, output: 5, cached: 8 },
      chunkBytes: 3,
    },
  });
  const { events, error } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(error, undefined);
  assertEquals(events, [
    { type: "text", text: "Hel" },
    { type: "text", text: "lo" },
    { type: "text", text: " thére 𝄞" },
    {
      type: "finish",
      model: "fake/some-model",
      reason: "stop",
      usage: { inputTokens: 20, outputTokens: 5, reasoningTokens: 0, cachedTokens: 8 },
    },
  ]);
});

onEachWire("yields reasoning apart from text", async (wire) => {
  await using server = startModelServer({
    script: { reasoning: ["let me", " see"], signature: "sig", text: "so" },
  });
  const { reasoning, text, finish } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals([reasoning, text], ["let me see", "so"]);
  assertEquals(finish?.reason, "stop");
}, REASONING_WIRES);

onEachWire("takes reasoning between tags out of the text", async (wire) => {
  await using server = startModelServer({
    script: { text: ["<th", "ink>let me", " see</thi", "nk>\n\nso", " be it"] },
  });
  const { reasoning, text } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals([reasoning, text], ["let me see", "so be it"]);
}, ["openai-compatible", "openai"]);

onEachWire("puts calls together from their pieces", async (wire) => {
  await using server = startModelServer({
    script: {
      text: "Looking",
      calls: [
        { tool: "read_file", args: { path: "é𝄞.md" } },
        { tool: "read_file", args: "{not json" },
        { tool: "list", args: "" },
      ],
      argsPiece: 2,
    },
  });
  const { calls, finish, text } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(text, "Looking");
  assertEquals(calls, [
    { callId: "call_1", tool: "read_file", args: { path: "é𝄞.md" } },
    { callId: "call_2", tool: "read_file", args: "{not json" },
    { callId: "call_3", tool: "list", args: {} },
  ]);
  assertEquals(finish?.reason, "stop");
});

onEachWire("gives a call an id that the conversation does not have yet", async (wire) => {
  await using server = startModelServer({ script: { calls: [{ tool: "list", args: {} }] } });
  const { calls } = await ask(registryFor(wire, server.baseUrl).default, {
    messages: [
      says("go"),
      { role: "assistant", text: "", calls: [{ callId: "call_1", tool: "list", args: {} }] },
      { role: "tool", results: [{ callId: "call_1", tool: "list", output: "a", failed: false }] },
    ],
  });
  assertEquals(calls.map(({ callId }) => callId), ["call_1_2"]);
});

onEachWire("says length when the output limit cut the answer", async (wire) => {
  const finishReason = wire === "anthropic" ? "max_tokens" : "length";
  await using server = startModelServer({ script: { text: "and th", finishReason } });
  const { finish } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(finish?.reason, "length");
});

onEachWire("throws when the provider's filter stopped the answer", async (wire) => {
  const finishReason = wire === "anthropic" ? "refusal" : "content_filter";
  await using server = startModelServer({ script: { text: "some", finishReason } });
  const { error, finish } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(error.code, "provider_error");
  assertStringIncludes(error.message, "content filter");
  assertEquals(finish, undefined);
}, ["openai-compatible", "openai", "anthropic"]);

const CUTS: [string, Behaviour][] = [
  ["the connection breaks", { text: ["a", "b", "c", "d", "e"], resetAfter: 6 }],
  ["the stream ends early", { text: ["a", "b", "c", "d", "e"], endAfter: 6 }],
  ["the stream holds bad JSON", { text: ["a", "b", "c", "d", "e"], badJsonAfter: 6 }],
  ["the provider gives up", { text: ["a", "b", "c", "d", "e"], errorAfter: 6, error: "gave up" }],
];

for (const [what, behaviour] of CUTS) {
  onEachWire(`W6 throws provider_error when ${what} after some text`, async (wire) => {
    await using server = startModelServer({ script: behaviour });
    const { text, error, finish } = await ask(registryFor(wire, server.baseUrl).default);
    assert(text.length > 0, "what came is kept");
    assertEquals(finish, undefined);
    assertEquals(error.code, "provider_error");
    assertMatch(error.message, what === "the provider gives up" ? /gave up/ : /was cut off: /);
    assertEquals(server.requests.length, 1, "no second try after the first event");
  });
}

onEachWire("W6 tries again when the stream is cut before anything was said", async (wire) => {
  await using server = startModelServer({
    script: [{ resetAfter: 0 }, { endAfter: 1 }, { text: "there" }],
  });
  const { text, notices, finish } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(text, "there");
  assertEquals(notices.length, 2);
  assertEquals(finish?.reason, "stop");
});

onEachWire("tries again after 429 and 5xx, as long as it was told to wait", async (wire) => {
  const waits: number[] = [];
  await using server = startModelServer({
    script: [
      { status: 429, retryAfter: "7", error: "slow down." },
      { status: 503, error: "busy" },
      { text: "there" },
    ],
  });
  const { text, notices } = await ask(
    registryFor(wire, server.baseUrl, { sleep: (ms) => Promise.resolve(void waits.push(ms)) })
      .default,
  );
  assertEquals(text, "there");
  assertEquals(waits, [7_125, 500]);
  assertEquals(notices, [
    "fake/some-model refuses more requests for now (429): slow down; trying again in 7 s (try 2 of 3)",
    "fake/some-model answered 503: busy; trying again in a moment (try 3 of 3)",
  ]);
});

onEachWire("gives up at once when it should wait too long, and says how long", async (wire) => {
  await using server = startModelServer({ script: { status: 429, retryAfter: "61" } });
  const { error } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(error.code, "provider_rate_limited");
  assertEquals(error.details, { providerStatus: 429, retryAfterS: 61 });
  assertEquals(server.requests.length, 1);
});

onEachWire("gives up after the last try, which is the only layer of retries", async (wire) => {
  await using server = startModelServer({ script: { status: 500, error: "broken" } });
  const { error, notices } = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(error.code, "provider_error");
  assertEquals(error.details, { providerStatus: 500 });
  assertStringIncludes(error.message, "answered 500: broken");
  assertEquals([server.requests.length, notices.length], [3, 2]);
});

onEachWire(
  "does not repeat a request that was refused, and keeps the key to itself",
  async (wire) => {
    await using server = startModelServer({
      script: { status: 401, error: "sk-very-secret-key is not a key" },
    });
    const { error } = await ask(registryFor(wire, server.baseUrl).default);
    assertEquals(error.code, "provider_error");
    assertEquals(error.details, { providerStatus: 401 });
    assertEquals(
      error.message,
      "fake/some-model answered 401: [secret] is not a key; check providers.fake.apiKey",
    );
    assertEquals(server.requests.length, 1);
  },
);

onEachWire("throws context_overflow when the conversation does not fit", async (wire) => {
  const error = wire === "anthropic"
    ? "prompt is too long: 212345 tokens > 200000 maximum"
    : "This model's maximum context length is 8192 tokens. However, you requested 9000";
  await using server = startModelServer({ script: { status: 400, error } });
  const heard = await ask(registryFor(wire, server.baseUrl).default);
  assertEquals(heard.error.code, "context_overflow");
  assertEquals(server.requests.length, 1);
});

onEachWire("throws the signal's reason and closes the connection", async (wire) => {
  await using server = startModelServer({
    script: [{ hang: "headers" }, { hang: 0 }, { text: ["a", "b", "c"], hang: 5 }],
  });
  const { default: model } = registryFor(wire, server.baseUrl);
  for (const index of [0, 1, 2]) {
    const abort = new AbortController();
    const answer = ask(model, { signal: abort.signal });
    const request = await server.request(index);
    await request.hanging;
    const reason = new ServiceError("turn_cancelled", "enough");
    abort.abort(reason);
    const { error } = await answer;
    assertEquals(error, reason);
    await request.closed;
    assert(request.aborted, `the connection of request ${index} was closed`);
  }
});

onEachWire("closes the connection when the reader leaves", async (wire) => {
  await using server = startModelServer({ script: { text: ["a", "b", "c"], hang: 6 } });
  for await (const _ of registryFor(wire, server.baseUrl).default.stream(requestOf())) break;
  const request = await server.request(0);
  await request.closed;
  assert(request.aborted);
});

Deno.test("stream() asks for nothing when the signal has aborted before", async () => {
  await using server = startModelServer();
  const reason = new Error("enough");
  const { error } = await ask(registryFor("openai-compatible", server.baseUrl).default, {
    signal: AbortSignal.abort(reason),
  });
  assertEquals(error, reason);
  assertEquals(server.requests.length, 0);
});

Deno.test("stream() ends its wait between tries when the signal aborts", async () => {
  await using server = startModelServer({ script: { status: 503 } });
  const abort = new AbortController();
  const { sleep } = await import("./retry.ts");
  const { default: model } = registryFor("openai-compatible", server.baseUrl, {
    sleep: (_ms, signal) => sleep(3_600_000, signal),
  });
  const reason = new Error("enough");
  const events = model.stream(requestOf({ signal: abort.signal }))[Symbol.asyncIterator]();
  assertEquals((await events.next()).value?.[0].type, "notice");
  const next = events.next();
  abort.abort(reason);
  const error = await next.then(() => undefined, (error) => error);
  assertEquals(error, reason);
  assertEquals(server.requests.length, 1);
});

onEachWire(
  "throws provider_unreachable, naming the base URL, when nobody listens",
  async (wire) => {
    const port = freePort();
    const { error, notices } = await ask(
      registryFor(wire, `http://127.0.0.1:${port}/v1`).default,
    );
    assertEquals(error.code, "provider_unreachable");
    const where = wire === "openai responses"
      ? "https://api.openai.com/v1"
      : `http://127.0.0.1:${port}/v1`;
    assertEquals(
      error.message,
      `cannot reach fake at ${where}: connection refused; is it running? check providers.fake.baseUrl`,
    );
    assertEquals(notices.length, 2);
  },
);

onEachWire("sends settings, tools and key", async (wire) => {
  await using server = startModelServer();
  const registry = registryFor(wire, server.baseUrl, {
    agent: { temperature: 0.5, maxOutputTokens: 321 },
  });
  await ask(registry.default);
  const { body, headers } = await server.request(0);
  assertEquals(body.model, "some-model");
  assertEquals(body.stream, true);
  assertEquals(body.temperature, 0.5);
  const limit = wire === "openai responses" ? body.max_output_tokens : body.max_tokens;
  assertEquals(limit, 321);
  const [tool] = body.tools;
  assertEquals(tool.name ?? tool.function.name, "read_file");
  const key = wire === "anthropic" ? headers.get("x-api-key") : headers.get("authorization");
  assertMatch(key ?? "", /^(Bearer )?sk-very-secret-key$/);
  if (wire === "openai responses") assertEquals(body.store, false);
  if (wire === "openai-compatible") assertEquals(body.stream_options, { include_usage: true });
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentEvent } from "../../contract/events.ts";
import { type FakeClock, fakeClock } from "../../agent/testing/fake_clock.ts";
import { ServiceError } from "../../base/errors.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import { createMcpRoute } from "./mcp.ts";
import { OpenStreams } from "./open_streams.ts";
import { RequestContext } from "./request_context.ts";

/** An agent whose turns say what the test has them say. */
function setUp(say: (signal: AbortSignal) => AsyncIterable<AgentEvent>) {
  const clock = fakeClock();
  const streams = new OpenStreams();
  const logged: string[] = [];
  const aborted = Promise.withResolvers<void>();
  const access: AgentAccess = {
    channel: "api",
    readsAll: false,
    operate: () => Promise.reject(new Error("nobody asks")),
    async *turn(_params, signal) {
      signal.addEventListener("abort", () => aborted.resolve());
      for await (const event of say(signal)) yield { seq: 1, turnId: "t", event };
    },
  };
  const route = createMcpRoute({ access, version: "1", streams, clock });
  return {
    clock,
    streams,
    logged,
    aborted: aborted.promise,
    ask: (progressToken?: string, signal?: AbortSignal) =>
      route(request(progressToken, signal), context(clock, logged)),
    send: (message: unknown, headers: Record<string, string>) =>
      route(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(message),
        }),
        context(clock, logged),
      ),
  };
}

function request(progressToken?: string, signal?: AbortSignal): Request {
  const params = {
    name: "ask",
    arguments: { message: "hello" },
    ...(progressToken === undefined ? {} : { _meta: { progressToken } }),
  };
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    signal,
  });
}

function context(clock: FakeClock, logged: string[]): RequestContext {
  return new RequestContext({
    requestId: "req",
    peer: "127.0.0.1",
    method: "POST",
    path: "/mcp",
    elapsed: clock.elapsed,
    accessLog: () => {},
    log: { error: (_, facts) => logged.push(String(facts?.cause)) },
  });
}

/** Never says a word, until it is aborted. */
async function* silent(signal: AbortSignal): AsyncIterable<AgentEvent> {
  yield* [];
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
}

Deno.test("POST /mcp says that it stops on a stream, and cancels the turn", async () => {
  const { streams, ask, aborted } = setUp(silent);
  const response = await ask();
  assertEquals(streams.size, 1);
  streams.endAll();
  assertStringIncludes(await response.text(), '"isError":true,"content":[{"type":"text"');
  await aborted;
  assertEquals(streams.size, 0);
});

Deno.test("POST /mcp cancels the turn of a client that leaves, before and while it reads", async () => {
  const reading = setUp(silent);
  await (await reading.ask()).body!.cancel();
  await reading.aborted;
  assertEquals(reading.streams.size, 0);
  assertEquals(reading.clock.timers(), 0);
  const early = setUp(silent);
  const controller = new AbortController();
  const asked = early.ask(undefined, controller.signal);
  const response = await asked;
  await response.body!.cancel();
  await early.aborted;
});

Deno.test("POST /mcp gives a sign of life while a turn is silent", async () => {
  const { clock, ask, streams } = setUp(silent);
  const reader = (await ask("token")).body!.pipeThrough(new TextDecoderStream()).getReader();
  // The server has to be at the turn first.
  while (clock.timers() < 2) await new Promise((resolve) => setTimeout(resolve));
  clock.tick(15_000);
  let seen = "";
  while (!seen.includes("Still at work")) seen += (await reader.read()).value;
  assertStringIncludes(seen, '"progressToken":"token"');
  streams.endAll();
  await reader.cancel();
});

Deno.test("POST /mcp slows a turn down whose client does not read", async () => {
  let said = 0;
  const usage = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 };
  const { ask } = setUp(async function* () {
    for (; said < 1_000; said++) {
      yield { type: "tool_progress", callId: "c", tool: "t", text: "x".repeat(1_900) };
    }
    yield { type: "turn_end", status: "done", finishReason: "stop", usage };
  });
  const response = await ask("token");
  while (said < 10) await new Promise((resolve) => setTimeout(resolve));
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve));
  assert(said < 100, String(said));
  const text = await response.text();
  assertEquals(said, 1_000);
  assertStringIncludes(text, '"result"');
});

Deno.test("POST /mcp tells a client nothing of what nobody expected, and the log everything", async () => {
  for (const error of [new TypeError("secret path"), new ServiceError("internal", "secret path")]) {
    const { ask, logged } = setUp(async function* () {
      yield* [];
      throw error;
    });
    const text = await (await ask()).text();
    assertStringIncludes(text, "did not expect");
    assert(!text.includes("secret path"));
    assertStringIncludes(logged.join(), "secret path");
  }
});

Deno.test("POST /mcp cancels by a notice the call of that client alone, whole or as a stream", async () => {
  const { send, aborted, streams } = setUp(silent);
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "ask", arguments: { message: "hello" } },
  };
  const cancel = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  };
  const mine = { "mcp-session-id": "mine" };
  const streamed = await send(call, { ...mine, accept: "text/event-stream" });
  const others: Record<string, string>[] = [
    {},
    { "mcp-session-id": "theirs" },
    { "mcp-session-id": "x".repeat(999) },
  ];
  for (const headers of others) {
    assertEquals((await send(cancel, headers)).status, 202);
  }
  await send({ ...cancel, params: { requestId: "1" } }, mine);
  await send({ ...cancel, params: { requestId: 2 } }, mine);
  assertEquals(streams.size, 1);
  await send(cancel, mine);
  assertEquals(await streamed.text(), "");
  await aborted;
  await send(cancel, mine);

  const whole = send(call, mine).catch((error) => error.code);
  while (streams.size === 0) await new Promise((resolve) => setTimeout(resolve));
  await send(cancel, mine);
  assertEquals(await whole, "turn_cancelled");
  assertEquals(streams.size, 0);
});

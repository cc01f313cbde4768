import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type AgentEvent, NO_USAGE, type TurnStatus } from "../../lib/contract/events.ts";
import { type ErrorCode, ServiceError } from "../../lib/base/errors.ts";
import { EXIT } from "../command.ts";
import { answering, FakeClient, stored, turnEnd } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { ask, type AskOptions } from "./ask.ts";

const OPTIONS: AskOptions = {
  sessionKey: "cli:default",
  input: [{ type: "text", text: "hi" }],
  json: false,
  stream: true,
  verbose: false,
  signal: new AbortController().signal,
};

function result(status: "ok" | "failed" | "refused"): AgentEvent {
  return { type: "tool_result", callId: "c", tool: "t", status, output: "" };
}

Deno.test("ask() prints the answer and is done", async () => {
  const client = new FakeClient({ turn: () => answering("Hel", "lo") });
  const { out, stdout } = memoryOutput();
  assertEquals(await ask(client, out, { ...OPTIONS, model: "fast" }), EXIT.done);
  assertEquals(stdout.text, "Hello\n");
  const { sessionKey, input } = OPTIONS;
  assertEquals(client.seen[0]!.params, { sessionKey, input, model: "fast" });
});

Deno.test("ask() prints one event a line for events, and nothing else", async () => {
  const events = answering("Hel", "lo");
  const client = new FakeClient({ turn: () => events });
  const { out, stdout, stderr } = memoryOutput();
  assertEquals(await ask(client, out, { ...OPTIONS, json: "events" }), EXIT.done);
  assertEquals(stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line)), events);
  assertEquals(stderr.text, "");
});

Deno.test("ask() prints one value for json: answer, session, usage and tools", async () => {
  const client = new FakeClient({
    turn: () =>
      stored(
        { type: "turn_start", model: "fake/model" },
        { type: "tool_call", callId: "c", tool: "read_file", args: { path: "a" }, hint: "a" },
        { type: "tool_result", callId: "c", tool: "read_file", status: "ok", output: "A" },
        { type: "text_delta", streamId: "s", text: "It says A\n" },
        { type: "segment_end", streamId: "s", resuming: false },
        turnEnd(),
      ),
  });
  const { out, stdout, stderr } = memoryOutput();
  assertEquals(await ask(client, out, { ...OPTIONS, json: "value" }), EXIT.done);
  assertEquals([stdout.text.trimEnd().split("\n").length, stderr.text], [1, ""]);
  assertEquals(JSON.parse(stdout.text), {
    status: "done",
    answer: "It says A",
    session: "default",
    model: "fake/model",
    usage: NO_USAGE,
    tools: [{ tool: "read_file", args: { path: "a" }, status: "ok" }],
    error: null,
  });
});

Deno.test("ask() prints the value of a turn that failed, and of one that never began", async () => {
  const overloaded = new ServiceError("queue_full", "full");
  const turns: [() => ReturnType<typeof stored>, status: string, code: ErrorCode][] = [
    [() => stored(turnEnd("failed")), "failed", "turn_failed"],
    [
      () => {
        throw overloaded;
      },
      "interrupted",
      "queue_full",
    ],
  ];
  for (const [turn, status, code] of turns) {
    const { out, stdout } = memoryOutput();
    const options = { ...OPTIONS, json: "value" } as const;
    await assertRejects(() => ask(new FakeClient({ turn }), out, options), ServiceError);
    const value = JSON.parse(stdout.text);
    assertEquals([value.status, value.error.code, value.answer], [status, code, ""]);
  }
});

Deno.test("ask() ends a turn at once where nobody answers, and prints what would allow it", async () => {
  const command = "service grants add cli:default net.fetch https://example.com/";
  async function* turn(_: unknown, stop?: AbortSignal) {
    yield* stored(
      { type: "tool_call", callId: "c", tool: "web_fetch", args: {}, hint: "fetch" },
      {
        type: "tool_result",
        callId: "c",
        tool: "web_fetch",
        status: "refused",
        output: "Refused: net.fetch. It would take a grant",
        remedy: { command },
      },
    );
    await Promise.resolve();
    yield* stored(turnEnd(stop?.aborted ? "cancelled" : "done"));
  }
  const client = new FakeClient({ turn });
  const shown = memoryOutput();
  assertEquals(await ask(client, shown.out, { ...OPTIONS, asks: false }), EXIT.refused);
  assertStringIncludes(shown.stderr.text, `\n  ${command}\n  service agent --session default`);
  assertEquals(client.seen[0]!.params, {
    sessionKey: "cli:default",
    input: OPTIONS.input,
    asks: false,
  });

  const { out, stdout } = memoryOutput();
  assertEquals(await ask(client, out, { ...OPTIONS, asks: false, json: "value" }), EXIT.refused);
  const { status, tools, error } = JSON.parse(stdout.text);
  assertEquals([status, tools[0].allow, error], ["refused", command, {
    code: "refused",
    message: "Refused: net.fetch",
  }]);

  // Somebody may answer: the model is told and goes on.
  assertEquals(await ask(client, memoryOutput().out, { ...OPTIONS, asks: true }), EXIT.refused);
  assertEquals(client.seen[2]!.stop!.aborted, false);
});

for (
  const [status, code] of [
    ["failed", "turn_failed"],
    ["cancelled", "turn_cancelled"],
    ["timed_out", "turn_timeout"],
    ["interrupted", "turn_interrupted"],
  ] as [TurnStatus, ErrorCode][]
) {
  Deno.test(`W6 ask() throws ${code} when the turn ends as ${status}`, async () => {
    const said: AgentEvent = { type: "text_delta", streamId: "s", text: "half an ans" };
    const client = new FakeClient({ turn: () => stored(said, turnEnd(status)) });
    const { out, stdout } = memoryOutput();
    const error = await assertRejects(() => ask(client, out, OPTIONS), ServiceError);
    assertEquals(error.code, code);
    assertEquals(stdout.text, "half an ans\n");
  });
}

Deno.test("W6 ask() throws the error that the turn gave", async () => {
  const client = new FakeClient({
    turn: () =>
      stored(
        { type: "error", error: { code: "provider_error", message: "500", providerStatus: 500 } },
        turnEnd("failed"),
      ),
  });
  const { out } = memoryOutput();
  const error = await assertRejects(() => ask(client, out, OPTIONS), ServiceError, "500");
  assertEquals([error.code, error.details.providerStatus], ["provider_error", 500]);
});

Deno.test("W6 ask() does not take a stream without an end for an answer", async () => {
  const client = new FakeClient({ turn: () => answering("Hello").slice(0, -1) });
  const { out } = memoryOutput();
  const error = await assertRejects(
    () => ask(client, out, { ...OPTIONS, stream: false }),
    ServiceError,
  );
  assertEquals(error.code, "turn_interrupted");
});

Deno.test("ask() says refused when the turn ended on refused actions", async () => {
  for (
    const [results, exit] of [
      [["refused"], EXIT.refused],
      [["ok", "refused", "failed"], EXIT.refused],
      [["refused", "ok"], EXIT.done],
      [["failed"], EXIT.done],
    ] as [("ok" | "failed" | "refused")[], number][]
  ) {
    const client = new FakeClient({ turn: () => stored(...results.map(result), turnEnd()) });
    assertEquals(await ask(client, memoryOutput().out, OPTIONS), exit, results.join());
  }
});

Deno.test("ask() hands the signal on and shows the end of the cancelled turn", async () => {
  const controller = new AbortController();
  const client = new FakeClient({
    async *turn(_, signal) {
      yield* stored({ type: "text_delta", streamId: "s", text: "so far" });
      controller.abort();
      assertEquals(signal?.aborted, true);
      yield* stored(turnEnd("cancelled"));
      await Promise.resolve();
    },
  });
  const { out, stdout } = memoryOutput();
  const error = await assertRejects(
    () => ask(client, out, { ...OPTIONS, signal: controller.signal }),
    ServiceError,
  );
  assertEquals(error.code, "turn_cancelled");
  assertEquals(stdout.text, "so far\n");
});

Deno.test("ask() asks nothing when it was cancelled before", async () => {
  const controller = new AbortController();
  controller.abort(new ServiceError("turn_cancelled", "Cancelled"));
  const client = new FakeClient({ turn: () => answering("never") });
  const options = { ...OPTIONS, signal: controller.signal };
  await assertRejects(() => ask(client, memoryOutput().out, options), ServiceError, "Cancelled");
  assertEquals(client.seen, []);
});

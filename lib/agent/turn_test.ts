import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import type { ActionRequest, ActionResult } from "../contract/actions.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import { calls, fails, finish, says, scriptedModel, yields } from "./testing/scripted_model.ts";
import { only, TEST_TOOLS, testAgent, testTool, textOf, until } from "./testing/test_agent.ts";

const ok = (output: string): ActionResult => ({ status: "ok", output });

function endOf(events: readonly AgentEvent[]) {
  return only(events, "turn_end")[0]!;
}

function errorOf(events: readonly AgentEvent[]) {
  return only(events, "error")[0]?.error;
}

/** The session's context, as the next turn would be given it. */
function contextOf(agent: ReturnType<typeof testAgent>): Message[] {
  const { id } = agent.journal.session("test:one")!;
  return agent.journal.context(id).map(({ message }) => message);
}

Deno.test("runTurn() answers, and asks again after calls, until there are none", async () => {
  const model = scriptedModel([calls(["read", { path: "a" }]), says("It ", "says a.")]);
  await using agent = testAgent({ model });
  const events = await agent.ask("What does a say?");
  assertEquals(events.map(({ type }) => type), [
    "turn_start",
    "usage",
    "tool_call",
    "tool_result",
    "text_delta",
    "text_delta",
    "segment_end",
    "usage",
    "turn_end",
  ]);
  assertEquals(grammarFaults(events), []);
  assertEquals(textOf(events), "It says a.");
  assertEquals(endOf(events).status, "done");
  assertEquals(only(events, "tool_call")[0], {
    type: "tool_call",
    callId: "c1",
    tool: "read",
    args: { path: "a" },
    hint: "read!",
  });
  const { tookMs } = only(events, "tool_result")[0]!;
  assert(tookMs !== undefined && tookMs >= 0);
  assertEquals(model.requests[1]!.messages.slice(1), [
    { role: "assistant", text: "", calls: [{ callId: "c1", tool: "read", args: { path: "a" } }] },
    {
      role: "tool",
      results: [{ callId: "c1", tool: "read", output: "read done", failed: false, tookMs }],
    },
  ]);
  assertEquals(contextOf(agent).map(({ role }) => role), [
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
});

Deno.test("runTurn() gives the model the system prompt, the tools and the earlier turns", async () => {
  const model = scriptedModel([says("one"), says("two")]);
  await using agent = testAgent({
    model,
    agent: { instructions: "Be kind." },
    instructions: () => Promise.resolve("Use tabs."),
  });
  await agent.ask("first");
  await agent.ask("second");
  const [first, second] = model.requests;
  assertEquals(second!.system, first!.system);
  for (const part of ["Be kind.", "Use tabs.", "Today is 2026-03-01."]) {
    assertStringIncludes(first!.system, part);
  }
  assertEquals(first!.tools.map(({ name }) => name), TEST_TOOLS.map(({ name }) => name));
  assertEquals(second!.messages, [
    { role: "user", parts: [{ type: "text", text: "first" }] },
    { role: "assistant", text: "one", calls: [] },
    { role: "user", parts: [{ type: "text", text: "second" }] },
  ]);
});

Deno.test("runTurn() goes on without AGENTS.md when it cannot be read, and logs it", async () => {
  await using agent = testAgent({ instructions: () => Promise.reject(new Error("no entry")) });
  assertEquals(endOf(await agent.ask("hi")).status, "done");
  assertStringIncludes(agent.logs[0]!.message, "AGENTS.md");
});

Deno.test("runTurn() says reasoning in streams of its own, closed before the text", async () => {
  const model = scriptedModel([
    yields([
      { type: "reasoning", text: "hm" },
      { type: "reasoning", text: "m" },
      { type: "text", text: "A" },
      { type: "reasoning", text: "wait" },
      { type: "text", text: "B" },
      finish({ replay: { signature: "s" } }),
    ]),
  ]);
  await using agent = testAgent({ model });
  const events = await agent.ask("hi");
  assertEquals(grammarFaults(events), []);
  assertEquals(events.map(({ type }) => type).slice(1, -2), [
    "reasoning_delta",
    "reasoning_delta",
    "reasoning_end",
    "text_delta",
    "reasoning_delta",
    "reasoning_end",
    "text_delta",
    "segment_end",
  ]);
  const reasoning = only(events, "reasoning_delta");
  assertNotEquals(reasoning[0]!.streamId, reasoning[2]!.streamId);
  const text = only(events, "text_delta");
  assertEquals(text[0]!.streamId, text[1]!.streamId);
  assertEquals(contextOf(agent)[1], {
    role: "assistant",
    text: "AB",
    reasoning: "hmmwait",
    calls: [],
    replay: { signature: "s" },
  });
});

Deno.test("W7 runTurn() says of a segment whether the turn goes on after it", async () => {
  const model = scriptedModel([
    yields([
      { type: "text", text: "Let me look." },
      { type: "call", call: { callId: "x", tool: "read", args: {} } },
      finish(),
    ]),
    says("Done."),
  ]);
  await using agent = testAgent({ model });
  const events = await agent.ask("hi");
  assertEquals(only(events, "segment_end").map(({ resuming }) => resuming), [true, false]);
  assertEquals(events.filter(({ type }) => type === "turn_end").length, 1);
});

Deno.test("runTurn() sums usage up over its calls and hands the finish reason on", async () => {
  const usage = { inputTokens: 10, outputTokens: 4, reasoningTokens: 1, cachedTokens: 2 };
  const model = scriptedModel([
    yields([
      { type: "call", call: { callId: "x", tool: "read", args: {} } },
      finish({ usage, model: "other/fallback" }),
    ]),
    yields([{ type: "text", text: "cut" }, finish({ usage, reason: "length" })]),
  ]);
  await using agent = testAgent({ model });
  const events = await agent.ask("hi");
  assertEquals(only(events, "usage").map(({ model }) => model), ["other/fallback", "fake/model"]);
  const { status, finishReason, usage: sum, models } = endOf(events);
  assertEquals([status, finishReason], ["done", "length"]);
  assertEquals(sum, { inputTokens: 20, outputTokens: 8, reasoningTokens: 2, cachedTokens: 4 });
  assertEquals(models, [{ model: "fake/model", usage }, { model: "other/fallback", usage }]);
});

Deno.test("runTurn() passes notices of the model on", async () => {
  const model = scriptedModel([yields([{ type: "notice", text: "trying again" }], says("ok"))]);
  await using agent = testAgent({ model });
  assertEquals(only(await agent.ask("hi"), "notice"), [{ type: "notice", text: "trying again" }]);
});

Deno.test("runTurn() records the calls before they run and the results before it asks again", async () => {
  const seen: string[][] = [];
  const record = () => seen.push(contextOf(agent).map(({ role }) => role));
  const model = scriptedModel([calls(["write", {}]), (request) => (record(), says("ok")(request))]);
  const agent = testAgent({ model, act: () => (record(), Promise.resolve(ok("written"))) });
  await using _ = agent;
  await agent.ask("hi");
  assertEquals(seen, [["user", "assistant"], ["user", "assistant", "tool"]]);
});

Deno.test("runTurn() tells the gate who asks, and what it could go by for a fetch alone", async () => {
  const model = scriptedModel([
    calls(["read", { path: "links" }]),
    calls(["fetch", { url: "https://b.example/x" }]),
    says("ok"),
  ]);
  await using agent = testAgent({
    model,
    act: () => Promise.resolve(ok("see https://b.example/x")),
  });
  const handle = await agent.submit("Look at a.example", { attended: true });
  await until(handle, "turn_end");
  const [read, fetch] = agent.acts.map(({ context }) => context);
  assertEquals([read!.personHosts, read!.toolUrls], [[], []]);
  assertEquals(fetch, {
    sessionKey: "test:one",
    turnId: handle.turn.id,
    callId: "c1_2",
    channel: "test",
    actor: "test:person",
    attended: true,
    personHosts: ["a.example"],
    toolUrls: ["https://b.example/x"],
  });
});

Deno.test("runTurn() runs read-only calls beside each other, at most 8, and keeps their order", async () => {
  let running = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const eight = Promise.withResolvers<void>();
  const model = scriptedModel([
    calls(...Array.from({ length: 12 }, (_, n): [string, unknown] => ["read", { n }])),
    says("ok"),
  ]);
  await using agent = testAgent({
    model,
    act: async ({ args }) => {
      most = Math.max(most, ++running);
      if (running === 8) eight.resolve();
      await new Promise<void>((resolve) => waiting.push(resolve));
      running--;
      return ok(`out ${(args as { n: number }).n}`);
    },
  });
  const asked = agent.ask("hi");
  await eight.promise;
  // The last to start is the first to end.
  while (agent.acts.length < 12 || waiting.length > 0) {
    waiting.pop()?.();
    await new Promise((resolve) => setTimeout(resolve));
  }
  const events = await asked;
  assertEquals(most, 8);
  assertEquals(
    only(events, "tool_result").map(({ output }) => output),
    Array.from({ length: 12 }, (_, n) => `out ${n}`),
  );
  assertEquals(grammarFaults(events), []);
});

Deno.test("runTurn() runs calls with effects alone, in the order of the calls", async () => {
  const log: string[] = [];
  const model = scriptedModel([
    calls(["read", 1], ["read", 2], ["write", 3], ["write", 4], ["read", 5]),
    says("ok"),
  ]);
  await using agent = testAgent({
    model,
    act: async ({ args }) => {
      log.push(`+${args}`);
      await new Promise((resolve) => setTimeout(resolve));
      log.push(`-${args}`);
      return ok("");
    },
  });
  await agent.ask("hi");
  assertEquals(log, ["+1", "+2", "-1", "-2", "+3", "-3", "+4", "-4", "+5", "-5"]);
});

Deno.test("runTurn() lets the model correct a call that cannot be one, without asking the authority", async () => {
  const model = scriptedModel([
    calls(["read", '{"path": '], ["teleport", {}], ["no such\u0000 tool!", {}]),
    says("sorry"),
  ]);
  await using agent = testAgent({ model });
  const events = await agent.ask("hi");
  const results = only(events, "tool_result");
  assertEquals(results.map(({ status }) => status), ["failed", "failed", "failed"]);
  assertStringIncludes(results[0]!.output, "not valid JSON");
  assertStringIncludes(results[1]!.output, 'no tool "teleport". Tools: read, write, fetch.');
  assertEquals(results[2]!.tool, "no_such__tool_");
  assertEquals(agent.acts, []);
  assertEquals(endOf(events).status, "done");
});

Deno.test("runTurn() takes empty arguments for none", async () => {
  await using agent = testAgent({ model: scriptedModel([calls(["read", ""]), says("ok")]) });
  await agent.ask("hi");
  assertEquals(agent.acts.map(({ args }) => args), [{}]);
});

Deno.test("runTurn() gives each call an id of its own, also where the model repeats them", async () => {
  const twice = yields([
    { type: "call", call: { callId: "", tool: "read", args: { n: 1 } } },
    { type: "call", call: { callId: "", tool: "read", args: { n: 2 } } },
    finish(),
  ]);
  await using agent = testAgent({ model: scriptedModel([twice, twice, says("ok")]) });
  const events = await agent.ask("hi");
  assertEquals(grammarFaults(events), []);
  assertEquals(new Set(only(events, "tool_call").map(({ callId }) => callId)).size, 4);
});

Deno.test("runTurn() passes refusals and failures to the model as results", async () => {
  const results: ActionResult[] = [
    { status: "refused", output: "no: fs.write", error: { code: "refused", message: "no" } },
    { status: "failed", output: "disk full", error: { code: "tool_failed", message: "no" } },
  ];
  const model = scriptedModel([calls(["write", 1], ["write", 2]), says("ok")]);
  await using agent = testAgent({ model, act: () => Promise.resolve(results.shift()!) });
  const events = await agent.ask("hi");
  assertEquals(
    only(events, "tool_result").map(({ status, output }) => [status, output]),
    [["refused", "no: fs.write"], ["failed", "disk full"]],
  );
  const message = model.requests[1]!.messages.at(-1)!;
  assert(message.role === "tool" && message.results.every(({ failed }) => failed));
});

Deno.test("runTurn() goes on when an action breaks its contract, and says that nobody knows", async () => {
  const model = scriptedModel([calls(["write", {}]), says("ok")]);
  await using agent = testAgent({ model, act: () => Promise.reject(new Error("bug")) });
  const events = await agent.ask("hi");
  assertEquals(only(events, "tool_result")[0]!.status, "interrupted");
  assertEquals(endOf(events).status, "done");
  assertEquals(agent.logs.length, 1);
});

Deno.test("runTurn() passes progress on while the call is open, and none after it", async () => {
  let late = (_text: string) => {};
  const model = scriptedModel([calls(["read", {}]), says("ok")]);
  await using agent = testAgent({
    model,
    act: (_request, { onProgress }) => {
      late = onProgress;
      onProgress("half");
      onProgress("");
      onProgress("x".repeat(10_000));
      return Promise.resolve(ok("all"));
    },
  });
  const events = await agent.ask("hi");
  late("too late");
  const progress = only(events, "tool_progress");
  assertEquals(progress.map(({ text }) => text.length), [4, 4_001]);
  assertEquals(grammarFaults(events), []);
});

Deno.test("runTurn() survives a flood of progress, dropping what it cannot hold", async () => {
  const model = scriptedModel([calls(["read", {}]), says("ok")]);
  await using agent = testAgent({
    model,
    act: async (_request, { onProgress }) => {
      for (let n = 0; n < 1_500; n++) {
        onProgress(`slow ${n}`);
        if (n % 100 === 99) await new Promise((resolve) => setTimeout(resolve));
      }
      for (let n = 0; n < 100_000; n++) onProgress(`fast ${n}`);
      return ok("all");
    },
  });
  const events = await agent.ask("hi");
  const progress = only(events, "tool_progress").map(({ text }) => text);
  assertEquals(progress.filter((text) => text.startsWith("slow")).length, 1_500);
  assert(progress.length < 5_000);
  assertEquals(textOf(events), "ok");
});

Deno.test("runTurn() ends with max_steps, and runs no call whose result nobody would read", async () => {
  const model = scriptedModel(Array.from({ length: 9 }, (_, n) => calls(["write", { n }])));
  await using agent = testAgent({ model, agent: { maxSteps: 3 } });
  const events = await agent.ask("hi");
  assertEquals(errorOf(events)?.code, "max_steps");
  assertEquals(endOf(events).status, "failed");
  assertEquals([model.requests.length, agent.acts.length], [3, 2]);
  assertStringIncludes(only(events, "tool_result")[2]!.output, "limit of 3 model calls");
  assertEquals(grammarFaults(events), []);
});

Deno.test("runTurn() warns a model that goes in circles, then ends the turn with tool_loop", async () => {
  const model = scriptedModel(Array.from({ length: 20 }, () => calls(["read", { path: "a" }])));
  await using agent = testAgent({ model });
  const events = await agent.ask("hi");
  assertEquals(only(events, "tool_result").map(({ output }) => output.includes("[Note:")), [
    false,
    false,
    true,
    true,
    false,
  ]);
  assertEquals(errorOf(events)?.code, "tool_loop");
  assertStringIncludes(errorOf(events)!.message, "read 5 times in a row");
  assertEquals(endOf(events).status, "failed");
  assertEquals(grammarFaults(events), []);
  // Tools ran, so what they did stays known.
  assertEquals(contextOf(agent).at(-1)!.role, "tool");
});

Deno.test("runTurn() asks once more after an empty answer, and no third time", async () => {
  const empty = yields([{ type: "reasoning", text: "hm" }, finish()]);
  const good = testAgent({ model: scriptedModel([empty, says("there")]) });
  const events = await good.ask("hi");
  assertEquals([textOf(events), only(events, "notice").length], ["there", 1]);
  assertEquals(grammarFaults(events), []);
  const model = scriptedModel(Array.from({ length: 9 }, () => yields([finish()])));
  const bad = testAgent({ model });
  const failed = await bad.ask("hi");
  assertEquals(model.requests.length, 2);
  assertEquals(errorOf(failed)?.code, "empty_answer");
  assertStringIncludes(errorOf(failed)!.message, "empty answer twice");
  await good.journal.close();
  await bad.journal.close();
});

Deno.test("runTurn() says so when the model used its output up before it said anything", async () => {
  const model = scriptedModel([
    yields([{ type: "reasoning", text: "hm" }, finish({ reason: "length" })]),
  ]);
  await using agent = testAgent({ model });
  assertStringIncludes(errorOf(await agent.ask("hi"))!.message, "output limit");
  assertEquals(model.requests.length, 1);
});

Deno.test("W6 runTurn() ends a failed model call as failed, with the provider's code and details", async () => {
  const details = { providerStatus: 429, retryAfterS: 7 };
  await using agent = testAgent({
    model: scriptedModel([fails("provider_rate_limited", details)]),
  });
  const events = await agent.ask("hi");
  const error = errorOf(events)!;
  assertEquals([error.code, error.providerStatus, error.retryAfterS], [
    "provider_rate_limited",
    429,
    7,
  ]);
  assertEquals(endOf(events).status, "failed");
  assertEquals([textOf(events), grammarFaults(events)], ["", []]);
});

Deno.test("runTurn() forgets a failed turn when no tool ran, and keeps it when one did", async () => {
  const half = yields([{ type: "text", text: "half" }], fails("provider_error"));
  const model = scriptedModel([half, calls(["write", {}]), half, says("ok")]);
  await using agent = testAgent({ model });
  assertEquals(grammarFaults(await agent.ask("first")), []);
  assertEquals(contextOf(agent), []);
  assertEquals(grammarFaults(await agent.ask("second")), []);
  assertEquals(contextOf(agent).map(({ role }) => role), [
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  await agent.ask("third");
  const { messages } = model.requests[3]!;
  assertEquals(messages.map(({ role }) => role), [
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
});

Deno.test("runTurn() takes a refused call for none that ran", async () => {
  const model = scriptedModel([calls(["write", {}]), fails("provider_error")]);
  await using agent = testAgent({
    model,
    act: () =>
      Promise.resolve({
        status: "refused",
        output: "no",
        error: { code: "refused", message: "no" },
      }),
  });
  await agent.ask("hi");
  assertEquals(contextOf(agent), []);
});

Deno.test("runTurn() fails with a generic text and a log id when something unknown breaks", async () => {
  // deno-lint-ignore require-yield
  const broken = async function* () {
    throw new TypeError("secret internals");
  };
  await using agent = testAgent({ model: scriptedModel([broken]) });
  const error = errorOf(await agent.ask("hi"))!;
  assertEquals(error.code, "turn_failed");
  assert(!error.message.includes("secret"));
  const line = agent.logs.find(({ fields }) => fields?.logId === error.logId)!;
  assertStringIncludes(String(line.fields!.reason), "secret internals");
});

Deno.test("runTurn() fails when the model's stream ends without a finish", async () => {
  await using agent = testAgent({ model: scriptedModel([yields([{ type: "text", text: "a" }])]) });
  const events = await agent.ask("hi");
  assertEquals(errorOf(events)?.code, "provider_error");
  assertEquals(grammarFaults(events), []);
});

Deno.test("runTurn() stops a model that never stops talking", async () => {
  const chunk = "x".repeat(100_000);
  let said = 0;
  const endless = async function* () {
    for (;;) {
      said += 1;
      yield { type: "text" as const, text: chunk };
    }
  };
  await using agent = testAgent({ model: scriptedModel([endless]) });
  const handle = await agent.submit("hi");
  const end = (await until(handle, "error")).event;
  assert(end.type === "error" && end.error.code === "provider_error");
  assert(said < 50, `${said} pieces were taken`);
});

Deno.test("runTurn() gives a hint of one short line, whatever a tool's hint does", async () => {
  const tools = [
    testTool("a", { hint: () => `x\n${"y".repeat(500)}` }),
    testTool("b", {
      hint: () => {
        throw new Error("cannot read these");
      },
    }),
  ];
  await using agent = testAgent({
    tools,
    model: scriptedModel([calls(["a", {}], ["b", {}]), says("ok")]),
  });
  const hints = only(await agent.ask("hi"), "tool_call").map(({ hint }) => hint);
  assertEquals([hints[0]!.length, hints[0]!.slice(0, 4), hints[1]], [200, "x yy", "b"]);
});

Deno.test("runTurn() asks the authority with exactly what the model said", async () => {
  const args = { nested: [{ a: 1 }], text: "é\u2028" };
  await using agent = testAgent({ model: scriptedModel([calls(["read", args]), says("ok")]) });
  await agent.ask("hi");
  const [{ tool, args: asked }] = agent.acts as [ActionRequest];
  assertEquals([tool, asked], ["read", args]);
});

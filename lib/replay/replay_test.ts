import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { TurnHandle } from "../contract/turns.ts";
import type { ActionPort } from "../contract/actions.ts";
import {
  calls,
  fails,
  finish,
  hangs,
  says,
  scriptedModel,
  yields,
} from "../agent/testing/scripted_model.ts";
import {
  eventsOf,
  TEST_TOOLS,
  type TestAgent,
  testAgent,
  testTool,
  until,
} from "../agent/testing/test_agent.ts";
import { comparable, firstDifference } from "./compare.ts";
import { recordTurn } from "./record_turn.ts";
import { readRecording } from "./recording.ts";
import { replayTurn } from "./replay_turn.ts";

const SESSION = "test:one";

async function record(agent: TestAgent, number?: number) {
  const recording = await recordTurn(agent.journal, agent.journal.session(SESSION)!, number);
  // As it comes back from a file.
  return readRecording(JSON.stringify(recording));
}

/** The difference between a turn that has ended and its replay. */
async function differenceOf(agent: TestAgent, number?: number) {
  const recording = await record(agent, number);
  return firstDifference(recording.events, await replayTurn(recording));
}

async function why(agent: TestAgent, number?: number): Promise<string> {
  const error = await assertRejects(() => record(agent, number), ServiceError);
  return `${error.code}: ${error.message}`;
}

/** A gate that says more than a result. */
const act: ActionPort["act"] = (request, { onProgress, onApproval, signal }) => {
  const { tool, context: { callId } } = request;
  onProgress(`${tool} begins`);
  if (tool === "write") {
    const approval = { id: `apr_${callId}`, digest: "d", details: "", target: "/x" } as never;
    onApproval?.({ type: "requested", approval, brief: { text: "Write?", isWhole: true } });
    onApproval?.({ type: "resolved", approvalId: `apr_${callId}`, outcome: "denied" });
    const error = { code: "refused" as const, message: "no" };
    return Promise.resolve({ status: "refused", output: "Refused: no", error, remedy: {} });
  }
  if (tool === "fetch") {
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    );
  }
  return Promise.resolve({ status: "ok", output: `${tool} of ${JSON.stringify(request.args)}` });
};

Deno.test("replayTurn() says what was said: reasoning, text, calls beside each other, an approval", async () => {
  const thought = { type: "reasoning", text: "Hm. " } as const;
  await using agent = testAgent({
    act,
    tools: [...TEST_TOOLS, testTool("look", { hint: () => "a hint of its own" })],
    model: scriptedModel([
      yields([
        { type: "notice", text: "Asked again: overloaded" },
        thought,
        { type: "text", text: "I loo" },
        { type: "text", text: "k." },
        thought,
        { type: "call", call: { callId: "a", tool: "read", args: { path: "x" } } },
        { type: "call", call: { callId: "a", tool: "look", args: {} } },
        { type: "call", call: { callId: "w", tool: "write", args: "" } },
        finish({ usage: { inputTokens: 5, outputTokens: 7 }, model: "other/model" }),
      ]),
      calls(["none", {}], ["read", "{broken"]),
      says("Do", "ne"),
    ]),
  });
  const events = await agent.ask("hi", { requestKey: { scope: "s", key: "m1", digest: "d" } });
  const recording = await record(agent);
  assertEquals(recording.events, comparable(events));
  assertEquals(await replayTurn(recording), recording.events);
  assertEquals(recording.answers.length, 3);
  assertEquals(recording.settings.tools, [
    { name: "read", parallel: true },
    { name: "write", parallel: false },
    { name: "fetch", parallel: false },
    { name: "look", parallel: true },
  ]);
});

Deno.test("replayTurn() comes to the same end: of a model, of the loop, of whoever ended it", async (t) => {
  const same = { tools: TEST_TOOLS, act };
  const empty = yields([finish()]);
  const used = yields([finish({ reason: "length", usage: { outputTokens: 9 } })]);
  const endings = {
    "a fault of the model": [
      fails("provider_rate_limited", { retryAfterS: 3, providerStatus: 429 }),
    ],
    "a fault in the middle": [yields([{ type: "text", text: "Half" }], fails("provider_error"))],
    "an empty answer, and another": [empty, says("There")],
    "two empty answers": [empty, empty],
    "an output limit": [used],
    "circles": Array(8).fill(calls(["read", {}])),
    "too many steps": Array(3).fill(calls(["read", {}], ["read", {}])),
  };
  for (const [name, answers] of Object.entries(endings)) {
    await t.step(name, async () => {
      const agent = testAgent({
        ...same,
        model: scriptedModel(answers),
        agent: { maxSteps: name === "circles" ? 50 : 3 },
      });
      await using _ = agent;
      await agent.ask("hi");
      assertEquals(await differenceOf(agent), undefined);
    });
  }
  const cancelled = {
    "in the middle of a text": [[yields([{ type: "text", text: "Half" }], hangs())], "text_delta"],
    "in the middle of a thought": [
      [yields([{ type: "reasoning", text: "Half" }], hangs())],
      "reasoning_delta",
    ],
    "in a call": [[calls(["read", {}], ["fetch", {}], ["write", {}])], "tool_progress"],
    "in calls beside each other": [[calls(["fetch", {}], ["fetch", {}])], "tool_progress"],
    "before anything": [[hangs()], "turn_start"],
  } as const;
  for (const [name, [answers, type]] of Object.entries(cancelled)) {
    await t.step(`cancelled ${name}`, async () => {
      await using agent = testAgent({
        ...same,
        tools: [testTool("read", { readOnly: false }), ...TEST_TOOLS.slice(1)],
        model: scriptedModel(answers),
      });
      const handle: TurnHandle = await agent.submit("hi");
      const tool = name === "in a call" ? "fetch" : undefined;
      for await (const { event } of handle.events()) {
        if (event.type === type && (tool === undefined || "tool" in event && event.tool === tool)) {
          break;
        }
      }
      handle.cancel();
      assertEquals((await eventsOf(handle)).at(-2)?.type, "error");
      assertEquals(await differenceOf(agent), undefined);
    });
  }
});

Deno.test("replayTurn() ends as the clock did, and with files that went out", async () => {
  const model = scriptedModel([calls(["read", {}]), hangs()]);
  await using agent = testAgent({
    model,
    agent: { turnTimeoutS: 60, stallTimeoutS: 30 },
    async act({ context: { turnId } }) {
      const files = [{ name: "a.txt", path: "/nowhere" }];
      await agent.journal.append(turnId, [{ type: "files", files }]);
      return { status: "ok", output: "sent" };
    },
  });
  const handle = await agent.submit("hi");
  await until(handle, "usage");
  await model.asked(2);
  agent.clock.tick(31_000);
  const { error } = (await eventsOf(handle)).findLast((event) => event.type === "error")!;
  assertEquals(error.code, "turn_timeout");
  assertEquals(await differenceOf(agent), undefined);
});

Deno.test("a turn is chosen by its number, with what came before it as the model had it", async () => {
  const model = scriptedModel([says("One"), calls(["read", {}]), says("Two"), says("Three")]);
  await using agent = testAgent({ act, model });
  for (const text of ["first", "second", "third"]) await agent.ask(text);
  assertEquals((await record(agent)).input, [{ type: "text", text: "third" }]);
  assertEquals((await record(agent)).context.length, 6);
  const second = await record(agent, 2);
  assertEquals(second.context, [
    { role: "user", parts: [{ type: "text", text: "first" }] },
    { role: "assistant", text: "One", calls: [] },
  ]);
  assertEquals(await differenceOf(agent, 2), undefined);
  assertEquals(
    await why(agent, 4),
    "not_found: There is no turn 4 in test:one: its turns are counted from 1, and it has 3",
  );
});

Deno.test("what came before a turn is what the context was then, whatever became of it", async () => {
  const model = scriptedModel([says("One"), fails("provider_error"), says("Two")]);
  await using agent = testAgent({ model });
  await agent.ask("first");
  await agent.ask("forgotten");
  await agent.journal.newContext(SESSION);
  await agent.ask("second");
  await agent.ask("third");
  const texts = async (number: number) =>
    (await record(agent, number)).context.map((message) =>
      message.role === "user" ? message.parts[0] : message.role
    );
  assertEquals(await texts(1), []);
  assertEquals(await texts(2), [{ type: "text", text: "first" }, "assistant"]);
  assertEquals(await texts(3), []);
  assertEquals(await texts(4), [{ type: "text", text: "second" }, "assistant"]);
});

Deno.test("firstDifference() names event and field, and what comes beyond the record", async () => {
  await using agent = testAgent({
    act,
    model: scriptedModel([calls(["read", { path: "a", deep: [1, { b: 2 }] }]), says("Done")]),
  });
  await agent.ask("hi");
  const recording = await record(agent);
  const changed = structuredClone(recording);
  const at = changed.events.findIndex(({ type }) => type === "tool_call");
  (changed.events[at] as Extract<AgentEvent, { type: "tool_call" }>).args = {
    path: "a",
    deep: [1, { b: 3 }],
  };
  assertEquals(firstDifference(changed.events, await replayTurn(changed)), {
    event: at + 1,
    type: "tool_call",
    field: "args.deep.1.b",
    recorded: 3,
    replayed: 2,
  });
  const shorter = { ...recording, answers: recording.answers.slice(0, 1) };
  const beyond = firstDifference(recording.events, await replayTurn(shorter))!;
  assertEquals([beyond.type, (beyond.replayed as { type: string }).type], ["text_delta", "error"]);
  const unanswered = { ...recording, actions: [] };
  const silent = firstDifference(recording.events, await replayTurn(unanswered))!;
  assertEquals([silent.type, silent.event], ["tool_progress", at + 2]);
  assertEquals(firstDifference([recording.events[0]!], []), {
    event: 1,
    type: "turn_start",
    recorded: recording.events[0],
  });
});

Deno.test("recordTurn() says why a turn can't be replayed", async (t) => {
  await t.step("it runs", async () => {
    await using agent = testAgent({ model: scriptedModel([hangs()]) });
    const handle = await agent.submit("hi");
    await until(handle, "turn_start");
    assertEquals(
      await why(agent),
      "conflict: Turn 1 of test:one can't be replayed: it hasn't ended",
    );
    handle.cancel();
    await eventsOf(handle);
  });
  await t.step("its context was shortened", async () => {
    const long = "word ".repeat(3_000);
    const model = scriptedModel([says("ok"), says("Summary"), says("ok")], {
      contextTokens: 8_000,
    });
    await using agent = testAgent({ model });
    for (const text of [long, long]) await agent.ask(text);
    assertEquals((await why(agent)).includes("its context was shortened"), true);
  });
  await t.step("it is of a fork", async () => {
    await using agent = testAgent();
    await agent.ask("hi");
    await agent.journal.forkSession({
      sourceKey: SESSION,
      targetKey: "test:two",
      beforeUserIndex: 1,
    });
    const fork = agent.journal.session("test:two")!;
    const error = await assertRejects(() => recordTurn(agent.journal, fork), ServiceError);
    assertEquals(error.message.includes("no events of it are on record here"), true);
  });
  await t.step("the service stopped in it", async () => {
    await using agent = testAgent({ act });
    const { journal } = agent;
    const input = [{ type: "text" as const, text: "hi" }];
    const turn = { id: "t", sessionKey: SESSION, channel: "test", actor: "a", input };
    await journal.accept({ ...turn, durable: true }, { begin: { model: "m" } });
    await journal.recover();
    agent.turns.recovered([journal.turn("t")!]);
    await eventsOf(agent.turns.find("t")!);
    assertEquals((await why(agent)).includes("ran it again"), true);
    await journal.accept({ ...turn, id: "u", durable: false }, { begin: { model: "m" } });
    const call = { callId: "c", tool: "read", args: {} };
    await journal.addMessage("u", { role: "assistant", text: "", calls: [call] }, {
      events: [
        { type: "tool_call", ...call, hint: "" },
        { type: "tool_progress", callId: "c", tool: "read", text: "half" },
      ],
    });
    await journal.recover();
    assertEquals((await why(agent)).includes("while a tool ran"), true);
  });
});

Deno.test("readRecording() names what is wrong with a file", async () => {
  await using agent = testAgent();
  await agent.ask("hi");
  const recording = await record(agent);
  const messageOf = (text: string) => {
    try {
      readRecording(text);
    } catch (error) {
      return (error as ServiceError).message;
    }
  };
  const text = JSON.stringify(recording);
  const of = (changes: object) => messageOf(JSON.stringify({ ...recording, ...changes }));
  assertEquals(messageOf(text.slice(0, -10)), "Invalid recording: it isn't JSON. Save it again");
  assertEquals(
    of({ version: 2 }),
    "Invalid recording: it has version 2, and this program reads up to version 1. Upgrade with: service upgrade",
  );
  assertEquals(messageOf("null")?.startsWith("Invalid recording: its value: "), true);
  assertEquals(of({ events: [] })?.startsWith("Invalid recording: events: "), true);
  assertEquals(
    of({ answers: [[{ type: "text" }]] })?.startsWith("Invalid recording: answers.0.0.text: "),
    true,
  );
  assertEquals(of({ context: [{ role: "user" }] })?.includes("context.0.parts"), true);
  assertEquals(messageOf(" ".repeat(33 * 1024 * 1024)), "The recording is larger than 32 MiB");
  // Whatever else is in it, a replay ends.
  const events = [{ type: "turn_start", model: 3 }] as unknown as AgentEvent[];
  const odd = { ...recording, events, answers: [], actions: [], input: recording.input };
  assertEquals((await replayTurn(odd)).at(-1)?.type, "turn_end");
});

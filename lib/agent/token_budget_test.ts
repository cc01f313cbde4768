import { assertEquals, assertStringIncludes } from "@std/assert";
import { openJournal } from "../journal/open.ts";
import { withFolder } from "../journal/testing/steps.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import { calls, finish, hangs, says, scriptedModel, yields } from "./testing/scripted_model.ts";
import { only, testAgent, until } from "./testing/test_agent.ts";
import type { TurnAutomation } from "../contract/turns.ts";

function automation(change: Partial<TurnAutomation> = {}): TurnAutomation {
  return { id: "aut_a", digest: "d", maxSteps: 5, tokenBudget: 1_000, ...change };
}

function saysWith(text: string, inputTokens: number, outputTokens: number) {
  return yields([{ type: "text", text }, finish({ usage: { inputTokens, outputTokens } })]);
}

function callsWith(inputTokens: number) {
  return yields([
    { type: "call", call: { callId: "c1", tool: "read", args: { n: inputTokens } } },
    finish({ usage: { inputTokens } }),
  ]);
}

Deno.test("TokenBudget ends a run as failed once its calls have used more, and runs no tool of that call", async () => {
  const model = scriptedModel([callsWith(600), callsWith(500), says("never")]);
  await using agent = testAgent({ model });
  const events = await agent.ask("go", { automation: automation() });
  assertEquals(grammarFaults(events), []);
  const { code, message, param } = only(events, "error")[0]!.error;
  assertEquals([code, param], ["token_budget", "tokenBudget"]);
  assertStringIncludes(message, "1100 tokens of its budget of 1000");
  assertEquals([model.requests.length, agent.acts.length], [2, 1]);
  assertEquals(only(events, "usage").length, 2);
});

Deno.test("TokenBudget counts the answer too, and lets what is just within it pass", async () => {
  for (const [outputTokens, status] of [[400, "done"], [401, "failed"]] as const) {
    await using agent = testAgent({ model: scriptedModel([saysWith("hi", 600, outputTokens)]) });
    const events = await agent.ask("go", { automation: automation() });
    assertEquals(only(events, "turn_end")[0]!.status, status);
    assertEquals(grammarFaults(events), []);
  }
});

Deno.test("TokenBudget asks no model when nothing is left", async () => {
  const model = scriptedModel([callsWith(1_000), says("never")]);
  await using agent = testAgent({ model });
  const events = await agent.ask("go", { automation: automation() });
  assertEquals([model.requests.length, agent.acts.length], [1, 1]);
  assertEquals(only(events, "error")[0]!.error.code, "token_budget");
});

Deno.test("TokenBudget estimates the tokens of a provider that counts none", async () => {
  const model = scriptedModel([says("x".repeat(8_000))]);
  await using agent = testAgent({ model });
  const events = await agent.ask("go", { automation: automation({ tokenBudget: 2_000 }) });
  assertEquals(only(events, "error")[0]!.error.code, "token_budget");
  const wide = testAgent({ model: scriptedModel([says("x".repeat(8_000))]) });
  const within = await wide.ask("go", { automation: automation({ tokenBudget: 20_000 }) });
  assertEquals(only(within, "turn_end")[0]!.status, "done");
  await wide[Symbol.asyncDispose]();
});

Deno.test("runTurn() makes no more model calls than its automation, or the agent, may", async () => {
  for (const [own, all, most] of [[2, 50, 2], [9, 3, 3]] as const) {
    const model = scriptedModel(
      Array.from({ length: 20 }, (_, at) => calls(["read", { at }])),
    );
    await using agent = testAgent({ model, agent: { maxSteps: all } });
    const events = await agent.ask("go", {
      automation: automation({ maxSteps: own, tokenBudget: 1_000_000 }),
    });
    assertEquals(model.requests.length, most);
    assertEquals(only(events, "error")[0]!.error.code, "max_steps");
  }
});

Deno.test("runTurn() tells the gate of which automation it is, and counts on after a crash", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const crashed = `${folder}/crashed.db`;
    const journal = openJournal({ path });
    const first = testAgent({
      journal,
      model: scriptedModel([callsWith(900), hangs()]),
    });
    const request = { durable: true, attended: false, automation: automation() };
    const handle = await first.submit("go", { ...request, sessionKey: "automation:aut_a" });
    await until(handle, "tool_result");
    assertEquals(first.acts[0]!.context.automation, { id: "aut_a", digest: "d" });
    assertEquals(first.acts[0]!.context.attended, false);
    for (const suffix of ["", "-wal"]) Deno.copyFileSync(path + suffix, crashed + suffix);
    handle.cancel();
    await Array.fromAsync(handle.events());
    await journal.close();

    const again = openJournal({ path: crashed });
    const model = scriptedModel([callsWith(50), saysWith("done", 60, 1)]);
    const second = testAgent({ journal: again, model, idPrefix: "b" });
    second.turns.recovered((await again.recover()).resume);
    const events = await Array.fromAsync(second.turns.find(handle.id)!.events());
    assertEquals(second.acts[0]!.context.automation, { id: "aut_a", digest: "d" });
    const [error] = only(events.map(({ event }) => event), "error");
    assertEquals(error!.error.code, "token_budget");
    assertStringIncludes(error!.error.message, "1011 tokens");
    await again.close();
  }));

Deno.test("runTurn() says in a rehearsal that it is one", async () => {
  await using agent = testAgent({ model: scriptedModel([calls(["read", {}]), says("ok")]) });
  await agent.ask("go", { automation: automation({ rehearsal: "com_1", tokenBudget: 9_999 }) });
  const { automation: told, rehearsal } = agent.acts[0]!.context;
  assertEquals([told, rehearsal], [{ id: "aut_a", digest: "d" }, "com_1"]);
});

Deno.test("a run of an automation begins a context of its own, with what came of an earlier run", async () => {
  const model = scriptedModel();
  await using agent = testAgent({ model });
  const sessionKey = "automation:aut_a";
  await agent.ask("one", { sessionKey, automation: automation({ tokenBudget: 99_999 }) });
  await agent.ask("two", { sessionKey, automation: automation({ tokenBudget: 99_999 }) });
  const lastResult = "Nothing new.";
  await agent.ask("three", {
    sessionKey,
    automation: automation({ tokenBudget: 99_999, lastResult }),
  });
  const text = (text: string) => ({ role: "user", parts: [{ type: "text", text }] });
  assertEquals(model.requests.map(({ messages }) => messages as unknown), [
    [text("one")],
    [text("two")],
    [{ role: "summary", text: lastResult }, text("three")],
  ]);
  assertStringIncludes(model.requests[0]!.system, "automation");
  const { id } = agent.journal.session(sessionKey)!;
  assertEquals(agent.journal.history(id, 0, 99).length, 7);
  // What a person says in it goes on from there.
  await agent.ask("four", { sessionKey });
  assertEquals(model.requests[3]!.messages.length, 4);
  assertEquals(model.requests[3]!.system.includes("automation"), false);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { estimateTokens } from "../model/tokens.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import {
  type Answer,
  calls,
  fails,
  finish,
  says,
  scriptedModel,
  yields,
} from "./testing/scripted_model.ts";
import { only, testAgent, textOf } from "./testing/test_agent.ts";
import type { ModelRequest } from "../model/port.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { needs } from "../../tests/support/needs.ts";

const isSummaryCall = ({ tools }: ModelRequest) => tools.length === 0;

/** Answers summary calls with `summary` and others with "ok". */
function model(contextTokens: number, summary: Answer = says("THE SUMMARY")) {
  const answer: Answer = (request) => (isSummaryCall(request) ? summary : says("ok"))(request);
  return scriptedModel(Array.from({ length: 200 }, () => answer), { contextTokens });
}

/** Estimated tokens of a request's messages. */
function tokensOf({ messages }: ModelRequest): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

function sessionId(agent: ReturnType<typeof testAgent>): number {
  return agent.journal.session("test:one")!.id;
}

Deno.test("ContextWindow keeps a long conversation within its bound, and the raw history whole", async () => {
  const fake = model(4_000);
  await using agent = testAgent({ model: fake });
  const said: string[] = [];
  for (let n = 0; n < 30; n++) {
    const text = `message ${n} ${"x".repeat(1_000)}`;
    said.push(text);
    const events = await agent.ask(text);
    assertEquals(only(events, "turn_end")[0]!.status, "done");
    assertEquals(grammarFaults(events), []);
  }
  const asked = fake.requests.filter((request) => !isSummaryCall(request));
  assertEquals(asked.length, 30);
  for (const request of asked) assert(tokensOf(request) <= 3_000, `${tokensOf(request)}`);
  const summaries = fake.requests.filter(isSummaryCall).length;
  assert(summaries > 0 && summaries < 10, `${summaries} summaries`);
  assertStringIncludes(JSON.stringify(asked.at(-1)!.messages[0]), "THE SUMMARY");
  const history = agent.journal.history(sessionId(agent), 0, 1_000);
  const people = history.flatMap(({ message }) => message.role === "user" ? message.parts : []);
  assertEquals(people, said.map((text) => ({ type: "text", text })));
});

Deno.test("ContextWindow says that it summarizes, with a notice and a summary event", async () => {
  const fake = model(4_000);
  await using agent = testAgent({ model: fake });
  await agent.ask("a".repeat(4_000));
  await agent.ask("b".repeat(4_000));
  const events = await agent.ask("c".repeat(4_000));
  assertStringIncludes(only(events, "notice")[0]!.text, "being summarized");
  assertEquals(only(events, "summary"), [{ type: "summary", text: "THE SUMMARY" }]);
  assertEquals(textOf(events), "ok");
});

Deno.test("ContextWindow repeats the request in hand behind a summary that covers it", async () => {
  const step: Answer = (request) =>
    (isSummaryCall(request) ? says("THE SUMMARY") : calls(["read", { n: fake.requests.length }]))(
      request,
    );
  const fake = scriptedModel([...Array.from({ length: 12 }, () => step), says("done")], {
    contextTokens: 4_000,
  });
  let outputs = 0;
  await using agent = testAgent({
    model: fake,
    act: () => Promise.resolve({ status: "ok", output: `${++outputs} ${"o".repeat(2_000)}` }),
  });
  const events = await agent.ask("Find the needle");
  assertEquals(textOf(events), "done");
  assertEquals(grammarFaults(events), []);
  const summarized = fake.requests.filter(({ messages }) => messages[0]?.role === "summary");
  assert(summarized.length > 2);
  for (const { messages } of summarized) {
    assertStringIncludes(JSON.stringify(messages[0]), "Find the needle");
    assert(messages[1]!.role !== "tool");
  }
});

Deno.test("ContextWindow falls back to excerpts when no summary can be had, and says so", async () => {
  for (
    const summary of [fails("provider_error"), says(" "), says("s".repeat(100_000)), yields([])]
  ) {
    const fake = model(4_000, summary);
    await using agent = testAgent({ model: fake });
    await agent.ask(`first ${"a".repeat(4_000)}`);
    await agent.ask("b".repeat(4_000));
    const events = await agent.ask("c".repeat(4_000));
    assertEquals(only(events, "turn_end")[0]!.status, "done");
    assertStringIncludes(only(events, "notice")[1]!.text, "No summary could be made");
    assertStringIncludes(only(events, "summary")[0]!.text, "Person: first");
  }
});

Deno.test("ContextWindow cuts a single message that is too long, states it, and keeps it raw", async () => {
  const fake = model(3_000);
  await using agent = testAgent({ model: fake });
  const long = `begin ${"x".repeat(100_000)} end`;
  const events = await agent.ask(long);
  assertEquals(textOf(events), "ok");
  const shown = JSON.stringify(fake.requests[0]!.messages);
  assertStringIncludes(shown, "left out to fit");
  assertStringIncludes(shown, "begin ");
  assertStringIncludes(only(events, "notice")[0]!.text, "left out");
  assertStringIncludes(JSON.stringify(agent.journal.history(sessionId(agent), 0, 1)), long);
});

Deno.test("ContextWindow believes a model that says the request is too long", async () => {
  // The window is a quarter of what is configured.
  const fake = scriptedModel(
    Array.from(
      { length: 40 },
      (): Answer => (request) =>
        (tokensOf(request) > 1_500 ? fails("context_overflow") : says("ok"))(request),
    ),
    { contextTokens: 100_000 },
  );
  await using agent = testAgent({ model: fake });
  for (let n = 0; n < 8; n++) {
    const events = await agent.ask(`${n} ${"x".repeat(2_000)}`);
    assertEquals(textOf(events), "ok", JSON.stringify(events.at(-2)));
  }
});

Deno.test("ContextWindow ends the turn with context_overflow when nothing helps, not with a loop", async () => {
  const fake = scriptedModel(Array.from({ length: 100 }, () => fails("context_overflow")));
  await using agent = testAgent({ model: fake });
  const events = await agent.ask(`hi ${"x".repeat(10_000)}`);
  assertEquals(only(events, "error")[0]!.error.code, "context_overflow");
  assert(fake.requests.length <= 8, `${fake.requests.length} calls`);
  // What failed is forgotten, so the next turn is not in its way.
  assertEquals(agent.journal.context(sessionId(agent)), []);
});

Deno.test("ContextWindow corrects its estimates by what the provider counted", async () => {
  // Every token of the estimate is three for this model.
  const answer: Answer = (request) => {
    const inputTokens = 3 * (tokensOf(request) + Math.ceil(request.system.length / 4));
    return yields([{ type: "text", text: "ok" }, finish({ usage: { inputTokens } })])(request);
  };
  const fake = scriptedModel(Array.from({ length: 60 }, () => answer), { contextTokens: 12_000 });
  await using agent = testAgent({ model: fake, tools: [] });
  for (let n = 0; n < 20; n++) await agent.ask("x".repeat(1_200));
  const summary = fake.requests.findIndex(({ messages }) => messages[0]?.role === "summary");
  assert(summary > 0 && summary < 12, `the first summary came before request ${summary}`);
});

Deno.test(
  needs(
    "ContextWindow bounds the number of messages too, so that a turn costs the same later",
    FULL_RUN,
  ),
  async () => {
    const fake = scriptedModel(Array.from({ length: 3_000 }, () => says("ok")));
    await using agent = testAgent({ model: fake });
    for (let n = 0; n < 1_200; n++) await agent.ask("hi");
    const most = Math.max(...fake.requests.map(({ messages }) => messages.length));
    assertEquals([most, fake.requests.filter(isSummaryCall).length], [1_000, 3]);
  },
);

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { eventsOf, only, testAgent, textOf } from "./testing/test_agent.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import {
  calls,
  fails,
  finish,
  hangs,
  says,
  scriptedModel,
  yields,
} from "./testing/scripted_model.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Answer } from "../contract/turns.ts";

const input = [{ type: "text" as const, text: "Give it a title" }];

async function read(answer: Answer): Promise<AgentEvent[]> {
  return (await Array.fromAsync(answer.events())).map(({ event }) => event);
}

Deno.test("W16 aside() asks the model alone: no session, no tools, nothing on record", async () => {
  const model = scriptedModel([says("A ", "title")]);
  await using agent = testAgent({ model });
  const events = await read(agent.turns.aside({ input }));
  assertEquals(grammarFaults(events), []);
  assertEquals(textOf(events), "A title");
  const [{ system, messages, tools }] = model.requests as [typeof model.requests[0]];
  assertEquals([system, tools], ["", []]);
  assertEquals(messages, [{ role: "user", parts: input }]);
  assertEquals(agent.journal.sessions({ limit: 1 }), []);
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
});

Deno.test("W16 aside() does not wait for the conversation, nor the conversation for it", async () => {
  const model = scriptedModel([hangs(), says("title"), says("later")]);
  await using agent = testAgent({ model });
  const turn = await agent.submit("hi");
  await model.asked(1);
  assertEquals(textOf(await read(agent.turns.aside({ input }))), "title");
  turn.cancel();
  assertEquals(only(await eventsOf(turn), "turn_end")[0]!.status, "cancelled");
});

Deno.test("aside() tells a failure as a turn does, its streams closed", async () => {
  const reasoning = { type: "reasoning" as const, text: "hm" };
  const model = scriptedModel([
    yields([reasoning, { type: "text", text: "half" }], fails("provider_error")),
    yields([reasoning], fails("provider_error")),
  ]);
  await using agent = testAgent({ model });
  for (let round = 0; round < 2; round++) {
    const events = await read(agent.turns.aside({ input }));
    assertEquals(grammarFaults(events), []);
    assertEquals(only(events, "error")[0]!.error.code, "provider_error");
    assertEquals(only(events, "turn_end")[0]!.status, "failed");
  }
  assertStringIncludes(agent.logs[0]!.message, "beside the conversation");
});

Deno.test("W6 aside() fails when the model says nothing, or calls a tool that it was not given", async () => {
  const model = scriptedModel([
    says(),
    says(" \n"),
    calls(["read", {}]),
    yields([{ type: "reasoning", text: "hm" }, finish({ reason: "length" })]),
  ]);
  await using agent = testAgent({ model });
  for (let round = 0; round < 4; round++) {
    const events = await read(agent.turns.aside({ input }));
    assertEquals(grammarFaults(events), []);
    assertEquals(only(events, "error")[0]!.error.code, "empty_answer");
    assertEquals(only(events, "turn_end")[0]!.status, "failed");
  }
});

Deno.test("aside() ends when it is cancelled, also before it was read, and when time is up", async () => {
  const model = scriptedModel([hangs(), hangs()]);
  await using agent = testAgent({ model });
  const running = agent.turns.aside({ input });
  const events = read(running);
  const { signal } = await model.asked(1);
  running.cancel();
  assert(signal.aborted);
  assertEquals(only(await events, "turn_end")[0]!.status, "cancelled");

  const unread = agent.turns.aside({ input });
  unread.cancel();
  assertEquals(only(await read(unread), "turn_end")[0]!.status, "cancelled");
  assertEquals(model.requests.length, 1);

  const slow = read(agent.turns.aside({ input, timeoutMs: 1_000 }));
  await model.asked(2);
  agent.clock.tick(1_000);
  assertEquals(only(await slow, "turn_end")[0]!.status, "timed_out");
  assertEquals(agent.turns.counts().running, 0);
});

Deno.test("aside() is bounded, and a stopping service takes no more and ends those that run", async () => {
  const model = scriptedModel(Array.from({ length: 64 }, hangs));
  await using agent = testAgent({ model });
  const open = Array.from({ length: 64 }, () => read(agent.turns.aside({ input })));
  const full = assertThrows(() => agent.turns.aside({ input }), ServiceError);
  assertEquals(full.code, "queue_full");
  const drained = agent.turns.drain({ graceMs: 5 });
  assertEquals(assertThrows(() => agent.turns.aside({ input }), ServiceError).code, "draining");
  agent.clock.tick(5);
  await drained;
  for (const events of await Promise.all(open)) {
    assertEquals(only(events, "turn_end")[0]!.status, "interrupted");
  }
});

Deno.test("aside() starts over for each reader and asks the model once", async () => {
  const model = scriptedModel([yields([{ type: "text", text: "once" }, finish()])]);
  await using agent = testAgent({ model });
  const answer = agent.turns.aside({ input });
  const [first, second] = await Promise.all([read(answer), read(answer)]);
  assertEquals(first, second);
  assertEquals(await read(answer), first);
  assertEquals(model.requests.length, 1);
});

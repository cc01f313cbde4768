import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "../journal/open.ts";
import type { Journal } from "../contract/journal.ts";
import type { AgentEvent } from "../contract/events.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import {
  type Answer,
  calls,
  fails,
  finish,
  hangs,
  ignoresAbort,
  says,
  scriptedModel,
  yields,
} from "./testing/scripted_model.ts";
import { eventsOf, only, testAgent, textOf, until } from "./testing/test_agent.ts";

function endOf(events: readonly AgentEvent[]) {
  const end = only(events, "turn_end")[0]!;
  return [end.status, only(events, "error")[0]?.error.code];
}

/** Lets commits happen. */
/** How long a turn holds what nobody follows, milliseconds. */
const HOLD_MS = 50;

const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** A promise with its resolver, and an answer that waits for it. */
function gate(answer: Answer = says("ok")) {
  const open = Promise.withResolvers<void>();
  const waits: Answer = async function* (request) {
    await open.promise;
    yield* answer(request);
  };
  return { open: () => open.resolve(), waits };
}

/** A journal whose writes of these names fail while `broken()` says so. */
function faulty(names: readonly (keyof Journal)[], broken: () => boolean): Journal {
  const journal = openJournal({ path: ":memory:" });
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) =>
        names.includes(name as keyof Journal) && broken()
          ? Promise.reject(new Error("disk full"))
          : value.apply(target, args);
    },
  });
}

Deno.test("submit() runs turns of a session one at a time, in the order of submission", async () => {
  const first = gate(says("one"));
  const model = scriptedModel([first.waits, says("two"), says("three")]);
  await using agent = testAgent({ model });
  const handles = await Promise.all(["a", "b", "c"].map((text) => agent.submit(text)));
  assertEquals(
    handles.map(({ turn }) => turn.input[0]),
    ["a", "b", "c"].map((text) => ({ type: "text" as const, text })),
  );
  await model.asked(1);
  await settle();
  assertEquals([model.requests.length, agent.turns.counts()], [1, { running: 1, queued: 2 }]);
  const all = Promise.all(handles.map(eventsOf));
  first.open();
  assertEquals((await all).map(textOf), ["one", "two", "three"]);
  // Each was given the answer before it, and no question after it.
  assertEquals(model.requests.map(({ messages }) => messages.length), [1, 3, 5]);
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
});

Deno.test("submit() runs turns of different sessions beside each other", async () => {
  const slow = gate();
  const model = scriptedModel([slow.waits, says("fast")]);
  await using agent = testAgent({ model });
  const waiting = agent.ask("a", { sessionKey: "test:a" });
  await model.asked(1);
  assertEquals(textOf(await agent.ask("b", { sessionKey: "test:b" })), "fast");
  slow.open();
  assertEquals(textOf(await waiting), "ok");
});

Deno.test("submit() takes 64 that wait, refuses the next with queue_full, and stores nothing of it", async () => {
  const first = gate();
  const model = scriptedModel([first.waits]);
  await using agent = testAgent({ model });
  const accepted = await Promise.all(Array.from({ length: 65 }, (_, n) => agent.submit(`${n}`)));
  const error = await assertRejects(() => agent.submit("too many"), ServiceError);
  assertEquals(error.code, "queue_full");
  assertEquals(agent.journal.session("test:one")!.turns, 65);
  assertEquals(textOf(await agent.ask("x", { sessionKey: "test:two" })), "ok");
  first.open();
  const all = await Promise.all(accepted.map(eventsOf));
  assertEquals(all.map((events) => endOf(events)[0]), Array(65).fill("done"));
  assertEquals(textOf(await agent.ask("room again")), "ok");
});

Deno.test("submit() refuses with queue_full what is too much to hold beside what waits, in any session", async () => {
  const first = gate();
  const model = scriptedModel([first.waits]);
  await using agent = testAgent({ model, maxInputChars: 100 });
  const texts = ["a".repeat(60), "b".repeat(40)];
  const accepted = [
    await agent.submit(texts[0]!),
    await agent.submit(texts[1]!, { sessionKey: "test:two", durable: true }),
  ];
  const full = await assertRejects(
    () => agent.submit("c", { sessionKey: "test:three" }),
    ServiceError,
  );
  assertEquals([full.code, full.details.retryAfterS], ["queue_full", 1]);
  assertEquals(agent.journal.session("test:three"), undefined);
  const input = [{ type: "text" as const, text: "a title" }];
  assertEquals(assertThrows(() => agent.turns.aside({ input }), ServiceError).code, "queue_full");
  first.open();
  for (const handle of accepted) assertEquals(endOf(await eventsOf(handle))[0], "done");
  await settle();
  assertEquals(textOf(await agent.ask("c".repeat(100))), "ok");
});

Deno.test("submit() refuses what cannot be a turn before anything is stored, naming the field", async () => {
  await using agent = testAgent();
  const cases: [Parameters<typeof agent.submit>, string, string][] = [
    [[" \n"], "no_user_message", "input"],
    [["hi", { input: [] }], "no_user_message", "input"],
    [["hi", { sessionKey: "nochannel" }], "invalid_request", "sessionKey"],
    [["hi", { timeoutMs: 0 }], "invalid_request", "timeoutMs"],
    [["hi", { timeoutMs: NaN }], "invalid_request", "timeoutMs"],
    [["hi", { actor: "" }], "invalid_request", "actor"],
  ];
  for (const [args, code, param] of cases) {
    const error = await assertRejects(() => agent.submit(...args), ServiceError);
    assertEquals([error.code, error.details.param], [code, param]);
  }
  await assertRejects(() => agent.submit("hi", { model: "nobody" }), Error, "No model nobody");
  assertEquals(agent.journal.sessions({ limit: 10 }), []);
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
  const image = { type: "image" as const, mediaType: "image/png", bytes: new Uint8Array(3) };
  assertEquals(textOf(await agent.ask("", { input: [image] })), "ok");
});

Deno.test("submit() gives its place back when the turn could not be accepted", async () => {
  let broken = true;
  const journal = faulty(["accept"], () => broken);
  await using agent = testAgent({ journal });
  await assertRejects(() => agent.submit("hi"), Error, "disk full");
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
  broken = false;
  assertEquals(textOf(await agent.ask("hi")), "ok");
  await journal.close();
});

Deno.test("submit() uses the model that is asked for", async () => {
  const other = scriptedModel([says("from the other")], { name: "other/model" });
  await using agent = testAgent({ models: { fast: other } });
  const events = await agent.ask("hi", { model: "fast" });
  assertEquals(textOf(events), "from the other");
  assertEquals(only(events, "turn_start")[0]!.model, "other/model");
});

Deno.test("cancel() ends a running turn as cancelled, aborts the model and keeps what was said", async () => {
  const model = scriptedModel([yields([{ type: "text", text: "so far" }], hangs()), says("ok")]);
  await using agent = testAgent({ model });
  const handle = await agent.submit("hi");
  await until(handle, "text_delta");
  handle.cancel();
  handle.cancel();
  const events = await eventsOf(handle);
  assertEquals(endOf(events), ["cancelled", "turn_cancelled"]);
  assertEquals(grammarFaults(events), []);
  assert(model.requests[0]!.signal.aborted);
  await agent.ask("again");
  assertEquals(model.requests[1]!.messages[1], { role: "assistant", text: "so far", calls: [] });
  assertEquals(agent.logs, []);
});

Deno.test("cancel() aborts the tools and keeps the result of one that ended in time", async () => {
  const model = scriptedModel([calls(["read", 1], ["read", 2], ["write", 3])]);
  const both = Promise.withResolvers<void>();
  await using agent = testAgent({
    model,
    act: ({ args }, { signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => {
          if (args === 1) resolve({ status: "ok", output: "just in time" });
          else reject(signal.reason);
        });
        if (args === 2) both.resolve();
      }),
  });
  const handle = await agent.submit("hi");
  await both.promise;
  handle.cancel();
  const events = await eventsOf(handle);
  assertEquals(endOf(events), ["cancelled", "turn_cancelled"]);
  assertEquals(only(events, "tool_result").map(({ status }) => status), [
    "ok",
    "interrupted",
    "interrupted",
  ]);
  assertStringIncludes(only(events, "tool_result")[2]!.output, "Not run");
  assertEquals(agent.acts.length, 2);
  assertEquals(grammarFaults(events), []);
});

Deno.test("cancel() ends a waiting turn at once, without running it", async () => {
  const first = gate();
  const model = scriptedModel([first.waits]);
  await using agent = testAgent({ model });
  const running = await agent.submit("a");
  const waiting = await agent.submit("b");
  const last = await agent.submit("c");
  await model.asked(1);
  waiting.cancel();
  const events = await eventsOf(waiting);
  assertEquals(events.map(({ type }) => type), ["turn_start", "error", "turn_end"]);
  assertEquals(endOf(events), ["cancelled", "turn_cancelled"]);
  assertEquals(agent.turns.counts(), { running: 1, queued: 1 });
  first.open();
  assertEquals(endOf(await eventsOf(running))[0], "done");
  await eventsOf(last);
  assertEquals(model.requests.map(({ messages }) => messages.length), [1, 3]);
});

Deno.test("cancel() changes nothing once the turn has ended", async () => {
  await using agent = testAgent();
  const handle = await agent.submit("hi");
  await eventsOf(handle);
  handle.cancel();
  assertEquals(endOf(await eventsOf(handle)), ["done", undefined]);
  assertEquals(agent.journal.turn(handle.turn.id)!.status, "done");
});

Deno.test("a turn ends as timed_out after the smaller of both bounds; waiting does not count", async () => {
  const first = gate();
  const model = scriptedModel([first.waits, hangs(), hangs()]);
  await using agent = testAgent({ model, agent: { turnTimeoutS: 20, stallTimeoutS: 1_000 } });
  const a = await agent.submit("a");
  const b = await agent.submit("b", { timeoutMs: 5_000 });
  const c = await agent.submit("c", { timeoutMs: 90_000 });
  await model.asked(1);
  agent.clock.tick(19_000);
  first.open();
  assertEquals(endOf(await eventsOf(a))[0], "done");
  await model.asked(2);
  agent.clock.tick(4_999);
  assertEquals(agent.journal.turn(b.turn.id)!.status, "running");
  agent.clock.tick(1);
  assertEquals(endOf(await eventsOf(b)), ["timed_out", "turn_timeout"]);
  await model.asked(3);
  agent.clock.tick(20_000);
  const events = await eventsOf(c);
  assertEquals(endOf(events), ["timed_out", "turn_timeout"]);
  assertStringIncludes(only(events, "error")[0]!.error.message, "longer than 20 s");
  assertEquals(agent.clock.timers(), 0);
});

Deno.test("W8 a model that is slow but alive is not taken for stuck", async () => {
  const pieces = [gate(), gate(), gate()];
  const slow: Answer = async function* (request) {
    for (const piece of pieces) {
      for await (const _ of piece.waits(request));
      yield { type: "text", text: "." };
    }
    yield finish();
  };
  await using agent = testAgent({
    model: scriptedModel([slow]),
    agent: { stallTimeoutS: 10, turnTimeoutS: 100 },
  });
  const handle = await agent.submit("hi");
  const events = handle.events()[Symbol.asyncIterator]();
  await events.next();
  for (const piece of pieces) {
    await settle();
    agent.clock.tick(9_000);
    piece.open();
    assertEquals((await events.next()).value!.event.type, "text_delta");
  }
  assertEquals(endOf(await eventsOf(handle)), ["done", undefined]);
});

Deno.test("W9 a model that is stuck and ignores its signal is noticed, ended, reported; its lane is free", async () => {
  const stuck = yields([{ type: "text", text: "well" }], ignoresAbort());
  const model = scriptedModel([stuck, says("next")]);
  await using agent = testAgent({ model, agent: { stallTimeoutS: 30 } });
  const handle = await agent.submit("hi");
  const next = await agent.submit("next");
  // Said while nobody followed.
  await settle();
  agent.clock.tick(HOLD_MS);
  await until(handle, "text_delta");
  agent.clock.tick(30_000);
  const events = await eventsOf(handle);
  assertEquals(endOf(events), ["failed", "turn_timeout"]);
  assertStringIncludes(
    only(events, "error")[0]!.error.message,
    "no sign of life from the model fake/model for 30 s",
  );
  assertEquals(grammarFaults(events), []);
  assertEquals(agent.logs.length, 1);
  assertEquals(textOf(await eventsOf(next)), "next");
});

Deno.test("W9 a tool that is stuck and ignores its signal is given a grace and left behind", async () => {
  const model = scriptedModel([calls(["write", {}]), says("next")]);
  const acting = Promise.withResolvers<void>();
  await using agent = testAgent({
    model,
    agent: { stallTimeoutS: 30 },
    act: () => (acting.resolve(), new Promise(() => {})),
  });
  const handle = await agent.submit("hi");
  await acting.promise;
  agent.clock.tick(30_000);
  await settle();
  agent.clock.tick(2_000);
  const events = await eventsOf(handle);
  assertEquals(endOf(events), ["failed", "turn_timeout"]);
  assertEquals(only(events, "tool_result")[0]!.status, "interrupted");
  assertStringIncludes(only(events, "error")[0]!.error.message, "the tool write");
  assertEquals(grammarFaults(events), []);
  // What it may have done stays known to the next turn.
  await agent.ask("next");
  assertEquals(model.requests[1]!.messages.map(({ role }) => role), [
    "user",
    "assistant",
    "tool",
    "user",
  ]);
});

Deno.test("W9 instructions that never come end the turn too", async () => {
  await using agent = testAgent({
    agent: { stallTimeoutS: 30 },
    instructions: () => new Promise(() => {}),
  });
  const handle = await agent.submit("hi");
  await until(handle, "turn_start");
  await settle();
  agent.clock.tick(30_000);
  assertEquals(endOf(await eventsOf(handle)), ["failed", "turn_timeout"]);
});

Deno.test("a turn that cannot be recorded ends as failed; its caller is told and its lane is free", async () => {
  let broken = false;
  const journal = faulty(["append", "addMessage"], () => broken);
  const breaks: Answer = async function* (request) {
    yield { type: "text", text: "a" };
    broken = true;
    yield { type: "text", text: "b" };
    yield* hangs()(request);
  };
  const model = scriptedModel([breaks, says("better")]);
  await using agent = testAgent({ model, journal });
  const handle = await agent.submit("hi");
  const events = await eventsOf(handle);
  assertEquals(endOf(events), ["failed", "turn_failed"]);
  assertEquals(grammarFaults(events), []);
  const { logId } = only(events, "error")[0]!.error;
  assert(agent.logs.some(({ fields }) => fields?.logId === logId));
  broken = false;
  assertEquals(textOf(await agent.ask("again")), "better");
  await journal.close();
});

Deno.test("a turn of whose answer a piece cannot be recorded does not end as done", async () => {
  const journal = faulty(["append"], () => true);
  const answer = gate();
  await using agent = testAgent({ journal, model: scriptedModel([answer.waits]) });
  const handle = await agent.submit("hi");
  const reading = eventsOf(handle);
  await settle();
  // It is followed, so that what is said is written at once.
  assert(journal.isFollowed(handle.turn.sessionId));
  answer.open();
  assertEquals(endOf(await reading), ["failed", "turn_failed"]);
  await journal.close();
});

Deno.test("what nobody follows is one piece, written with the answer and the end", async () => {
  const calls: string[] = [];
  const raw = openJournal({ path: ":memory:" });
  const journal = new Proxy(raw, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (["accept", "start", "append", "addMessage", "end"].includes(String(name))) {
          calls.push(String(name));
        }
        return value.apply(target, args);
      };
    },
  });
  await using agent = testAgent({ journal, model: scriptedModel([says("a", "b", "c")]) });
  const handle = await agent.submit("hi");
  const events: AgentEvent[] = [];
  for await (const { event } of handle.events(undefined, { patient: true })) events.push(event);
  assertEquals(calls, ["accept", "end"]);
  assertEquals(only(events, "text_delta").map(({ text }) => text), ["abc"]);
  assertEquals(endOf(events), ["done", undefined]);
  assertEquals(grammarFaults(events), []);
  assertEquals(agent.clock.timers(), 0);
  const roles = raw.context(handle.turn.sessionId).map(({ message }) => message.role);
  assertEquals(roles, ["user", "assistant"]);
  await raw.close();
});

Deno.test("what nobody follows is on record after a moment all the same", async () => {
  const model = scriptedModel([yields([{ type: "text", text: "half" }], hangs())]);
  await using agent = testAgent({ model });
  const { id, turn: { sessionId } } = await agent.submit("hi");
  await model.asked(1);
  await settle();
  const texts = async () =>
    (await Array.fromAsync(agent.journal.follow(sessionId, { afterSeq: 0, live: false })))
      .filter(({ event }) => event.type === "text_delta").length;
  assertEquals(await texts(), 0);
  agent.clock.tick(HOLD_MS);
  await settle();
  assertEquals(await texts(), 1);
  agent.turns.find(id)!.cancel();
  await agent.turns.drain({ graceMs: 0 });
});

Deno.test("a turn whose start cannot be recorded ends as failed", async () => {
  let broken = true;
  const journal = faulty(["start", "append"], () => broken);
  await using agent = testAgent({ journal });
  const handle = await agent.submit("hi");
  const reading = eventsOf(handle);
  await settle();
  broken = false;
  agent.clock.tick(1_000);
  const events = await reading;
  assertEquals(endOf(events), ["failed", "turn_failed"]);
  assertEquals(grammarFaults(events), []);
  await journal.close();
});

Deno.test("an end that cannot be recorded is tried once more, then told to whoever reads", async () => {
  let failures = 0;
  let limit = 1;
  let tried = Promise.withResolvers<void>();
  const journal = faulty(["end"], () => {
    tried.resolve();
    return failures++ < limit;
  });
  await using agent = testAgent({ journal });
  const handle = await agent.submit("hi");
  const reading = eventsOf(handle);
  await tried.promise;
  await settle();
  agent.clock.tick(1_000);
  assertEquals(endOf(await reading), ["done", undefined]);
  failures = 0;
  limit = 2;
  tried = Promise.withResolvers();
  const lost = await agent.submit("hi", { sessionKey: "test:two" });
  const failing = assertRejects(() => eventsOf(lost), ServiceError, "could not be recorded");
  await tried.promise;
  await settle();
  agent.clock.tick(1_000);
  await failing;
  await assertRejects(() => eventsOf(lost), ServiceError, "could not be recorded");
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
  await journal.close();
});

for (const tool of [false, true]) {
  const kind = tool ? "a turn that ran a tool and" : "a turn";
  for (const by of ["the clock", "the next turn"]) {
    Deno.test(`${kind} whose end was told as lost is ended when that can be recorded, by ${by}`, async () => {
      let isFull = false;
      const journal = faulty(["start", "append", "addMessage", "end"], () => isFull);
      const answer = gate();
      const model = scriptedModel([
        ...tool ? [calls(["write", {}])] : [],
        answer.waits,
        says("two"),
      ]);
      await using agent = testAgent({ journal, model });
      const lost = await agent.submit("one", { durable: true });
      const failing = assertRejects(() => eventsOf(lost), ServiceError, "could not be recorded");
      await model.asked(tool ? 2 : 1);
      isFull = true;
      answer.open();
      for (let s = 0; s < 3; s++) {
        await settle();
        agent.clock.tick(1_000);
      }
      await failing;
      agent.clock.tick(10_000);
      await settle();
      assertEquals(journal.turn(lost.turn.id)!.endedAt, undefined);
      isFull = false;
      if (by === "the clock") {
        agent.clock.tick(5_000);
        await settle();
      } else {
        assertEquals(textOf(await eventsOf(await agent.submit("two"))), "two");
      }
      const { status, error } = journal.turn(lost.turn.id)!;
      assertEquals([status, error?.code], ["failed", "turn_failed"]);
      await agent.turns.drain({ graceMs: 0 });
      assertEquals(agent.clock.timers(), 0);
      await journal.close();
    });
  }
}

Deno.test("W9 a journal that never answers does not hold a lane for ever", async () => {
  const journal = openJournal({ path: ":memory:" });
  let stuck = true;
  const hanging = new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) =>
        stuck && (name === "addMessage" || name === "end")
          ? new Promise(() => {})
          : value.apply(target, args);
    },
  });
  await using agent = testAgent({ journal: hanging, agent: { stallTimeoutS: 30 } });
  const handle = await agent.submit("hi");
  const failing = assertRejects(() => eventsOf(handle), ServiceError, "could not be recorded");
  await until(handle, "text_delta");
  for (const ms of [30_000, 10_000, 1_000, 10_000]) {
    await settle();
    agent.clock.tick(ms);
  }
  await failing;
  stuck = false;
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
  await journal.close();
});

Deno.test("an end that is committed late counts, and is not told as lost", async () => {
  const raw = openJournal({ path: ":memory:" });
  const late = Promise.withResolvers<void>();
  const tried = Promise.withResolvers<void>();
  const journal = new Proxy(raw, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "end") return typeof value === "function" ? value.bind(target) : value;
      return async (...args: Parameters<Journal["end"]>) => {
        tried.resolve();
        await late.promise;
        await target.end(...args);
      };
    },
  });
  await using agent = testAgent({ journal });
  const handle = await agent.submit("hi");
  const reading = eventsOf(handle);
  await tried.promise;
  await settle();
  agent.clock.tick(10_000);
  late.resolve();
  assertEquals(endOf(await reading), ["done", undefined]);
  await settle();
  agent.clock.tick(1_000);
  await settle();
  assertEquals(endOf(await eventsOf(handle)), ["done", undefined]);
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
  await raw.close();
});

Deno.test("events() gives a turn that ended already whole, to any number of readers", async () => {
  await using agent = testAgent({ model: scriptedModel([says("a"), says("b")]) });
  const first = await agent.submit("1");
  await eventsOf(first);
  const second = await agent.submit("2");
  const [a, b] = await Promise.all([eventsOf(second), eventsOf(second)]);
  assertEquals(a, b);
  assertEquals(textOf(await eventsOf(first)), "a");
  assertEquals(textOf(await eventsOf(second)), "b");
});

Deno.test("events() ends for a reader that is slower than the turn, and for a session that is gone", async () => {
  await using agent = testAgent({ model: scriptedModel([says(..."abcdefgh")]) });
  const handle = await agent.submit("hi");
  let text = "";
  for await (const { event } of handle.events()) {
    if (event.type === "text_delta") text += event.text;
    await settle();
    await settle();
  }
  assertEquals(text, "abcdefgh");
  await agent.journal.deleteSession("test:one");
  assertEquals(await eventsOf(handle), []);
});

Deno.test("events() ends when its signal aborts: before, while it waits, and while it follows", async () => {
  const first = gate();
  const model = scriptedModel([first.waits]);
  await using agent = testAgent({ model });
  const running = await agent.submit("a");
  const waiting = await agent.submit("b");
  assertEquals(await Array.fromAsync(running.events(AbortSignal.abort())), []);
  const stop = new AbortController();
  const reading = Array.fromAsync(waiting.events(stop.signal));
  const following = Array.fromAsync(running.events(stop.signal));
  await model.asked(1);
  await settle();
  stop.abort();
  assertEquals(await reading, []);
  assertEquals((await following).map(({ event }) => event.type), ["turn_start"]);
  first.open();
  assertEquals(endOf(await eventsOf(waiting))[0], "done");
});

Deno.test("drain() refuses new turns, ends waiting ones, lets running ones finish", async () => {
  const first = gate();
  const model = scriptedModel([first.waits]);
  await using agent = testAgent({ model });
  const running = await agent.submit("a");
  const waiting = await agent.submit("b");
  const kept = await agent.submit("c", { durable: true });
  await model.asked(1);
  const drained = agent.turns.drain({ graceMs: 30_000 });
  const error = await assertRejects(() => agent.submit("d"), ServiceError);
  assertEquals(error.code, "draining");
  assertEquals(endOf(await eventsOf(waiting)), ["interrupted", "turn_interrupted"]);
  await assertRejects(() => eventsOf(kept), ServiceError, "stopping");
  first.open();
  assertEquals(await drained, { interrupted: 1 });
  assertEquals(endOf(await eventsOf(running)), ["done", undefined]);
  assertEquals(agent.journal.turn(kept.turn.id)!.status, "queued");
  assertEquals(agent.clock.timers(), 0);
});

Deno.test("drain() interrupts what runs beyond the grace, and waits for its commit", async () => {
  const model = scriptedModel([
    yields([{ type: "text", text: "half" }], hangs()),
    ignoresAbort(),
  ]);
  await using agent = testAgent({ model });
  const a = await agent.submit("a", { sessionKey: "test:a" });
  const b = await agent.submit("b", { sessionKey: "test:b" });
  await Promise.all([model.asked(1), model.asked(2)]);
  await settle();
  agent.clock.tick(HOLD_MS);
  await until(a, "text_delta");
  const drained = agent.turns.drain({ graceMs: 30_000 });
  agent.clock.tick(29_999);
  await settle();
  assertEquals(agent.turns.counts().running, 2);
  agent.clock.tick(1);
  assertEquals(await drained, { interrupted: 2 });
  for (const handle of [a, b]) {
    assertEquals(agent.journal.turn(handle.turn.id)!.status, "interrupted");
    assertEquals(grammarFaults(await eventsOf(handle)), []);
  }
});

Deno.test("drain() gives a turn whose acceptance is still being written the grace, and no more", async () => {
  const slow = Promise.withResolvers<void>();
  const raw = openJournal({ path: ":memory:" });
  const journal = {
    ...raw,
    accept: async (...args: Parameters<Journal["accept"]>) => {
      const accepted = await raw.accept(...args);
      if (args[0].sessionKey === "test:slow") await slow.promise;
      return accepted;
    },
  };
  await using agent = testAgent({ journal });
  const submitting = ["test:a", "test:slow"].map((sessionKey) => agent.submit("a", { sessionKey }));
  const kept = agent.submit("a", { sessionKey: "test:slow", durable: true });
  const drained = agent.turns.drain({ graceMs: 1_000 });
  assertEquals(endOf(await eventsOf(await submitting[0]!)), ["done", undefined]);
  agent.clock.tick(1_000);
  slow.resolve();
  const ended = await eventsOf(await submitting[1]!);
  assertEquals(endOf(ended), ["interrupted", "turn_interrupted"]);
  assertEquals(grammarFaults(ended), []);
  assertEquals(raw.turn((await kept).id)!.status, "queued");
  assertEquals(await drained, { interrupted: 1 });
  await raw.close();
});

Deno.test("drain() starts no turn any more that waited for the end of the one before it", async () => {
  const end = Promise.withResolvers<void>();
  const [failed, tried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isFull = true;
  const raw = openJournal({ path: ":memory:" });
  const journal = {
    ...raw,
    end: async (...args: Parameters<Journal["end"]>) => {
      if (isFull) failed.resolve();
      if (isFull) throw new Error("disk full");
      tried.resolve();
      await end.promise;
      await raw.end(...args);
    },
  };
  await using agent = testAgent({ journal });
  const lost = await agent.submit("one");
  const failing = assertRejects(() => eventsOf(lost), ServiceError, "could not be recorded");
  await failed.promise;
  await settle();
  agent.clock.tick(1_000);
  await failing;
  isFull = false;
  const next = await agent.submit("two", { durable: true });
  await tried.promise;
  const drained = agent.turns.drain({ graceMs: 1_000 });
  agent.clock.tick(1_000);
  await assertRejects(() => eventsOf(next), ServiceError, "stopping");
  end.resolve();
  await drained;
  await settle();
  assertEquals(raw.turn(lost.turn.id)!.status, "done");
  assertEquals(raw.turn(next.turn.id)!.status, "queued");
  await raw.close();
});

Deno.test("drain() resolves at once when nothing runs", async () => {
  await using agent = testAgent();
  assertEquals(await agent.turns.drain({ graceMs: 30_000 }), { interrupted: 0 });
});

Deno.test("W5 recovered() goes on from the last committed step, and runs no tool again", async () => {
  const path = await Deno.makeTempFile();
  try {
    const before = openJournal({ path });
    const model = scriptedModel([calls(["write", { n: 1 }]), hangs()]);
    const crashed = testAgent({ model, journal: before });
    const handle = await crashed.submit("write one", { durable: true });
    const waiting = await crashed.submit("and then?", { durable: true });
    await model.asked(2);
    // The process is gone here: nothing is ended, only the file is let go.
    await before.close();

    const after = openJournal({ path });
    const { resume } = await after.recover();
    assertEquals(resume.map(({ id }) => id), [handle.turn.id, waiting.turn.id]);
    const again = scriptedModel([says("written"), says("that")]);
    const agent = testAgent({ model: again, journal: after });
    agent.turns.recovered(resume);
    for await (const { event, turnId } of after.follow(handle.turn.sessionId, { afterSeq: 0 })) {
      if (event.type === "turn_end" && turnId === waiting.turn.id) break;
    }
    assertEquals([crashed.acts.length, agent.acts.length], [1, 0]);
    assertEquals(again.requests[0]!.messages.map(({ role }) => role), [
      "user",
      "assistant",
      "tool",
    ]);
    const events = await Array.fromAsync(
      after.follow(handle.turn.sessionId, { afterSeq: 0, live: false }),
    );
    for (const { turn } of [handle, waiting]) {
      const own = events.filter(({ turnId }) => turnId === turn.id).map(({ event }) => event);
      assertEquals(grammarFaults(own), []);
      assertEquals(endOf(own), ["done", undefined]);
    }
    assertEquals(agent.acts.map(({ context }) => context.attended), []);
    await after.close();
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("the system prompt of a day's turns is the same, byte for byte", async () => {
  const model = scriptedModel();
  await using agent = testAgent({ model, instructions: () => Promise.resolve("Use tabs.") });
  await agent.ask("a");
  agent.clock.tick(3_600_000);
  await agent.ask("b", { sessionKey: "test:two", actor: "test:other" });
  agent.clock.tick(24 * 3_600_000);
  await agent.ask("c");
  const [a, b, c] = model.requests.map(({ system }) => system);
  assertEquals(b, a);
  assert(c !== a);
});

Deno.test("ten thousand events of a turn reach a reader, and nothing is left in flight", async () => {
  const model = scriptedModel([says(...Array.from({ length: 10_000 }, (_, n) => `${n} `))]);
  await using agent = testAgent({ model });
  const events = await agent.ask("hi");
  assertEquals(only(events, "text_delta").length, 10_000);
  assertEquals(agent.journal.counts().openTurns, 0);
  assertEquals(agent.clock.timers(), 0);
});

Deno.test("submit() ends a turn as done whose answer is on record, whatever comes in between", async () => {
  let recording = (_turnId: string) => {};
  const journal = openJournal({ path: ":memory:" });
  const noticed: Journal = new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result = value.apply(target, args);
        if (name === "addMessage") recording(args[0] as string);
        return result;
      };
    },
  });
  await using agent = testAgent({ journal: noticed });
  recording = (turnId) => agent.turns.find(turnId)?.cancel();
  const events = await agent.ask("hi");
  assertEquals(endOf(events), ["done", undefined]);
  assertEquals(only(events, "segment_end"), [{
    type: "segment_end",
    streamId: only(events, "text_delta")[0]!.streamId,
    resuming: false,
  }]);
  await journal.close();
});

Deno.test("submit() marks what a turn broke off in, so that it is not taken for the answer", async () => {
  const half = yields([{ type: "text", text: "The answer is" }], fails("provider_error"));
  await using agent = testAgent({ model: scriptedModel([half]) });
  const events = await agent.ask("hi");
  assertEquals(only(events, "segment_end").map(({ resuming, cut }) => [resuming, cut]), [
    [false, true],
  ]);
});

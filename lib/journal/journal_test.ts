import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { type AgentEvent, NO_USAGE } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { begin, ending, newTurn, replay, text, withFolder } from "./testing/steps.ts";
import { INTERRUPTED_OUTPUT } from "./turn_state.ts";
import type { Journal } from "../contract/journal.ts";
import { rounds } from "../../tests/support/rounds.ts";

const open = (now?: () => number) => openJournal({ path: ":memory:", now });

const answer = (text: string): Message => ({ role: "assistant", text, calls: [] });

/** Roles and texts of a context or a history, shortly. */
function shortly(messages: { message: Message }[]): string[] {
  return messages.map(({ message }) => {
    switch (message.role) {
      case "user":
        return `user: ${message.parts.map((part) => part.type === "text" ? part.text : "image")}`;
      case "tool":
        return `tool: ${message.results.map(({ output }) => output)}`;
      default:
        return `${message.role}: ${message.text}`;
    }
  });
}

/** A whole turn with one answer. */
async function runTurn(journal: Journal, id: string, sessionKey = "test:a"): Promise<void> {
  await begin(journal, id, { sessionKey });
  await journal.addMessage(id, answer(`answer of ${id}`));
  await journal.end(id, ending());
}

Deno.test("accept() makes the session and puts the turn on record", async () => {
  const journal = open(() => 1_000);
  const { turn } = await journal.accept(newTurn("a"));
  assertEquals(turn.status, "queued");
  assertEquals(journal.turn("a"), turn);
  assertEquals(journal.session("test:a"), {
    id: turn.sessionId,
    key: "test:a",
    title: "input of a",
    createdAt: 1_000,
    updatedAt: 1_000,
    turns: 1,
    lastSeq: 0,
  });
  assertEquals(journal.turn("none"), undefined);
  assertEquals(journal.session("none"), undefined);
  await journal.close();
});

Deno.test("accept() takes a title from the first turn that has text", async () => {
  const journal = open();
  const image = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
  await journal.accept(newTurn("a", { input: [image] }));
  assertEquals(journal.session("test:a")!.title, "");
  await journal.accept(newTurn("b"));
  await journal.accept(newTurn("c"));
  assertEquals(journal.session("test:a")!.title, "input of b");
  await journal.close();
});

Deno.test("accept() refuses an id that is on record and what SQLite would not keep", async () => {
  const journal = open();
  await journal.accept(newTurn("a"));
  const refusals: [Parameters<typeof newTurn>[1], string][] = [
    [{}, "id"],
    [{ id: "" }, "id"],
    [{ id: "b", sessionKey: "a\0b" }, "sessionKey"],
    [{ id: "b", actor: "\ud800" }, "actor"],
    [{ id: "b", channel: "" }, "channel"],
    [{ id: "b", input: [] }, "input"],
  ];
  for (const [changes, param] of refusals) {
    const error = await assertRejects(() => journal.accept(newTurn("a", changes)), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", param]);
  }
  assertEquals(journal.session("test:a")!.turns, 1);
  assertEquals(journal.counts().openTurns, 1);
  await journal.close();
});

Deno.test("accept() keeps any text of the input", async () => {
  const journal = open();
  const input = [{ type: "text" as const, text: "half \ud83d, NUL \0, quote \"'" }];
  await begin(journal, "a", { input });
  assertEquals(journal.turn("a")!.input, input);
  assertEquals(journal.context(1)[0]!.message, { role: "user", parts: input });
  await journal.close();
});

Deno.test("start() counts attempts and lets the user message in as the newest", async () => {
  let time = 0;
  const journal = open(() => time += 10);
  const { turn: { sessionId } } = await journal.accept(newTurn("a"));
  await journal.accept(newTurn("b"));
  assertEquals(journal.context(sessionId), []);
  await journal.start("a");
  await journal.addMessage("a", answer("answer of a"));
  assertEquals(shortly(journal.context(sessionId)), ["user: input of a", "assistant: answer of a"]);
  await journal.end("a", ending());
  await journal.start("b");
  const expected = ["user: input of a", "assistant: answer of a", "user: input of b"];
  assertEquals(shortly(journal.context(sessionId)), expected);
  const { startedAt } = journal.turn("b")!;
  await journal.start("b");
  assertEquals(shortly(journal.context(sessionId)), expected);
  const turn = journal.turn("b")!;
  assertEquals([turn.status, turn.attempts, turn.startedAt], ["running", 2, startedAt]);
  assert(turn.startedAt! > turn.acceptedAt);
  await journal.close();
});

Deno.test("start() sets afterSeq to where the turn's events begin", async () => {
  const journal = open();
  await begin(journal, "a");
  const { turn: waiting } = await journal.accept(newTurn("b"));
  assertEquals(waiting.afterSeq, 1);
  await journal.append("a", [text("1"), text("2")]);
  await journal.end("a", ending());
  await journal.start("b");
  await journal.append("b", [text("3")]);
  const { afterSeq, sessionId } = journal.turn("b")!;
  assertEquals((await replay(journal, sessionId, afterSeq)).map(({ turnId }) => turnId), ["b"]);
  await journal.close();
});

Deno.test("append(), start() and end() refuse a turn that is unknown or has ended", async () => {
  const journal = open();
  await begin(journal, "a");
  await journal.end("a", ending());
  for (const id of ["a", "none"]) {
    for (
      const write of [
        () => journal.append(id, [text("late")]),
        () => journal.start(id),
        () => journal.end(id, ending()),
        () => journal.addMessage(id, answer("late")),
        () => journal.compact(id, "late", 1),
      ]
    ) {
      const error = await assertRejects(write, ServiceError);
      assertEquals(error.code, "invalid_request");
      assertStringIncludes(error.message, id === "a" ? "has ended" : "there is none");
    }
  }
  assertEquals(journal.session("test:a")!.lastSeq, 2);
  await journal.close();
});

Deno.test("append() refuses events that have a write of their own, and what JSON cannot hold", async () => {
  const journal = open();
  await begin(journal, "a");
  const reserved: AgentEvent[] = [ending().event, { type: "summary", text: "x" }];
  for (const event of reserved) {
    await assertRejects(() => journal.append("a", [event]), ServiceError, event.type);
  }
  const call: AgentEvent = { type: "tool_call", callId: "c", tool: "t", args: 1n, hint: "" };
  await assertRejects(() => journal.append("a", [text("1"), call]), TypeError);
  assertEquals(await journal.append("a", []), 1);
  await journal.close();
});

Deno.test("addMessage() adds the events and the message together", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const end: AgentEvent = { type: "segment_end", streamId: "s", resuming: false };
  await journal.addMessage("a", answer("hi"), { events: [text("hi"), end] });
  assertEquals((await replay(journal, sessionId, 1)).map(({ event }) => event), [text("hi"), end]);
  const [, stored] = journal.context(sessionId);
  assertEquals(stored, { id: stored!.id, turnId: "a", message: answer("hi"), tokens: 1 });
  await journal.close();
});

Deno.test("end() sets the row and says the error before the end", async () => {
  let now = 3_000;
  const journal = open(() => now);
  const { sessionId } = await begin(journal, "a");
  const usage = { inputTokens: 1, outputTokens: 2, reasoningTokens: 3, cachedTokens: 4 };
  await journal.append("a", [{ type: "usage", model: "test/other", usage }]);
  now = 5_000;
  const event = { ...ending("failed").event, usage };
  const error = { code: "provider_error" as const, message: "no", providerStatus: 500 };
  await journal.end("a", { event, error, forget: true });
  const { status, endedAt, ...turn } = journal.turn("a")!;
  assertEquals([status, endedAt, turn.usage, turn.error], ["failed", 5_000, usage, error]);
  const models = [{ model: "test/model", usage: NO_USAGE }, { model: "test/other", usage }];
  assertEquals(turn.models, models);
  assertEquals((await replay(journal, sessionId, 2)).map(({ event }) => event), [
    { type: "error", error },
    { ...event, models, tookMs: 2_000 },
  ]);
  assertEquals(journal.counts().openTurns, 0);
  await journal.close();
});

Deno.test("end() with forget takes the turn's messages out of the context, not off the record", async () => {
  const journal = open();
  await runTurn(journal, "a");
  const { sessionId } = await begin(journal, "b");
  await journal.addMessage("b", answer("half"));
  await journal.end("b", ending("failed", true));
  await runTurn(journal, "c");
  assertEquals(shortly(journal.context(sessionId)), [
    "user: input of a",
    "assistant: answer of a",
    "user: input of c",
    "assistant: answer of c",
  ]);
  assertEquals(shortly(journal.history(sessionId, 0, 10))[3], "assistant: half");
  await journal.close();
});

Deno.test("end() of a turn that never started puts its input on record", async () => {
  const journal = open();
  const { turn: { sessionId } } = await journal.accept(newTurn("a"));
  await journal.accept(newTurn("b"));
  await journal.end("a", ending("cancelled", true));
  await journal.end("b", ending("cancelled", false));
  assertEquals(shortly(journal.context(sessionId)), ["user: input of b"]);
  assertEquals(shortly(journal.history(sessionId, 0, 10)), [
    "user: input of a",
    "user: input of b",
  ]);
  await journal.close();
});

Deno.test("end() closes what the turn left open, in events and in messages", async () => {
  const journal = open(() => 5_000);
  const { sessionId } = await begin(journal, "a");
  const call = { callId: "c1", tool: "read_file", args: { path: "x" } };
  await journal.addMessage("a", { role: "assistant", text: "let me see", calls: [call] }, {
    events: [{ type: "tool_call", ...call, hint: "read_file x" }],
  });
  await journal.append("a", [text("more"), {
    type: "reasoning_delta",
    streamId: "r",
    text: "hm",
  }]);
  await journal.end("a", ending("cancelled"));
  assertEquals((await replay(journal, sessionId, 4)).map(({ event }) => event), [
    { type: "segment_end", streamId: "s", resuming: false, cut: true },
    { type: "reasoning_end", streamId: "r" },
    {
      type: "tool_result",
      callId: "c1",
      tool: "read_file",
      status: "interrupted",
      output: INTERRUPTED_OUTPUT,
    },
    {
      ...ending("cancelled").event,
      models: [{ model: "test/model" }],
      tookMs: 0,
    },
  ]);
  assertEquals(shortly(journal.context(sessionId)), [
    "user: input of a",
    "assistant: let me see",
    `tool: ${INTERRUPTED_OUTPUT}`,
    "assistant: more",
  ]);
  await journal.close();
});

Deno.test("contextBefore() is what the context was when a turn began, whatever was done to it since", async () => {
  const journal = open();
  for (const id of ["a", "b"]) await runTurn(journal, id);
  const { sessionId } = await begin(journal, "c");
  const before = (number: number) =>
    shortly(journal.contextBefore(journal.nthTurn(sessionId, number)!));
  const ofTwo = ["user: input of a", "assistant: answer of a"];
  const ofThree = [...ofTwo, "user: input of b", "assistant: answer of b"];
  assertEquals([before(1), before(2), before(3)], [[], ofTwo, ofThree]);
  // The turn itself, and one of an automation after it, whose context is its own.
  await journal.compact("c", "sum", journal.context(sessionId).at(-1)!.id);
  await journal.end("c", ending("failed", true));
  await runTurn(journal, "d");
  const automation = { id: "x", digest: "d", maxSteps: 1, tokenBudget: 1, lastResult: "last" };
  await begin(journal, "e", { automation });
  await journal.end("e", ending());
  await journal.accept(newTurn("f"));
  assertEquals([before(2), before(3), before(4)], [ofTwo, ofThree, ["summary: sum"]]);
  assertEquals([before(5), before(6)], [["summary: last"], []]);
  assertEquals(journal.nthTurn(sessionId, 7), undefined);
  assertThrows(() => journal.nthTurn(sessionId, 0), ServiceError, "number");
  await journal.end("f", ending("cancelled", true));
  await journal.close();
});

Deno.test("compact() puts a summary in front of what is kept, each in place of the last", async () => {
  const journal = open();
  for (const id of ["a", "b", "c"]) await runTurn(journal, id);
  const { sessionId } = await begin(journal, "d");
  const ids = () => journal.context(sessionId).map(({ id }) => id);
  await journal.compact("d", "first", ids().at(-3)!);
  assertEquals(shortly(journal.context(sessionId)), [
    "summary: first",
    "user: input of c",
    "assistant: answer of c",
    "user: input of d",
  ]);
  await journal.addMessage("d", answer("answer of d"));
  await journal.compact("d", "second", ids().at(-1)!);
  assertEquals(shortly(journal.context(sessionId)), ["summary: second", "assistant: answer of d"]);
  // What has left the context doesn't come back.
  await journal.compact("d", "second", 1);
  assertEquals(shortly(journal.context(sessionId)), ["summary: second", "assistant: answer of d"]);
  await journal.end("d", ending("failed", true));
  // The summary stands for other turns too, so it stays.
  assertEquals(shortly(journal.context(sessionId)), ["summary: second"]);
  const history = shortly(journal.history(sessionId, 0, 100));
  assertEquals(history.length, 11);
  assertEquals(history.filter((line) => line.startsWith("summary")), [
    "summary: first",
    "summary: second",
    "summary: second",
  ]);
  const said = (await replay(journal, sessionId)).filter(({ event }) => event.type === "summary");
  assertEquals(said.length, 3);
  await assertRejects(() => journal.compact("d", "x", 0), ServiceError, "keepFrom");
  await journal.close();
});

Deno.test("history() and turns() go on page by page", async () => {
  const journal = open();
  for (let n = 0; n < 5; n++) {
    await runTurn(journal, `a${n}`, "test:a");
    await runTurn(journal, `b${n}`, "test:b");
  }
  const { id } = journal.session("test:a")!;
  const messages: string[] = [];
  for (let after = 0;;) {
    const page = journal.history(id, after, 3);
    messages.push(...shortly(page));
    if (page.length < 3) break;
    after = page.at(-1)!.id;
  }
  assertEquals(messages.length, 10);
  assertEquals(messages.at(-1), "assistant: answer of a4");
  const turns: string[] = [];
  for (let after = 0;;) {
    const page = journal.turns(id, after, 2);
    turns.push(...page.map((turn) => turn.id));
    if (page.length < 2) break;
    after = page.at(-1)!.rowid;
  }
  assertEquals(turns, ["a0", "a1", "a2", "a3", "a4"]);
  assertThrows(() => journal.history(id, 0, 0), ServiceError, `"limit"`);
  assertThrows(() => journal.turns(id, -1, 1), ServiceError, `"afterRowid"`);
  await journal.close();
});

Deno.test("sessions() lists the newest first, each once, also when all happened at once", async () => {
  const journal = open(() => 1_000);
  for (let n = 0; n < 7; n++) await journal.accept(newTurn(`t${n}`, { sessionKey: `test:${n}` }));
  await journal.accept(newTurn("again", { sessionKey: "test:2" }));
  const keys: string[] = [];
  let before: number | undefined;
  while (true) {
    const page = journal.sessions({ limit: 3, before });
    keys.push(...page.map(({ key }) => key));
    if (page.length < 3) break;
    before = page.at(-1)!.updatedAt;
  }
  assertEquals(keys, ["test:2", "test:6", "test:5", "test:4", "test:3", "test:1", "test:0"]);
  assertThrows(() => journal.sessions({ limit: 0 }), ServiceError, `"limit"`);
  await journal.close();
});

Deno.test("sessions() keeps its order over a restart with a clock that went back", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const first = openJournal({ path, now: () => 9_000 });
    await first.accept(newTurn("a", { sessionKey: "test:a" }));
    await first.close();
    const second = openJournal({ path, now: () => 1_000 });
    await second.accept(newTurn("b", { sessionKey: "test:b" }));
    assertEquals(second.sessions({ limit: 9 }).map(({ key }) => key), ["test:b", "test:a"]);
    await second.close();
  }));

Deno.test("close() commits what waits, and later writes are refused", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    const accepted = journal.accept(newTurn("a"));
    await Promise.all([accepted, journal.close()]);
    const error = await assertRejects(() => journal.accept(newTurn("b")), ServiceError);
    assertEquals(error.code, "draining");
    const again = openJournal({ path });
    assertEquals(again.turn("a")?.status, "queued");
    await again.close();
  }));

Deno.test("counts() shows what is in motion", async () => {
  let flush = () => {};
  const journal = openJournal({ path: ":memory:", schedule: (asked) => flush = asked });
  assertEquals(journal.counts(), {
    pendingWrites: 0,
    waitingFollowers: 0,
    openTurns: 0,
    outbox: 0,
  });
  const accepted = [journal.accept(newTurn("a")), journal.accept(newTurn("b"))];
  await Promise.resolve();
  assertEquals(journal.counts().pendingWrites, 2);
  flush();
  await Promise.all(accepted);
  assertEquals(journal.counts(), {
    pendingWrites: 0,
    waitingFollowers: 0,
    openTurns: 2,
    outbox: 0,
  });
  await journal.close();
});

Deno.test("append() of a failing batch leaves the journal as it was, whatever came before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 12 }), async (oks) => {
      let failing = false;
      const journal = open(() => {
        if (failing) throw new Error("no time");
        return 0;
      });
      const { sessionId } = await begin(journal, "a");
      let seq = 1;
      let turns = 1;
      for (const ok of oks) {
        // In one batch: a delta before, an accept that may fail, a delta after.
        failing = !ok;
        const before = journal.append("a", [text("x")]);
        const accepted = journal.accept(newTurn(`t${turns}`)).then(() => turns++, () => {});
        const after = journal.append("a", [text("y")]);
        assertEquals([await before, await after], [seq + 1, seq + 2]);
        await accepted;
        seq += 2;
      }
      assertEquals(journal.session("test:a")!.turns, turns);
      assertEquals((await replay(journal, sessionId)).map((event) => event.seq).at(-1), seq);
      await journal.close();
    }),
    { numRuns: rounds(100, 20) },
  );
});

import { assert, assertEquals } from "@std/assert";
import { type AgentEvent, NO_USAGE } from "../contract/events.ts";
import type { Message, ToolCall } from "../contract/messages.ts";
import { openJournal } from "./open.ts";
import { assertWhole } from "./testing/assert_whole.ts";
import { begin, crashCopy, ending, newTurn, replay, text, withFolder } from "./testing/steps.ts";
import { INTERRUPTED_OUTPUT } from "./turn_state.ts";
import type { Journal, NewTurn } from "../contract/journal.ts";

const SESSION = "test:a";

const now = () => 5_000;

/** Does something, crashes, and shows what the next start finds, before and after its recovery. */
async function afterCrash(
  work: (journal: Journal) => Promise<unknown>,
  look: (journal: Journal, recovered: Awaited<ReturnType<Journal["recover"]>>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path, now });
    await work(journal);
    crashCopy(path, `${folder}/copy.db`);
    await journal.close();
    const next = openJournal({ path: `${folder}/copy.db`, now });
    await look(next, await next.recover());
    await next.close();
  });
}

const call = (callId: string): ToolCall => ({ callId, tool: "read_file", args: { path: callId } });
const called = (callId: string): AgentEvent => ({
  type: "tool_call",
  ...call(callId),
  hint: `read_file ${callId}`,
});
const result = (callId: string, output: string): AgentEvent => ({
  type: "tool_result",
  callId,
  tool: "read_file",
  status: "ok",
  output,
});
const step = (text: string, calls: ToolCall[] = []): Message => ({
  role: "assistant",
  text,
  calls,
});

function contextOf(journal: Journal): Message[] {
  return journal.context(journal.session(SESSION)!.id).map(({ message }) => message);
}

async function eventsOf(journal: Journal): Promise<AgentEvent[]> {
  return (await replay(journal, journal.session(SESSION)!.id)).map(({ event }) => event);
}

Deno.test("recover() does nothing after a clean end", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a");
    await journal.end("a", ending());
  }, async (journal, recovered) => {
    assertEquals(recovered, { interrupted: 0, resume: [] });
    assertEquals((await eventsOf(journal)).length, 2);
  }));

Deno.test("recover() ends a foreground turn as interrupted and forgets it when no tool ran", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a");
    await journal.append("a", [{
      type: "usage",
      model: "m",
      usage: { ...NO_USAGE, inputTokens: 7 },
    }]);
    await journal.append("a", [text("Hel"), text("lo")]);
  }, async (journal, { interrupted, resume }) => {
    assertEquals([interrupted, resume], [1, []]);
    const turn = journal.turn("a")!;
    assertEquals([turn.status, turn.error?.code], ["interrupted", "turn_interrupted"]);
    assertEquals(turn.usage, { ...NO_USAGE, inputTokens: 7 });
    const events = await eventsOf(journal);
    assertEquals(events.slice(4), [
      { type: "segment_end", streamId: "s", resuming: false, cut: true },
      { type: "error", error: turn.error! },
      {
        type: "turn_end",
        status: "interrupted",
        finishReason: "stop",
        usage: turn.usage!,
        models: [{ model: "test/model", usage: NO_USAGE }, { model: "m", usage: turn.usage! }],
        tookMs: 0,
      },
    ]);
    assertEquals(contextOf(journal), []);
    const { id } = journal.session(SESSION)!;
    assertEquals(journal.history(id, 0, 9).map(({ message }) => message.role), ["user"]);
  }));

Deno.test("recover() ends a foreground turn that was not run yet", () =>
  afterCrash(
    (journal) => journal.accept(newTurn("a")),
    async (journal, { interrupted }) => {
      assertEquals(interrupted, 1);
      assertEquals(journal.turn("a")!.status, "interrupted");
      assertEquals((await eventsOf(journal)).map(({ type }) => type), ["error", "turn_end"]);
      assertEquals(contextOf(journal), []);
    },
  ));

Deno.test("recover() W5 answers a call that was cut off, so that no later turn fails", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a");
    await journal.addMessage("a", step("let me see", [call("c1")]), { events: [called("c1")] });
  }, async (journal) => {
    assertEquals(contextOf(journal), [
      { role: "user", parts: newTurn("a").input },
      step("let me see", [call("c1")]),
      {
        role: "tool",
        results: [{ callId: "c1", tool: "read_file", output: INTERRUPTED_OUTPUT, failed: true }],
      },
    ]);
    assertEquals((await eventsOf(journal))[2], {
      type: "tool_result",
      callId: "c1",
      tool: "read_file",
      status: "interrupted",
      output: INTERRUPTED_OUTPUT,
    });
    await begin(journal, "b");
    assertEquals(contextOf(journal).at(-1)?.role, "user");
    assertWhole(
      (await replay(journal, journal.session(SESSION)!.id)).slice(0, 5),
      journal.context(journal.session(SESSION)!.id),
    );
  }));

Deno.test("recover() W5 keeps the results that are on record of a step that was cut off", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a", { durable: true });
    await journal.addMessage("a", step("", [call("c1"), call("c2")]), {
      events: [called("c1"), called("c2")],
    });
    await journal.append("a", [result("c2", "the file")], "full");
  }, async (journal, { resume }) => {
    assertEquals(contextOf(journal).at(-1), {
      role: "tool",
      results: [
        { callId: "c1", tool: "read_file", output: INTERRUPTED_OUTPUT, failed: true },
        { callId: "c2", tool: "read_file", output: "the file", failed: false },
      ],
    });
    assertEquals(resume.map(({ id, status, attempts }) => [id, status, attempts]), [
      ["a", "queued", 1],
    ]);
    assertEquals((await eventsOf(journal)).at(-1)?.type, "tool_result");
  }));

Deno.test("recover() W5 keeps a call that is in no message yet", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a", { durable: true });
    await journal.append("a", [text("let me see"), called("c1")]);
  }, (journal) => {
    assertEquals(contextOf(journal).slice(1), [
      step("let me see", [call("c1")]),
      {
        role: "tool",
        results: [{ callId: "c1", tool: "read_file", output: INTERRUPTED_OUTPUT, failed: true }],
      },
    ]);
    return Promise.resolve();
  }));

Deno.test("recover() W5 repeats no call whose event came after its message", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a", { durable: true });
    await journal.addMessage("a", step("", [call("c1")]));
    await journal.append("a", [called("c1")]);
  }, (journal) => {
    assertEquals(contextOf(journal).map(({ role }) => role), ["user", "assistant", "tool"]);
    return Promise.resolve();
  }));

Deno.test("recover() keeps what was said so far when the turn stays in the context", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a");
    await journal.addMessage("a", step("", [call("c1")]), { events: [called("c1")] });
    await journal.addMessage("a", {
      role: "tool",
      results: [{ callId: "c1", tool: "read_file", output: "the file", failed: false }],
    }, { events: [result("c1", "the file")] });
    await journal.append("a", [text("The file "), text("says")]);
  }, (journal) => {
    assertEquals(contextOf(journal).slice(3), [step("The file says")]);
    return Promise.resolve();
  }));

Deno.test("recover() ends a durable turn as done whose answer is on record", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a", { durable: true });
    await journal.append("a", [text("Done")]);
    const end: AgentEvent = { type: "segment_end", streamId: "s", resuming: false };
    await journal.addMessage("a", step("Done"), { events: [end] });
  }, async (journal, recovered) => {
    assertEquals(recovered, { interrupted: 0, resume: [] });
    assertEquals(journal.turn("a")?.status, "done");
    assertEquals(contextOf(journal).slice(1), [step("Done")]);
    assertEquals((await eventsOf(journal)).slice(-2).map(({ type }) => type), [
      "segment_end",
      "turn_end",
    ]);
  }));

Deno.test("recover() forgets a turn whose only call was refused", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a");
    await journal.addMessage("a", step("", [call("c1")]), { events: [called("c1")] });
    await journal.append("a", [{
      type: "tool_result",
      callId: "c1",
      tool: "read_file",
      status: "refused",
      output: "no",
    }]);
  }, (journal) => {
    assertEquals(contextOf(journal), []);
    return Promise.resolve();
  }));

Deno.test("recover() returns durable turns in their order, with text that the model says again", () =>
  afterCrash(async (journal) => {
    await begin(journal, "a", { durable: true });
    await journal.append("a", [text("half")]);
    await journal.accept(newTurn("b", { durable: true }));
    await journal.accept(newTurn("c", { durable: true, sessionKey: "test:c" }));
  }, async (journal, { interrupted, resume }) => {
    assertEquals(interrupted, 0);
    assertEquals(resume, ["a", "b", "c"].map((id) => journal.turn(id)!));
    assertEquals(resume.map(({ status, attempts }) => [status, attempts]), [
      ["queued", 1],
      ["queued", 0],
      ["queued", 0],
    ]);
    assertEquals((await eventsOf(journal)).at(-1), {
      type: "segment_end",
      streamId: "s",
      resuming: true,
    });
    assertEquals(contextOf(journal).map(({ role }) => role), ["user"]);
  }));

Deno.test("recover() counts no crash for a run that was put back to waiting", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    for (let stop = 0; stop < 4; stop++) {
      const journal = openJournal({ path });
      const { resume } = await journal.recover();
      assertEquals(
        resume.map(({ crashes, attempts }) => [crashes, attempts]),
        [
          [0, stop],
        ].slice(0, stop),
      );
      if (stop === 0) await journal.accept(newTurn("a", { durable: true }));
      await journal.start("a");
      await journal.append("a", [text("half")]);
      await journal.requeue("a");
      await journal.close();
    }
  }));

Deno.test("recover() gives a durable turn up after two crashed runs, and says so", () =>
  withFolder(async (folder) => {
    let path = `${folder}/0.db`;
    let journal = openJournal({ path });
    await begin(journal, "a", { durable: true });
    for (let crash = 1; crash <= 2; crash++) {
      const copy = `${folder}/${crash}.db`;
      crashCopy(path, copy);
      await journal.close();
      journal = openJournal({ path: path = copy });
      const { interrupted, resume } = await journal.recover();
      if (crash === 1) {
        assertEquals([interrupted, resume.length], [0, 1]);
        await journal.start("a");
      } else {
        assertEquals([interrupted, resume.length], [1, 0]);
      }
    }
    const { status, attempts, error } = journal.turn("a")!;
    assertEquals([status, attempts, error?.code], ["failed", 2, "turn_crashed"]);
    assertEquals(error?.message.includes("2 runs"), true);
    assertEquals((await eventsOf(journal)).at(-1)?.type, "turn_end");
    await journal.close();
  }));

/** What an agent writes in a turn of two steps with tools and an answer, one write an entry. */
const WRITES: readonly ((journal: Journal) => Promise<unknown>)[] = [
  (journal) => journal.start("a"),
  (journal) => journal.append("a", [{ type: "turn_start", model: "m" }]),
  (journal) => journal.append("a", [{ type: "reasoning_delta", streamId: "r", text: "hm" }]),
  (journal) => journal.append("a", [{ type: "reasoning_end", streamId: "r" }, text("I ", "s1")]),
  (journal) => journal.append("a", [text("look", "s1")]),
  (journal) =>
    journal.addMessage("a", step("I look", [call("c1"), call("c2")]), {
      events: [
        { type: "segment_end", streamId: "s1", resuming: true },
        called("c1"),
        called("c2"),
      ],
    }),
  (journal) =>
    journal.append("a", [{ type: "tool_progress", callId: "c2", tool: "read_file", text: "1 %" }]),
  (journal) => journal.append("a", [result("c2", "two")], "full"),
  (journal) => journal.append("a", [result("c1", "one")], "full"),
  (journal) =>
    journal.addMessage("a", {
      role: "tool",
      results: ["c1", "c2"].map((callId) => ({
        callId,
        tool: "read_file",
        output: callId,
        failed: false,
      })),
    }),
  // A provider that numbers its calls anew in each step.
  (journal) => journal.append("a", [called("c1")]),
  (journal) => journal.addMessage("a", step("", [call("c1")])),
  (journal) =>
    journal.addMessage("a", {
      role: "tool",
      results: [{ callId: "c1", tool: "read_file", output: "one", failed: false }],
    }, { events: [result("c1", "one")] }),
  (journal) => journal.append("a", [text("Done", "s2")]),
  (journal) =>
    journal.addMessage("a", step("Done"), {
      events: [{ type: "segment_end", streamId: "s2", resuming: false }],
    }),
  (journal) => journal.end("a", ending()),
];

for (const durable of [false, true]) {
  Deno.test(`recover() W5 leaves whole sessions wherever a ${durable ? "durable" : "foreground"} turn and then its recovery are cut off`, () =>
    withFolder(async (folder) => {
      let copies = 0;
      const path = `${folder}/a.db`;
      const journal = openJournal({ path, now });
      const before: Partial<NewTurn> = { durable };
      await journal.accept(newTurn("a", before));
      await journal.accept(newTurn("waiting", before));
      for (const write of WRITES) {
        await write(journal);
        const copy = `${folder}/copy-${copies++}.db`;
        crashCopy(path, copy);
        await checkRecovery(copy, durable);
      }
      await journal.close();
    }));
}

async function checkRecovery(path: string, durable: boolean): Promise<void> {
  const copies: string[] = [];
  // Each write is a batch of its own, so that there is a place between any two.
  const schedule = (flush: () => void) => {
    flush();
    copies.push(`${path}-${copies.length}`);
    crashCopy(path, copies.at(-1)!);
  };
  const journal = openJournal({ path, schedule, now });
  const { sessionId, status } = journal.turn("a")!;
  const { interrupted, resume } = await journal.recover();
  // A turn whose answer is on record is done, whatever kept its end from being recorded.
  const left = journal.turn("a")!.status === "done" ? ["waiting"] : ["a", "waiting"];
  assertEquals(resume.map(({ id }) => id), durable ? left : []);
  assertEquals(interrupted, durable ? 0 : left.length);
  const outcome = [await replay(journal, sessionId), journal.context(sessionId)] as const;
  assertWhole(...outcome);
  assert(copies.length > 1 || status === "done");
  // Cut off anywhere in itself and done again, the recovery comes to the same.
  for (const copy of copies) {
    const again = openJournal({ path: copy, schedule: queueMicrotask, now });
    await again.recover();
    assertEquals([await replay(again, sessionId), again.context(sessionId)], [...outcome]);
    await again.close();
  }
  await journal.recover();
  assertEquals([await replay(journal, sessionId), journal.context(sessionId)], [...outcome]);
  await journal.close();
}

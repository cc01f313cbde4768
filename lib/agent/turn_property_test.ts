/**
 * Whatever a model says, tools do and the world interferes with: each turn ends, once, in this process
 * or the next, with events that keep to the grammar, a context that providers accept, and a lane that
 * is free.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { openJournal } from "../journal/open.ts";
import type { Journal } from "../contract/journal.ts";
import { wholeSteps } from "./history.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import { acts, answer, ends } from "./testing/any_turn.ts";
import { says, scriptedModel, yields } from "./testing/scripted_model.ts";
import { testAgent } from "./testing/test_agent.ts";
import { rounds } from "../../tests/support/rounds.ts";

type Interference = "nothing" | "cancel" | "drain" | "timeout" | "fault" | "faults";

const scenario = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 5 }),
  acts: fc.array(fc.constantFrom(...Object.keys(acts)), { maxLength: 6 }),
  interference: fc.constantFrom<Interference>(
    "nothing",
    "cancel",
    "drain",
    "timeout",
    "fault",
    "faults",
  ),
  /** At which write of the journal it happens: few turns have many. */
  at: fc.oneof(fc.integer({ min: 2, max: 5 }), fc.nat(25)),
  durable: fc.boolean(),
});

const WRITES = new Set(["start", "append", "addMessage", "end", "compact"]);

/** A journal that reports each write, and fails those for which `onWrite` returns true. */
function watched(journal: Journal, onWrite: (count: number) => boolean): Journal {
  let count = 0;
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) =>
        WRITES.has(String(name)) && onWrite(count++)
          ? Promise.reject(new Error("disk full"))
          : value.apply(target, args);
    },
  });
}

Deno.test("AgentTurns ends every turn once, by the grammar, and frees its lane", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const raw = openJournal({ path: ":memory:" });
      let interfere = () => {};
      const journal = watched(raw, (count) => {
        if (count === one.at) interfere();
        if (one.interference === "fault") return count === one.at;
        // Longer than an end is tried.
        return one.interference === "faults" && count >= one.at && count < one.at + 8;
      });
      let called = 0;
      let hasActed = false;
      const agent = testAgent({
        journal,
        agent: { maxSteps: 4, stallTimeoutS: 100, turnTimeoutS: 150 },
        model: scriptedModel(
          one.answers.map(({ events, end }) => yields(events, ends[end]!)),
        ),
        act(request, how) {
          const name = one.acts[called++] ?? "ok";
          hasActed ||= name !== "refused";
          return acts[name]!(request, how);
        },
      });
      const handle = await agent.submit("hi", { durable: one.durable });
      if (one.interference === "cancel") interfere = () => handle.cancel();
      if (one.interference === "drain") {
        interfere = () => void agent.turns.drain({ graceMs: 1_000 });
      }
      if (one.interference === "timeout") interfere = () => agent.clock.tick(150_000);

      let over = false;
      const read = Array.fromAsync(handle.events()).then(() => true, () => false);
      read.finally(() => over = true);
      for (let round = 0; !over; round++) {
        assert(round < 500, "the turn does not end");
        await new Promise((resolve) => setTimeout(resolve));
        if (round % 3 === 2) agent.clock.tick(4_000);
      }
      const ended = await read;
      const isKept = one.interference === "drain" && one.durable && !ended;
      if (!ended) {
        assert(
          isKept || one.interference === "faults",
          "only a stop that keeps the turn, or a broken journal, may keep the end from a reader",
        );
        // The process stops; the next one puts in order what it left, and goes on with what is durable.
        await agent.turns.drain({ graceMs: 0 });
        if (isKept) assertEquals(raw.turn(handle.turn.id)!.status, "queued");
        const { resume } = await raw.recover();
        if (isKept) assertEquals(resume.map(({ crashes }) => crashes), [0]);
        const next = testAgent({ journal: raw, model: scriptedModel([says("there")]) });
        next.turns.recovered(resume);
        await Array.fromAsync(next.turns.find(handle.turn.id)!.events());
      }
      assertEquals(agent.ended, hasActed ? [handle.turn.id] : []);
      const turn = raw.turn(handle.turn.id)!;
      const events = await Array.fromAsync(
        raw.follow(turn.sessionId, { afterSeq: 0, live: false }),
        ({ event }) => event,
      );
      assert(turn.endedAt !== undefined, "the turn has no end");
      if (isKept) assertEquals(turn.status, "done");
      assert(!one.durable || turn.status !== "interrupted", "a stop ended a durable turn");
      // While the journal was broken, a turn may have had no chance to say its start.
      const mayLackStart = one.interference === "faults" && !ended;
      const faults = grammarFaults(events).filter((fault) =>
        !mayLackStart || !fault.startsWith("begins")
      );
      assertEquals(faults, []);
      const context = raw.context(turn.sessionId).map(({ message }) => message);
      assertEquals(wholeSteps(context), context);
      // The reader may be ahead of the lane by the answer of the commit, not by more.
      await new Promise((resolve) => setTimeout(resolve));
      assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
      await new Promise((resolve) => setTimeout(resolve));
      assertEquals(agent.clock.timers(), 0);
      await raw.close();
    }),
    { numRuns: rounds(200) },
  );
});

/**
 * Random scripts of events over two sessions, for the property tests, and what runs them.
 *
 * @module
 */

import fc from "fast-check";
import type { AgentEvent, StoredEvent } from "../../contract/events.ts";
import type { DeltaLimits } from "../delta_log.ts";
import { openJournal } from "../open.ts";
import type { Journal } from "../../contract/journal.ts";
import { begin, newTurn } from "./steps.ts";

/** One step: events that are appended together, the end of a batch, or a write that fails. */
export type ScriptStep =
  | { step: "append"; session: 0 | 1; events: AgentEvent[] }
  | { step: "commit" }
  | { step: "fail" };

/** Limits so small that a script of a few steps goes beyond all of them. */
export const TINY_LIMITS: DeltaLimits = {
  tailDeltas: 4,
  tailChars: 60,
  logRows: 5,
  logChars: 600,
};

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "é", "\ud83d", "\ude00", "\0", '"', "\\", ",", "\n"),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  ),
  maxLength: 4,
});

// Mostly one stream, so that deltas of one follow on each other over several batches.
const streamId = fc.oneof(
  { weight: 8, arbitrary: fc.constant("s1") },
  fc.constantFrom("s2", "\ud800"),
);

const anyEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ type: fc.constant("text_delta" as const), streamId, text: anyText }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("reasoning_delta" as const),
      streamId,
      text: anyText,
    }),
  },
  fc.record({
    type: fc.constant("segment_end" as const),
    streamId,
    resuming: fc.boolean(),
  }),
  fc.record({ type: fc.constant("reasoning_end" as const), streamId }),
  fc.record({ type: fc.constant("notice" as const), text: anyText }),
);

/** Scripts of up to `maxLength` steps. */
export function anyScript(maxLength: number): fc.Arbitrary<ScriptStep[]> {
  return fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          step: fc.constant("append" as const),
          session: fc.constantFrom(0 as const, 1 as const),
          events: fc.array(anyEvent, { maxLength: 3 }),
        }),
      },
      { weight: 4, arbitrary: fc.constant({ step: "commit" as const }) },
      { weight: 2, arbitrary: fc.constant({ step: "fail" as const }) },
    ),
    { maxLength },
  );
}

/** A journal with a running turn in each of two sessions, and the events that were committed. */
export interface ScriptRun {
  journal: Journal;
  /** Ids of the two sessions. */
  sessionIds: [number, number];
  committed: [StoredEvent[], StoredEvent[]];
  run(step: ScriptStep): Promise<void>;
  /** Commits what waits. */
  commit(): Promise<void>;
}

/** Opens a journal for a script. Its turns are `turn-0` and `turn-1`. */
export async function startScript(path: string): Promise<ScriptRun> {
  let flush = () => {};
  let calls: number | undefined;
  const journal = openJournal({
    path,
    deltaLimits: TINY_LIMITS,
    schedule: (asked) => flush = asked,
    // A write that asks for the time twice fails in its middle.
    now: () => {
      if (calls !== undefined && calls++ % 2 === 1) throw new Error("no time");
      return 1_000;
    },
  });
  let waiting: Promise<unknown>[] = [];
  const commit = async () => {
    flush();
    await Promise.all(waiting);
    waiting = [];
  };
  const sessionIds: number[] = [];
  const committed: StoredEvent[][] = [];
  for (const index of [0, 1]) {
    const started = begin(journal, `turn-${index}`, { sessionKey: `test:${index}`, durable: true });
    let done = false;
    started.then(() => done = true);
    while (!done) {
      flush();
      await Promise.resolve();
    }
    sessionIds.push((await started).sessionId);
    committed.push(
      await Array.fromAsync(journal.follow(sessionIds[index]!, { afterSeq: 0, live: false })),
    );
  }
  calls = 0;
  let failures = 0;
  return {
    journal,
    sessionIds: sessionIds as [number, number],
    committed: committed as [StoredEvent[], StoredEvent[]],
    commit,
    async run(step) {
      if (step.step === "commit") return await commit();
      if (step.step === "fail") {
        const turn = newTurn(`failing-${failures++}`, { sessionKey: "test:0" });
        waiting.push(
          journal.accept(turn).then(
            () => Promise.reject(new Error("the write did not fail")),
            (error: Error) => {
              if (error.message !== "no time") throw error;
            },
          ),
        );
        return;
      }
      const { session, events } = step;
      const turnId = `turn-${session}`;
      waiting.push(
        journal.append(turnId, events).then((last) => {
          const record = committed[session]!;
          for (const event of events) record.push({ seq: record.length + 1, turnId, event });
          if (last !== record.length) throw new Error(`seq ${last} instead of ${record.length}`);
        }),
      );
    },
  };
}

/**
 * What the journal costs, and that it does not cost more as a session grows.
 *
 * Three files hold a session of 10, 1,000 and 10,000 messages, each with the same short context. What
 * is measured goes round over the three, and each figure is compared with that of the shortest.
 *
 *     deno run -A --cached-only --lock=deno.lock --frozen bench/journal.ts [--json]
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { type AgentEvent, NO_USAGE } from "../lib/contract/events.ts";
import { openJournal } from "../lib/journal/open.ts";
import type { Journal } from "../lib/contract/journal.ts";
import { type Figure, median, report } from "./report.ts";

const HISTORIES = [10, 1_000, 10_000];
const CONTEXT_MESSAGES = 10;
const DELTAS = 20;
const ROUNDS = 40;
const PARALLEL = 64;
const SESSION = "bench:history";

interface Subject {
  messages: number;
  journal: Journal;
  sessionId: number;
}

const folder = Deno.makeTempDirSync({ prefix: "bench-journal-" });
try {
  const subjects: Subject[] = [];
  for (const messages of HISTORIES) {
    const journal = openJournal({ path: `${folder}/${messages}.db` });
    subjects.push({ messages, journal, sessionId: await fill(journal, messages) });
  }
  const figures = [
    ...await compare("delta, alone", subjects, timeDeltasAlone),
    ...await compare(`delta, in a batch of ${PARALLEL}`, subjects, timeDeltasInBatch),
    ...await compare(`turn with ${DELTAS} deltas`, subjects, timeTurn),
    ...await compare("context of 10 messages", subjects, timeContext),
    await timeParallelTurns(),
    await timeLatency(),
  ];
  for (const { journal } of subjects) await journal.close();
  const met = report("journal", figures, { json: Deno.args.includes("--json") });
  Deno.exitCode = met ? 0 : 1;
} finally {
  Deno.removeSync(folder, { recursive: true });
}

/** Gives each subject its turn, many times over; a figure a subject, the first without an aim. */
async function compare(
  name: string,
  subjects: readonly Subject[],
  time: (subject: Subject) => Promise<number>,
): Promise<Figure[]> {
  const samples = subjects.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, subject] of subjects.entries()) samples[index]!.push(await time(subject));
  }
  const medians = samples.map(median);
  return subjects.map(({ messages }, index) => ({
    name: `${name}, history ${messages}`,
    value: medians[index]! * 1_000,
    unit: "us",
    ...index > 0 && {
      against: { name: `history ${HISTORIES[0]}`, value: medians[0]! * 1_000 },
      aim: { atMost: 1.5 },
    },
  }));
}

/** Milliseconds for a delta that is committed before the next one. */
async function timeDeltasAlone({ journal }: Subject): Promise<number> {
  const count = 50;
  return await inTurn(journal, SESSION, async (turnId) => {
    const start = performance.now();
    for (let n = 0; n < count; n++) await journal.append(turnId, [delta(n)]);
    return (performance.now() - start) / count;
  });
}

/** Milliseconds for one of many deltas of one batch. */
async function timeDeltasInBatch({ journal }: Subject): Promise<number> {
  return await inTurn(journal, SESSION, async (turnId) => {
    const start = performance.now();
    await Promise.all(
      Array.from({ length: PARALLEL }, (_, n) => journal.append(turnId, [delta(n)])),
    );
    return (performance.now() - start) / PARALLEL;
  });
}

async function timeTurn({ journal }: Subject): Promise<number> {
  const start = performance.now();
  await runTurn(journal, SESSION);
  return performance.now() - start;
}

async function timeContext({ journal, sessionId }: Subject): Promise<number> {
  // The turns that were measured before this have grown it.
  await inTurn(journal, SESSION, async (turnId) => {
    const context = journal.context(sessionId);
    const keepFrom = context.at(-(CONTEXT_MESSAGES - 1))!.id;
    await journal.compact(turnId, "what was said before", keepFrom);
  });
  const count = 50;
  const start = performance.now();
  for (let n = 0; n < count; n++) journal.context(sessionId);
  return (performance.now() - start) / count;
}

/** A turn among many, against one that has the journal for itself. */
async function timeParallelTurns(): Promise<Figure> {
  const journal = openJournal({ path: `${folder}/parallel.db` });
  const turns = 50;
  const lanes = async (count: number) => {
    const start = performance.now();
    await Promise.all(Array.from({ length: count }, async (_, lane) => {
      for (let n = 0; n < turns; n++) await runTurn(journal, `bench:${lane}`);
    }));
    return (performance.now() - start) / (turns * count) * 1_000;
  };
  await lanes(PARALLEL);
  const alone = await lanes(1);
  const value = await lanes(PARALLEL);
  await journal.close();
  return {
    name: `turn, ${PARALLEL} at a time`,
    value,
    unit: "us",
    against: { name: "one at a time", value: alone },
    aim: { atMost: 0.5 },
  };
}

/** What waiting for the batch adds to a commit: its promise's time over that of the bare write. */
async function timeLatency(): Promise<Figure> {
  const flushes: number[] = [];
  const journal = openJournal({
    path: `${folder}/latency.db`,
    schedule: (flush) => {
      const asked = performance.now();
      setImmediate(() => {
        flushes.push(performance.now() - asked);
        flush();
      });
    },
  });
  for (let n = 0; n < 200; n++) await runTurn(journal, "bench:latency");
  await journal.close();
  return {
    name: "wait for the batch",
    value: median(flushes),
    unit: "ms",
    aim: { atMost: 1 },
  };
}

async function fill(journal: Journal, messages: number): Promise<number> {
  for (let n = 0; n < messages / 2; n++) await runTurn(journal, SESSION);
  return journal.session(SESSION)!.id;
}

async function runTurn(journal: Journal, sessionKey: string): Promise<void> {
  await inTurn(journal, sessionKey, async (turnId) => {
    for (let n = 0; n < DELTAS; n++) await journal.append(turnId, [delta(n)]);
    await journal.addMessage(
      turnId,
      { role: "assistant", text: "word ".repeat(DELTAS), calls: [] },
      { events: [{ type: "segment_end", streamId: "s", resuming: false }] },
    );
  });
}

async function inTurn<T>(
  journal: Journal,
  sessionKey: string,
  run: (turnId: string) => Promise<T>,
): Promise<T> {
  const id = crypto.randomUUID();
  const input = [{ type: "text" as const, text: "What is the weather like?" }];
  await journal.accept({
    id,
    sessionKey,
    channel: "bench",
    actor: "bench:local",
    input,
    durable: false,
  });
  await journal.start(id);
  await journal.append(id, [{ type: "turn_start", model: "bench/model" }]);
  const result = await run(id);
  await journal.end(id, {
    event: { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
    forget: false,
  });
  return result;
}

function delta(n: number): AgentEvent {
  return { type: "text_delta", streamId: "s", text: `word${n} ` };
}

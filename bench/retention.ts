/**
 * What turns feel of retention: how long one takes, alone and while old sessions are being removed, and
 * what becomes of the room.
 *
 *     deno run -A --cached-only --lock=deno.lock --frozen bench/retention.ts [--sessions 2000] [--json]
 *
 * @module
 */

import { NO_USAGE } from "../lib/contract/events.ts";
import type { Journal } from "../lib/contract/journal.ts";
import { openJournal } from "../lib/journal/open.ts";
import { pruneStore } from "../lib/retention/prune_store.ts";
import { type Figure, report } from "./report.ts";

const given = Deno.args.indexOf("--sessions");
const SESSIONS = given < 0 ? 2_000 : Number(Deno.args[given + 1]);
const json = Deno.args.includes("--json");

const DAY_MS = 86_400_000;
const TURNS = 2;
/** Turns that are timed alone. */
const ALONE = 300;

const folder = Deno.makeTempDirSync({ prefix: "bench-retention-" });
try {
  const path = `${folder}/service.db`;
  let now = Date.now() - 400 * DAY_MS;
  const journal = openJournal({ path, now: () => now++ });
  for (let n = 0; n < SESSIONS; n++) {
    for (let t = 0; t < TURNS; t++) await turn(journal, `${n}-${t}`, `api:${n}`);
  }
  now = Date.now();
  const before = Deno.statSync(path).size;
  const alone: number[] = [];
  for (let n = 0; n < ALONE; n++) alone.push(await timed(journal, `alone-${n}`));

  const beside: number[] = [];
  let isOver = false;
  let removed = 0;
  const began = performance.now();
  const pruning = pruneStore(journal.retention, { maxAgeMs: 365 * DAY_MS, maxBytes: 0 }, {
    now,
    dryRun: false,
    announce: () => Promise.resolve(),
    onRemoved: (items) => void (removed += items.length),
  }).finally(() => isOver = true);
  for (let n = 0; !isOver; n++) beside.push(await timed(journal, `beside-${n}`));
  await pruning;
  const tookS = (performance.now() - began) / 1_000;
  await journal.close();
  const figures: Figure[] = [
    { name: "sessions removed", value: removed, unit: "" },
    { name: "in", value: tookS, unit: "s" },
    { name: "turns meanwhile", value: beside.length, unit: "" },
    { name: "turn alone, p50", value: at(alone, 0.5), unit: "ms" },
    { name: "turn alone, p99", value: at(alone, 0.99), unit: "ms" },
    { name: "turn alone, longest", value: Math.max(...alone), unit: "ms" },
    { name: "turn meanwhile, p50", value: at(beside, 0.5), unit: "ms" },
    { name: "turn meanwhile, p99", value: at(beside, 0.99), unit: "ms" },
    { name: "turn meanwhile, longest", value: Math.max(...beside), unit: "ms" },
    { name: "database before", value: before / 1e6, unit: "MB" },
    { name: "database after", value: Deno.statSync(path).size / 1e6, unit: "MB" },
  ];
  report("retention", figures, { json });
} finally {
  Deno.removeSync(folder, { recursive: true });
}

async function timed(journal: Journal, id: string): Promise<number> {
  const began = performance.now();
  await turn(journal, id, "api:busy");
  return performance.now() - began;
}

async function turn(journal: Journal, id: string, sessionKey: string): Promise<void> {
  const text = "What is new in the repository? ".repeat(10);
  await journal.accept({
    id,
    sessionKey,
    channel: "api",
    actor: "api:bench",
    input: [{ type: "text", text }],
    durable: false,
  });
  await journal.start(id);
  await journal.append(id, [
    { type: "turn_start", model: "bench" },
    { type: "text_delta", streamId: "s", text: text.repeat(4) },
  ]);
  await journal.addMessage(id, { role: "assistant", text: text.repeat(4), calls: [] });
  await journal.end(id, {
    event: { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
    forget: false,
  });
}

function at(samples: number[], part: number): number {
  return samples.sort((a, b) => a - b)[Math.floor(samples.length * part)] ?? 0;
}

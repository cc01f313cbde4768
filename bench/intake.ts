/**
 * What it costs that the messages of a channel wait in the service's journal: a channel in its own process
 * hears as many as it can, and a thousand a second, and takes them at once. Beside it, what a file of the
 * channel's own costs, with a commit for each message that comes and that is taken; and how long anybody else
 * waits for a commit of the journal meanwhile.
 *
 *     deno run -A --cached-only --lock=deno.lock --frozen bench/intake.ts [--json]
 *
 * @module
 */

import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import type { Journal } from "../lib/contract/journal.ts";
import { openJournal } from "../lib/journal/open.ts";
import { order, WorkerFixture } from "../lib/operations/channels/testing/worker_fixture.ts";
import { median, report } from "./report.ts";

const MESSAGES = 10_000;
const A_SECOND = 1_000;
const DATA = JSON.stringify("x".repeat(700));

/** Of one way. */
interface Cost {
  /** Messages a second. */
  rate: number;
  /** Processor time of this process for each, microseconds. */
  us: number;
  /** How long another write waited for its commit, milliseconds. */
  waits: number[];
}

async function costOf(
  messages: number,
  work: () => Promise<unknown>,
  journal?: Journal,
): Promise<Cost> {
  const waits: number[] = [];
  const ended = new AbortController();
  const others = journal === undefined ? undefined : probe(journal, waits, ended.signal);
  const before = process.cpuUsage();
  const startMs = performance.now();
  try {
    await work();
  } finally {
    ended.abort();
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(before);
  await others;
  return { rate: messages / seconds, us: (user + system) / messages, waits };
}

/** Another that writes, fifty times a second. */
async function probe(journal: Journal, waits: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startMs = performance.now();
    await journal.probe();
    waits.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** As it was: in a file of the channel's process. */
async function inOwnFile(folder: string): Promise<Cost> {
  using database = new DatabaseSync(`${folder}/own.sqlite`);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE entries (seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, id TEXT NOT NULL,
      data TEXT NOT NULL, UNIQUE (lane, id)) STRICT;
    CREATE INDEX entries_of_lane ON entries (lane, seq);`);
  const insert = database.prepare("INSERT INTO entries (lane, id, data) VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM entries WHERE seq = ?");
  return await costOf(MESSAGES / 10, () => {
    for (let at = 0; at < MESSAGES / 10; at++) {
      const { lastInsertRowid } = insert.run(`c${at % 100}`, String(at), DATA);
      remove.run(lastInsertRowid);
    }
    return Promise.resolve();
  });
}

const folder = await Deno.makeTempDir({ prefix: "bench-intake-" });
const fixture = await WorkerFixture.open();
const journal = openJournal({ path: `${folder}/service.db` });
try {
  const own = await inOwnFile(folder);
  const channel = await fixture.build({}, { intake: journal.intake("probe") });
  await channel.send(order(`hear ${MESSAGES / 10} 100000`));
  const flood = await costOf(
    MESSAGES,
    () => channel.send(order(`hear ${MESSAGES} 1000000`)),
    journal,
  );
  const idle = await costOf(
    1,
    () => new Promise((resolve) => setTimeout(resolve, 2_000)),
    journal,
  );
  const steady = await costOf(
    3 * A_SECOND,
    () => channel.send(order(`hear ${3 * A_SECOND} ${A_SECOND}`)),
    journal,
  );
  await channel.stop(1_000);
  const ownFile = (value: number) => ({ name: "a file of the channel's own", value });
  const alone = { name: "while nothing comes", value: median(idle.waits) };
  const met = report("intake", [
    {
      name: "messages through the journal",
      value: flood.rate,
      unit: "1/s",
      against: ownFile(own.rate),
    },
    { name: "  processor time of each", value: flood.us, unit: "us", against: ownFile(own.us) },
    {
      name: "  another write waits for its commit",
      value: median(flood.waits),
      unit: "ms",
      against: alone,
    },
    {
      name: `${A_SECOND} messages a second: processor time of each`,
      value: steady.us,
      unit: "us",
      against: ownFile(own.us),
    },
    {
      name: "  another write waits for its commit",
      value: median(steady.waits),
      unit: "ms",
      against: alone,
    },
  ], { json: Deno.args.includes("--json") });
  Deno.exitCode = met ? 0 : 1;
} finally {
  await journal.close();
  await fixture.close();
  await Deno.remove(folder, { recursive: true });
}

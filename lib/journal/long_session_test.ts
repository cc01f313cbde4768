/** That a turn costs no more for those that its session has had; `query_plans_test.ts` says why. */

import { assertEquals } from "@std/assert";
import { DatabaseSync, StatementSync } from "node:sqlite";
import type { Journal } from "../contract/journal.ts";
import { openJournal } from "./open.ts";
import { begin, ending, newTurn } from "./testing/steps.ts";

/** A turn with an answer. */
async function runTurn(journal: Journal, id: string): Promise<void> {
  await begin(journal, id);
  await journal.addMessage(id, { role: "assistant", text: `answer of ${id}`, calls: [] });
  await journal.end(id, ending());
}

/** Gives a session so many turns. Those that come at once are in one commit. */
async function runTurns(journal: Journal, from: number, to: number): Promise<void> {
  const ids = Array.from({ length: to - from }, (_, at) => `t${from + at}`);
  await Promise.all(ids.map((id) => journal.accept(newTurn(id))));
  await Promise.all(ids.map((id) => journal.start(id)));
  await Promise.all(
    ids.map((id) =>
      journal.addMessage(id, { role: "assistant", text: `answer of ${id}`, calls: [] })
    ),
  );
  await Promise.all(ids.map((id) => journal.end(id, ending())));
}

Deno.test("a turn in a session of 5,000 turns takes the statements and pages of the tenth", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/service.db`;
  const journal = openJournal({ path });
  const pages = () => Math.round((Deno.statSync(`${path}-wal`).size - 32) / (4_096 + 24));
  const methods = ["run", "get", "all", "iterate"] as const;
  const prototype = StatementSync.prototype as unknown as Record<string, unknown>;
  const own = methods.map((name) => prototype[name] as (...args: unknown[]) => unknown);
  let statements = 0;
  methods.forEach((name, at) =>
    prototype[name] = function (this: unknown, ...args: unknown[]) {
      statements++;
      return own[at]!.apply(this, args);
    }
  );
  /** Of the turn of that number, as a median of five: a page may be full just then. */
  const cost = async (number: number) => {
    // Otherwise it is written from its begin again, and doesn't grow.
    using other = new DatabaseSync(path);
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const found: [statements: number, pages: number][] = [];
    for (let n = 0; n < 5; n++) {
      const before = [statements, pages()] as const;
      await runTurn(journal, `n${number + n}`);
      found.push([statements - before[0], pages() - before[1]]);
    }
    const median = (at: 0 | 1) => found.map((each) => each[at]).sort((a, b) => a - b)[2];
    return [median(0), median(1)];
  };
  try {
    await runTurns(journal, 0, 9);
    const tenth = await cost(9);
    await runTurns(journal, 14, 5_000);
    assertEquals(await cost(5_000), tenth);
  } finally {
    methods.forEach((name, at) => prototype[name] = own[at]);
    await journal.close();
    await Deno.remove(dir, { recursive: true });
  }
});

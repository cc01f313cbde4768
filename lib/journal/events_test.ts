import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { DatabaseSync } from "node:sqlite";
import type { StoredEvent } from "../contract/events.ts";
import { openJournal } from "./open.ts";
import { anyScript, startScript } from "./testing/event_script.ts";
import { begin, crashCopy, ending, replay, text, withFolder } from "./testing/steps.ts";
import { rounds } from "../../tests/support/rounds.ts";

Deno.test("append() numbers events from 1 without a gap, whoever else appends", async () => {
  const journal = openJournal({ path: ":memory:" });
  const [a, b] = [
    await begin(journal, "a", { sessionKey: "test:a" }),
    await begin(journal, "b", { sessionKey: "test:b" }),
  ];
  const seqs = await Promise.all(
    Array.from({ length: 20 }, (_, n) => journal.append(n % 2 ? "a" : "b", [text("x"), text("y")])),
  );
  assertEquals(seqs, Array.from({ length: 20 }, (_, n) => 3 + 2 * Math.floor(n / 2)));
  for (const { sessionId } of [a, b]) {
    const events = await replay(journal, sessionId);
    assertEquals(events.map(({ seq }) => seq), Array.from({ length: 21 }, (_, n) => n + 1));
  }
  await journal.close();
});

Deno.test("append() of nothing resolves with the last seq", async () => {
  const journal = openJournal({ path: ":memory:" });
  await begin(journal, "a");
  assertEquals(await journal.append("a", []), 1);
  await journal.close();
});

Deno.test("follow() replays exactly what was appended, from any number on, whatever the batches", async () => {
  await fc.assert(
    fc.asyncProperty(anyScript(40), fc.nat(), fc.nat(), async (script, from, at) => {
      const run = await startScript(":memory:");
      const { journal, sessionIds, committed } = run;
      // A live reader begins somewhere in the middle of it all.
      const stop = new AbortController();
      const read: StoredEvent[] = [];
      let start = 0;
      let reading: Promise<void> | undefined;
      for (const [index, step] of script.entries()) {
        if (index === at % script.length) {
          start = from % (committed[0].length + 1);
          const live = journal.follow(sessionIds[0], { afterSeq: start, signal: stop.signal });
          reading = (async () => {
            for await (const event of live) read.push(event);
          })();
        }
        await run.run(step);
      }
      await run.commit();
      for (const index of [0, 1] as const) {
        const all = committed[index];
        assertEquals(journal.session(`test:${index}`)!.lastSeq, all.length);
        for (let after = 0; after <= all.length; after += 1 + after % 3) {
          assertEquals(await replay(journal, sessionIds[index], after), all.slice(after));
        }
      }
      while (reading && start + read.length < committed[0].length) await Promise.resolve();
      stop.abort();
      await reading;
      if (reading) assertEquals(read, committed[0].slice(start));
      await journal.close();
    }),
    { numRuns: rounds(300) },
  );
});

Deno.test("follow() replays after a crash exactly what was committed before it", () =>
  withFolder(async (folder) => {
    let copies = 0;
    await fc.assert(
      fc.asyncProperty(anyScript(25), async (script) => {
        const path = `${folder}/${copies++}.db`;
        const run = await startScript(path);
        for (const step of script) await run.run(step);
        const before = run.committed.map((events) => [...events]);
        const copy = `${folder}/${copies++}.db`;
        crashCopy(path, copy);
        await run.commit();
        const after = openJournal({ path: copy });
        for (const index of [0, 1] as const) {
          assertEquals(await replay(after, run.sessionIds[index]), before[index]);
        }
        // It can go on there, with the next number.
        assertEquals(await after.append("turn-0", [text("on")]), before[0]!.length + 1);
        assertEquals((await replay(after, run.sessionIds[0])).length, before[0]!.length + 1);
        await after.close();
        await run.journal.close();
      }),
      { numRuns: rounds(40) },
    );
  }));

Deno.test("append() keeps long answers in few rows and a short log, and replays them exactly", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    const { sessionId } = await begin(journal, "a");
    const texts = Array.from({ length: 3_000 }, (_, n) => `${n} `);
    for (const piece of texts) await journal.append("a", [text(piece)]);
    const large = "x".repeat(40_000);
    for (let n = 0; n < 5; n++) await journal.append("a", [text(large)]);
    await journal.append("a", [{ type: "segment_end", streamId: "s", resuming: false }]);
    const expected = [...texts, ...Array(5).fill(large)];
    for (const after of [1, 500, 2_999, 3_002]) {
      const events = (await replay(journal, sessionId, after)).map(({ event }) => event);
      assertEquals(
        events.slice(0, -1).map((event) => event.type === "text_delta" && event.text),
        expected.slice(after - 1),
      );
    }
    await journal.end("a", ending());
    await journal.close();
    const db = new DatabaseSync(path);
    const count = (table: string) =>
      db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n as number;
    assert(count("events") < 20, `${count("events")} rows`);
    assert(count("delta_log") <= 1_024, `${count("delta_log")} rows in the log`);
    db.close();
  }));

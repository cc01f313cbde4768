import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { pageRecords } from "./page_records.ts";
import type { AuditRecord } from "./record.ts";
import { auditFixture } from "./testing/audit_fixture.ts";
import { rounds } from "../../tests/support/rounds.ts";

Deno.test("pageRecords() gives every record once, in order, whatever the sizes of pages, windows and files", async () => {
  await using fixture = await auditFixture();
  const audit = await fixture.open({ rotateBytes: 4_000, checkpointEvery: 7 });
  for (let index = 0; index < 60; index++) {
    const start = await audit.append("action.start", {
      index,
      tool: index % 3 === 0 ? "fetch" : "exec",
      pad: "ä".repeat(index % 17),
    });
    await audit.append("action.end", { start: start.seq, status: "done" });
  }
  await audit.close();
  assert((await fixture.files()).length > 3);
  const all = (await fixture.lines()).map((line) => JSON.parse(line) as AuditRecord);
  const ends = all.filter(({ kind }) => kind === "action.end");
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 500, max: 6_000 }),
      fc.integer({ min: 1, max: 9_000 }),
      fc.boolean(),
      async (limit, windowBytes, maxBytes, filtered) => {
        const filter = filtered ? { kind: "action.end" } : {};
        const found: AuditRecord[] = [];
        let before: number | undefined;
        do {
          const page = await pageRecords({
            dir: fixture.dir,
            filter,
            limit,
            before,
            windowBytes,
            maxBytes,
          });
          assert(page.records.length <= limit);
          assertEquals(page.damages, 0);
          if (page.nextBefore !== undefined && before !== undefined) {
            assert(page.nextBefore < before, "each page goes on further back");
          }
          found.unshift(...page.records);
          before = page.nextBefore;
        } while (before !== undefined);
        assertEquals(found.map(({ seq }) => seq), (filtered ? ends : all).map(({ seq }) => seq));
      },
    ),
    { numRuns: rounds(60) },
  );
});

Deno.test("pageRecords() knows what the end of an action was about, over the edge of a window too", async () => {
  await using fixture = await auditFixture();
  const audit = await fixture.open();
  for (let index = 0; index < 20; index++) {
    const tool = index % 3 === 0 ? "fetch" : "exec";
    const { seq: start } = await audit.append("action.start", { tool });
    await audit.append("action.end", { start });
  }
  await audit.close();
  const { records } = await pageRecords({
    dir: fixture.dir,
    filter: { tool: "fetch" },
    limit: 100,
    windowBytes: 1_000,
  });
  assertEquals(records.length, 14);
  assertEquals(records.filter(({ kind }) => kind === "action.end").length, 7);
});

Deno.test("pageRecords() tells of lines that cannot be read, and finds nothing where there is no audit", async () => {
  await using fixture = await auditFixture();
  assertEquals(await pageRecords({ dir: fixture.dir, filter: {}, limit: 5 }), {
    records: [],
    damages: 0,
  });
  await fixture.write(6);
  const path = `${fixture.dir}/audit.jsonl`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace('"index":3', '"index":4') + '{"torn');
  const page = await pageRecords({ dir: fixture.dir, filter: { kind: "action" }, limit: 50 });
  assertEquals(page.records.map(({ data }) => data.index), [0, 1, 2, 4, 5]);
  assertEquals(page.damages, 1);
});

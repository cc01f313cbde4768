import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { changedAutomation, newAutomation } from "../schedule/automation_record.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import { MemoryAutomationStore } from "../automation/testing/memory_automation_store.ts";
import { runNowKey, slotKey } from "../automation/slot_key.ts";
import { START, testSpec } from "../automation/testing/test_spec.ts";
import { openJournal } from "./open.ts";
import { withFolder } from "./testing/steps.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { rounds } from "../../tests/support/rounds.ts";

const MINUTE_MS = 60_000;
const LAST = Number.MAX_SAFE_INTEGER;
const IDS = ["a", "b"] as const;

const id = fc.constantFrom(...IDS);
const minutes = fc.integer({ min: 0, max: 5 });
const rowid = fc.integer({ min: 1, max: 30 });
const attempt = fc.integer({ min: 1, max: 3 });

/** One call of a store; what is decided upon a record is decided upon as the store has it. */
const step = fc.oneof(
  fc.record({ op: fc.constant("create"), id, overlap: fc.constantFrom("skip", "queue") }),
  fc.record({ op: fc.constant("switch"), id, enabled: fc.boolean() }),
  fc.record({ op: fc.constant("remove"), id }),
  fc.record({
    op: fc.constant("claim"),
    id,
    slots: fc.integer({ min: 0, max: 60 }),
    stale: minutes,
  }),
  fc.record({ op: fc.constant("request"), id, name: fc.constantFrom("x", "y", "z") }),
  fc.record({ op: fc.constant("begin"), rowid }),
  fc.record({ op: fc.constant("next") }),
  fc.record({ op: fc.constant("accepted"), rowid, attempt }),
  fc.record({
    op: fc.constant("settle"),
    rowid,
    attempt,
    state: fc.constantFrom("done", "failed", "expired"),
    retry: fc.option(minutes, { nil: undefined }),
    digest: fc.option(fc.constantFrom("d1", "d2"), { nil: undefined }),
  }),
);

// deno-lint-ignore no-explicit-any
async function take(store: AutomationStore, given: any, now: number): Promise<unknown> {
  switch (given.op) {
    case "create":
      return await store.create(newAutomation(given.id, testSpec({ overlap: given.overlap }), now));
    case "switch": {
      const read = await store.find(given.id);
      if (read === undefined) return undefined;
      const spec = { ...read.spec, enabled: given.enabled };
      return await store.replace(changedAutomation(read, spec, now), read);
    }
    case "remove":
      return await store.remove(given.id);
    case "claim": {
      const read = await store.find(given.id);
      if (read === undefined) return undefined;
      const slots = Array.from(
        { length: given.slots },
        (_, at) => read.cursor + (at + 1) * MINUTE_MS,
      );
      return await store.claim({
        automationId: given.id,
        revision: read.revision + (given.stale === 0 ? 1 : 0),
        fromCursor: read.cursor,
        runs: slots.map((slotAt) => ({ key: slotKey(given.id, slotAt), slotAt })),
        missed: given.stale,
        cursor: slots.at(-1) ?? read.cursor,
        nextAt: (slots.at(-1) ?? read.cursor) + MINUTE_MS,
        now,
      });
    }
    case "request":
      return await store.request({
        automationId: given.id,
        key: runNowKey(given.id, given.name),
        now,
      }).catch((error) => error.code);
    case "begin":
      return await store.begin(given.rowid);
    case "next": {
      const [run] = await store.ready(now, 1);
      return run && await store.begin(run.rowid);
    }
    case "accepted":
      return await store.accepted(given.rowid, given.attempt, `turn ${given.rowid}`);
    default:
      return await store.settle({
        rowid: given.rowid,
        attempt: given.attempt,
        state: given.state,
        ...given.retry !== undefined && given.state === "failed" &&
          { retryAt: now + given.retry * MINUTE_MS },
        ...given.state === "failed" && { error: "no" },
        resultDigest: given.digest,
        now,
      });
  }
}

/** Everything that a store says of what it holds. */
async function state(store: AutomationStore, now: number): Promise<unknown> {
  return {
    list: await store.list("", 9),
    due: await store.due(now, 9),
    ahead: (await store.ahead(now, 9)).map(({ id }) => id).sort(),
    wakeAt: await store.wakeAt(),
    ready: await store.ready(now, 9),
    running: await store.running(0, 9),
    history: await Promise.all(IDS.map((id) => store.history(id, LAST, 1_000))),
  };
}

/** Whether a field is absent or undefined is the store's own affair. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

Deno.test("openJournal().automations does as the store in memory, whatever is asked of it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
      withFolder(async (folder) => {
        const path = `${folder}/journal.db`;
        const journal = openJournal({ path });
        const memory = new MemoryAutomationStore();
        let now = START;
        for (const given of steps) {
          now += MINUTE_MS / 2;
          const [kept, expected] = [
            await take(journal.automations, given, now),
            await take(memory, given, now),
          ];
          assertEquals(plain(kept), plain(expected), JSON.stringify(given));
        }
        assertEquals(plain(await state(journal.automations, now)), plain(await state(memory, now)));
        await journal.close();
        assertRows(path);
      })),
    { numRuns: rounds(150) },
  );
});

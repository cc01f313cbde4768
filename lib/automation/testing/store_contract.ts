/**
 * The tests that every {@linkcode AutomationStore} has to pass.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import type { AutomationRecord } from "../../contract/automation_record.ts";
import {
  changedAutomation,
  MAX_AHEAD_MS,
  MAX_AUTOMATIONS,
  MAX_HISTORY,
  MAX_WAITING,
  newAutomation,
  rewoundAutomation,
} from "../../schedule/automation_record.ts";
import type { Automation } from "../../contract/automation.ts";
import type { AutomationStore } from "../../contract/automation_store.ts";
import { runNowKey, slotKey } from "../slot_key.ts";
import { START, testSpec } from "./test_spec.ts";

const MINUTE_MS = 60_000;

/** Before it stands every run. */
const LAST = Number.MAX_SAFE_INTEGER;

/** Registers the tests under a name. `open` makes an empty store and says how it is closed. */
export function testAutomationStore(
  name: string,
  open: () => Promise<{ store: AutomationStore; close: () => Promise<void> }>,
): void {
  const test = (what: string, run: (store: AutomationStore) => Promise<void>) =>
    Deno.test(`${name} ${what}`, async () => {
      const { store, close } = await open();
      try {
        await run(store);
      } finally {
        await close();
      }
    });

  const add = async (store: AutomationStore, id: string, change: Partial<Automation> = {}) => {
    const record = newAutomation(id, testSpec(change), START);
    assertEquals(await store.create(record), true);
    return record;
  };

  /** Claims slots by their minutes, as the newest record has it. */
  const claim = async (store: AutomationStore, id: string, slots: number[], missed = 0) => {
    const record = (await store.find(id))!;
    const cursor = START + (slots.at(-1) ?? 0) * MINUTE_MS;
    return await store.claim({
      automationId: id,
      revision: record.revision,
      fromCursor: record.cursor,
      runs: slots.map((slot) => ({
        key: slotKey(id, START + slot * MINUTE_MS),
        slotAt: START + slot * MINUTE_MS,
      })),
      missed,
      cursor,
      nextAt: cursor + MINUTE_MS,
      now: cursor,
    });
  };

  const states = async (store: AutomationStore, id: string) =>
    (await store.history(id, LAST, 1_000)).reverse().map(({ state }) => state);

  const later = START + 24 * 60 * MINUTE_MS;

  test("keeps a record as it was given, and gives copies out", async (store) => {
    const delivery = { when: "change" as const, channel: "a", chatId: "ü" };
    const record = await add(store, "a", { delivery });
    const found = (await store.find("a"))!;
    assertEquals(plain(found), plain(record));
    found.spec.name = "changed";
    assertEquals((await store.find("a"))!.spec.name, "test");
    assertEquals(await store.create(record), false);
    assertEquals(await store.find("b"), undefined);
  });

  test("lists in the order of ids, in pages", async (store) => {
    for (const id of ["b", "B", "a", "é"]) await add(store, id);
    const ids = async (after: string) => (await store.list(after, 3)).map(({ id }) => id);
    assertEquals(await ids(""), ["B", "a", "b"]);
    assertEquals(await ids("b"), ["é"]);
  });

  test("refuses more automations than there may be", async (store) => {
    for (let at = 0; at < MAX_AUTOMATIONS; at++) await add(store, `a${at}`);
    const one = newAutomation("more", testSpec(), START);
    assertEquals((await assertRejects(() => store.create(one), ServiceError)).code, "overloaded");
    await store.remove("a0");
    assertEquals(await store.create(one), true);
  });

  test("replaces a record that is as it was read", async (store) => {
    const read = await add(store, "a");
    const changed = changedAutomation(read, testSpec({ name: "new" }), later);
    assertEquals(await store.replace(changed, read), true);
    assertEquals(plain(await store.find("a")), plain(changed));
    assertEquals(await store.replace(changedAutomation(read, testSpec(), later), read), false);
    // A claim moves the cursor; what was read before would move it back.
    const again = (await store.find("a"))!;
    await claim(store, "a", [1], 3);
    const stale = changedAutomation(again, testSpec(), later);
    assertEquals(await store.replace(stale, again), false);
    const fresh = (await store.find("a"))!;
    assertEquals(
      await store.replace({ ...rewoundAutomation(fresh, START), missed: 0 }, fresh),
      true,
    );
    assertEquals((await store.find("a"))!.missed, 3);
    assertEquals(
      await store.replace(changedAutomation(read, testSpec(), later), { ...read, id: "b" }),
      false,
    );
  });

  test("hands out what is due, the earliest first", async (store) => {
    await add(store, "late", { schedule: { every: 180 } });
    await add(store, "early");
    await add(store, "off", { enabled: false });
    const due = async (minutes: number, limit = 9) =>
      (await store.due(START + minutes * MINUTE_MS, limit)).map(({ id }) => id);
    assertEquals(await due(0.5), []);
    assertEquals(await due(1), ["early"]);
    assertEquals(await due(3), ["early", "late"]);
    assertEquals(await due(3, 1), ["early"]);
    assertEquals(await store.wakeAt(), START + MINUTE_MS);
    await store.remove("early");
    assertEquals(await store.wakeAt(), START + 3 * MINUTE_MS);
    await store.remove("late");
    assertEquals(await store.wakeAt(), undefined);
  });

  test("finds cursors that stand ahead, of what is switched on", async (store) => {
    await add(store, "a");
    await add(store, "off", { enabled: false });
    assertEquals((await store.ahead(START - 1, 9)).map(({ id }) => id), ["a"]);
    assertEquals(await store.ahead(START, 9), []);
  });

  test("claims slots once, also at the same instant (W4)", async (store) => {
    await add(store, "a", { overlap: "queue" });
    const results = await Promise.all([1, 2, 3].map(() => claim(store, "a", [1, 2], 4)));
    assertEquals(results.filter(Boolean).length, 1);
    const { cursor, nextAt, missed } = (await store.find("a"))!;
    assertEquals([cursor, nextAt, missed], [START + 2 * MINUTE_MS, START + 3 * MINUTE_MS, 4]);
    assertEquals(await states(store, "a"), ["waiting", "waiting"]);
  });

  test("leaves out slots whose key is on record, waiting or ended", async (store) => {
    await add(store, "a", { overlap: "queue" });
    await claim(store, "a", [1]);
    const [run] = await store.ready(later, 9);
    await store.begin(run!.rowid);
    await store.settle({ rowid: run!.rowid, attempt: 1, state: "done", now: later });
    const read = (await store.find("a"))!;
    await store.replace(rewoundAutomation(read, START), read);
    assertEquals(await claim(store, "a", [1, 2]), true);
    assertEquals(await states(store, "a"), ["done", "waiting"]);
  });

  test("refuses a claim on what was changed, switched off or deleted", async (store) => {
    const read = await add(store, "a");
    const stale = {
      automationId: "a",
      revision: read.revision,
      fromCursor: read.cursor,
      runs: [{ key: slotKey("a", later), slotAt: later }],
      missed: 1,
      cursor: later,
      now: later,
    };
    const off = changedAutomation(read, testSpec({ enabled: false }), START);
    await store.replace(off, read);
    assertEquals(await store.claim(stale), false);
    assertEquals(await store.claim({ ...stale, revision: off.revision }), false);
    assertEquals(await store.claim({ ...stale, automationId: "b" }), false);
    assertEquals([await states(store, "a"), await store.wakeAt()], [[], undefined]);
  });

  test("counts what overlaps, or lets it wait", async (store) => {
    for (const overlap of ["skip", "queue"] as const) {
      await add(store, overlap, { overlap });
      await claim(store, overlap, [1, 2]);
      await claim(store, overlap, [3]);
    }
    assertEquals((await store.find("skip"))!.overlapped, 1);
    assertEquals((await states(store, "skip")).length, 2);
    assertEquals((await store.find("queue"))!.overlapped, 0);
    assertEquals((await states(store, "queue")).length, 3);
  });

  test("bounds what waits: the oldest slots make room and are counted", async (store) => {
    await add(store, "a", { overlap: "queue" });
    const slots = Array.from({ length: MAX_WAITING }, (_, at) => at + 1);
    await claim(store, "a", slots);
    await claim(store, "a", [MAX_WAITING + 1, MAX_WAITING + 2]);
    assertEquals((await store.find("a"))!.missed, 2);
    const [first] = await store.ready(later, 1);
    assertEquals(first!.slotAt, START + 3 * MINUTE_MS);
    const asked = { automationId: "a", key: runNowKey("a", "x"), now: START };
    const error = await assertRejects(() => store.request(asked), ServiceError);
    assertEquals(error.code, "queue_full");
  });

  test("leaves out no slot that has made an attempt", async (store) => {
    await add(store, "a", { overlap: "queue", retries: 1 });
    await claim(store, "a", [1]);
    const { rowid } = (await store.ready(later, 1))[0]!;
    await store.begin(rowid);
    await store.settle({ rowid, attempt: 1, state: "failed", retryAt: later, now: START });
    await claim(store, "a", Array.from({ length: MAX_WAITING }, (_, at) => at + 2));
    assertEquals((await store.find("a"))!.missed, 1);
    const waiting = (await store.history("a", LAST, 1_000)).reverse();
    assertEquals(waiting.length, MAX_WAITING);
    assertEquals(waiting.slice(0, 2).map(({ slotAt }) => (slotAt! - START) / MINUTE_MS), [1, 3]);
    assertEquals((await store.ready(later, 1))[0]!.rowid, rowid);
  });

  test("takes a request once, before slots, also while switched off", async (store) => {
    const read = await add(store, "a");
    await claim(store, "a", [1]);
    const asked = { automationId: "a", key: runNowKey("a", "x"), now: START };
    const run = (await store.request(asked))!;
    assertEquals((await store.request({ ...asked, now: later }))!, run);
    assertEquals((await store.ready(later, 9)).map(({ rowid }) => rowid), [run.rowid]);
    const now = (await store.find("a"))!;
    await store.replace(changedAutomation(now, testSpec({ enabled: false }), later), now);
    assertEquals(await states(store, "a"), ["dropped", "waiting"]);
    assertEquals((await store.ready(later, 9)).map(({ rowid }) => rowid), [run.rowid]);
    assertEquals(await store.request({ ...asked, automationId: "b" }), undefined);
    assertEquals(read.id, "a");
  });

  test("hands out what waits for a time that the clock was set back from", async (store) => {
    await add(store, "a");
    await add(store, "b");
    await store.request({ automationId: "a", key: runNowKey("a", "x"), now: START });
    await store.request({ automationId: "b", key: runNowKey("b", "x"), now: START - 1 });
    const ready = async (now: number, limit = 9) =>
      (await store.ready(now, limit)).map(({ automationId }) => automationId);
    assertEquals(await ready(START), ["b", "a"]);
    assertEquals(await ready(START - MAX_AHEAD_MS), []);
    assertEquals(await ready(START - MAX_AHEAD_MS - 1), ["a"]);
    assertEquals(await ready(START - MAX_AHEAD_MS - 2), ["b", "a"]);
    assertEquals(await ready(START - MAX_AHEAD_MS - 2, 1), ["b"]);
  });

  test("lets one run of an automation run at once", async (store) => {
    await add(store, "a", { overlap: "queue" });
    await claim(store, "a", [1, 2]);
    await add(store, "b");
    await claim(store, "b", [1]);
    const ready = await store.ready(later, 9);
    assertEquals(ready.map(({ automationId }) => automationId), ["b", "a"]);
    const begun = await Promise.all(ready.map(({ rowid }) => store.begin(rowid)));
    assertEquals(begun.map((run) => [run?.state, run?.attempts]), [["running", 1], ["running", 1]]);
    assertEquals(await store.ready(later, 9), []);
    const [second] = (await store.history("a", LAST, 1))!;
    assertEquals(await store.begin(second!.rowid), undefined);
    assertEquals(await store.begin(ready[0]!.rowid), undefined);
    assertEquals((await store.running(0, 9)).length, 2);
    assertEquals((await store.running(0, 1)).length, 1);
    assertEquals((await store.running(Math.max(...ready.map(({ rowid }) => rowid)), 9)).length, 0);
  });

  test("settles the attempt that runs, once, and lets it wait for the next", async (store) => {
    await add(store, "a", { retries: 1 });
    await claim(store, "a", [1]);
    const { rowid } = (await store.ready(later, 1))[0]!;
    assertEquals(await store.accepted(rowid, 1, "t1"), false);
    await store.begin(rowid);
    assertEquals(await store.accepted(rowid, 1, "t1"), true);
    assertEquals((await store.running(0, 9))[0]!.turnId, "t1");
    const failed = { rowid, attempt: 1, state: "failed" as const, error: "no", now: later };
    assertEquals(await store.settle({ ...failed, retryAt: later + 5 }), true);
    assertEquals(await store.settle({ ...failed, retryAt: later + 5 }), false);
    assertEquals([await store.ready(later + 4, 9), await store.accepted(rowid, 1, "t2")], [
      [],
      false,
    ]);
    const again = (await store.begin(rowid))!;
    assertEquals([again.attempts, again.turnId], [2, undefined]);
    assertEquals(await store.settle(failed), false);
    assertEquals(await store.settle({ ...failed, attempt: 2, resultDigest: "d" }), true);
    const [ended] = await store.history("a", LAST, 9);
    assertEquals([ended!.state, ended!.error, ended!.endedAt], ["failed", "no", later]);
    assertEquals((await store.find("a"))!.resultDigest, "d");
  });

  test("makes no further attempt of a slot when it was switched off meanwhile", async (store) => {
    await add(store, "a");
    await claim(store, "a", [1]);
    const { rowid } = (await store.ready(later, 1))[0]!;
    await store.begin(rowid);
    const read = (await store.find("a"))!;
    await store.replace(changedAutomation(read, testSpec({ enabled: false }), later), read);
    await store.settle({ rowid, attempt: 1, state: "failed", retryAt: later, now: later });
    assertEquals(await states(store, "a"), ["failed"]);
  });

  test("forgets an automation with its runs", async (store) => {
    const record: AutomationRecord = await add(store, "a");
    await claim(store, "a", [1]);
    const { rowid } = (await store.ready(later, 1))[0]!;
    await store.begin(rowid);
    assertEquals([await store.remove("a"), await store.remove("a")], [true, false]);
    assertEquals(await store.settle({ rowid, attempt: 1, state: "done", now: later }), false);
    assertEquals([await store.running(0, 9), await store.history("a", LAST, 9)], [[], []]);
    assertEquals(await store.create(record), true);
    assertEquals(await store.history("a", LAST, 9), []);
  });

  test("keeps the newest of what ended, newest first, in pages", async (store) => {
    await add(store, "a");
    for (let slot = 1; slot <= MAX_HISTORY + 3; slot++) {
      await claim(store, "a", [slot]);
      const { rowid } = (await store.ready(later, 1))[0]!;
      await store.begin(rowid);
      await store.settle({ rowid, attempt: 1, state: "done", now: later });
    }
    const all = await store.history("a", LAST, 1_000);
    assertEquals(all.length, MAX_HISTORY);
    assertEquals(all[0]!.slotAt, START + (MAX_HISTORY + 3) * MINUTE_MS);
    assertEquals(await store.history("a", all[9]!.rowid, 5), all.slice(10, 15));
  });
}

/** Whether a field is absent or undefined is the store's own affair. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

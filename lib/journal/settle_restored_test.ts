import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { newAutomation } from "../schedule/automation_record.ts";
import { START, testSpec } from "../automation/testing/test_spec.ts";
import { runNowKey } from "../automation/slot_key.ts";
import { openJournal } from "./open.ts";
import { settleRestored } from "./settle_restored.ts";
import { begin, ending, newTurn, withFolder } from "./testing/steps.ts";

const MINUTE_MS = 60_000;
const DELIVERY = { runtimeName: "irc", chatId: "c", metadata: {}, streaming: false };

Deno.test("settleRestored() lets nothing happen twice, and keeps what is done", () =>
  withFolder(async (folder) => {
    const path = `${folder}/service.db`;
    const journal = openJournal({ path, now: () => START });
    await begin(journal, "done");
    await journal.end("done", ending());
    const durable = { durable: true, sessionKey: "test:b" };
    await journal.accept(newTurn("running", durable), { delivery: DELIVERY });
    await journal.start("running");
    await journal.accept(newTurn("queued", durable));
    const message = { turnId: "done", channel: "irc", chatId: "c", content: "hello" };
    await journal.enqueue({ ...message, id: "m1" });
    const store = journal.automations;
    for (const [id, missed] of [["a", "all"], ["b", "once"]] as const) {
      const spec = testSpec({ schedule: { every: 600 }, missed });
      await store.create({ ...newAutomation(id, spec, START), nextAt: START + 10 * MINUTE_MS });
    }
    const run = await store.request({ automationId: "a", key: runNowKey("a", "k"), now: START });
    await store.begin(run!.rowid);
    await store.request({ automationId: "b", key: runNowKey("b", "k"), now: START });
    const epoch = journal.epoch("test:a");
    await journal.close();

    const now = START + 35 * MINUTE_MS;
    const settled = settleRestored(path, now);
    assertEquals(settled, { turns: 2, answers: 1, messages: 1, runs: 2, slots: 6 });

    const restored = openJournal({ path, now: () => now });
    const recovered = await restored.recover();
    assertEquals([recovered.interrupted, recovered.resume], [2, []]);
    assertEquals(["done", "running", "queued"].map((id) => restored.turn(id)!.status), [
      "done",
      "interrupted",
      "interrupted",
    ]);
    assertEquals(restored.outbox(0, 10).map(({ state, error }) => [state, error]), [
      ["unknown", "The home was restored from a backup"],
    ]);
    assertNotEquals(restored.epoch("test:a"), epoch);
    const { automations } = restored;
    assertEquals(await automations.due(now, 10), []);
    assertEquals(await automations.ready(now, 10), []);
    assertEquals(await automations.running(0, 10), []);
    const records = await automations.list("", 10);
    assertEquals(records.map(({ missed, nextAt }) => [missed, nextAt]), [
      [3, START + 40 * MINUTE_MS],
      [3, START + 40 * MINUTE_MS],
    ]);
    const history = async (id: string) =>
      (await automations.history(id, Number.MAX_SAFE_INTEGER, 10)).map(({ state }) => state);
    assertEquals([await history("a"), await history("b")], [["failed"], ["expired"]]);
    await restored.close();
  }));

Deno.test("settleRestored() refuses a journal of a newer program, and leaves it as it is", () =>
  withFolder(async (folder) => {
    const path = `${folder}/service.db`;
    await openJournal({ path }).close();
    const db = new DatabaseSync(path);
    db.exec("PRAGMA user_version = 1000");
    db.close();
    const error = assertThrows(() => settleRestored(path, START), ServiceError);
    assertEquals(error.code, "database_newer");
  }));

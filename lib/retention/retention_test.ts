import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { ServiceError } from "../base/errors.ts";
import { RETENTION_KINDS, type RetentionKind } from "../contract/retention.ts";
import { Retention, type RetentionSettings } from "./retention.ts";
import { type MemoryStore, memoryStore } from "./testing/memory_store.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NOON = new Date(2030, 2, 1, 12).getTime();

/** Retention of a home in which there is something of each kind for every day of a year. */
async function setUp() {
  const folder = await Deno.makeTempDir();
  const clock = fakeClock(NOON);
  const year = Array.from({ length: 365 }, (_, days) => NOON - days * DAY_MS);
  const stores = Object.fromEntries(
    RETENTION_KINDS.map((kind) => [kind, memoryStore(year)]),
  ) as Record<RetentionKind, MemoryStore>;
  const settings = Object.fromEntries([
    ["dailyAt", ""],
    ...RETENTION_KINDS.map((kind) => [kind, { maxAgeDays: 0, maxMiB: 0 }]),
  ]) as RetentionSettings;
  const records: [kind: string, data: Record<string, unknown>][] = [];
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const create = () =>
    new Retention({
      settings: () => settings,
      stores,
      audit: {
        append: (kind, data) => Promise.resolve(void records.push([kind, data]) as never),
      },
      file: `${folder}/retention.json`,
      clock,
      log: { debug: note, info: note, warning: note, error: note },
    });
  return {
    clock,
    stores,
    settings,
    records,
    logged,
    retention: create(),
    create,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("prune() removes what is over the limits of each kind that has one, and records all of it before", async () => {
  await using home = await setUp();
  home.settings.sessions.maxAgeDays = 30;
  home.settings.audit.maxAgeDays = 90;
  const report = await home.retention.prune({ dryRun: false, by: "cli" });
  assertEquals(report.map(({ kind, count, bytes }) => [kind, count, bytes]), [
    ["sessions", 334, 3_340],
    ["audit", 274, 2_740],
  ]);
  assertEquals(report[0]!.names.length, 100);
  assertEquals(home.stores.media.items.length, 365);
  // The audit log records its own files.
  assertEquals(home.records.length, Math.ceil(334 / 50));
  assertEquals(home.records.flatMap(([, { names }]) => names as string[]).length, 334);
  const [kind, data] = home.records[0]!;
  assertEquals([kind, data.by, data.data, data.bytes], [
    "retention.removed",
    "cli",
    "sessions",
    500,
  ]);
});

Deno.test("prune() of a dry run reports the same and removes and records nothing", async () => {
  await using home = await setUp();
  home.settings.media.maxMiB = 1;
  home.settings.logs.maxAgeDays = 364;
  home.stores.media.items = [1, 2, 3].map((at) => ({ name: `${at}`, bytes: 500_000, at }));
  const found = await home.retention.prune({ dryRun: true, by: "cli" });
  assertEquals(found.map(({ kind, count, names }) => [kind, count, names]), [
    ["media", 1, ["1"]],
    ["logs", 0, []],
  ]);
  assertEquals([home.records, home.stores.media.items.length], [[], 3]);
  assertEquals(await home.retention.prune({ dryRun: false, by: "cli" }), found);
});

Deno.test("prune() goes on with the other kinds when one fails, and says why", async () => {
  await using home = await setUp();
  home.settings.sessions.maxAgeDays = 350;
  home.settings.backups.maxAgeDays = 350;
  home.stores.sessions.page = () => Promise.reject(new Error("the gateway is starting"));
  const [sessions, backups] = await home.retention.prune({ dryRun: false, by: "cli" });
  assertEquals([sessions!.error, backups!.count], ["the gateway is starting", 14]);
});

Deno.test("prune() removes nothing while a run goes on", async () => {
  await using home = await setUp();
  home.settings.sessions.maxAgeDays = 350;
  const first = home.retention.prune({ dryRun: false, by: "cli" });
  const error = await assertRejects(
    () => home.retention.prune({ dryRun: false, by: "cli" }),
    ServiceError,
  );
  assertEquals(error.code, "conflict");
  assertEquals((await first)[0]!.count, 14);
});

Deno.test("runIfDue() runs once a day at its hour, not at the moment when it is switched on", async () => {
  await using home = await setUp();
  home.settings.sessions.maxAgeDays = 350;
  const runs = async () => {
    await home.retention.runIfDue();
    return home.records.length;
  };
  assertEquals(await runs(), 0);
  home.settings.dailyAt = "13:00";
  assertEquals(await runs(), 0);
  home.clock.tick(HOUR_MS - 1);
  assertEquals(await runs(), 0);
  home.clock.tick(1);
  assertEquals(await runs(), 1);
  assertEquals(home.records[0]![1].by, "schedule");
  home.clock.tick(23 * HOUR_MS);
  assertEquals(await runs(), 1);
  // The hour passed while the service did not run.
  home.clock.tick(20 * HOUR_MS);
  await home.create().runIfDue();
  assertEquals(home.records.length, 2);
  assertEquals(await runs(), 2);
});

Deno.test("runIfDue() removes nothing after a long break or by a clock that was set back, until somebody asks", async () => {
  await using home = await setUp();
  home.settings.sessions.maxAgeDays = 350;
  home.settings.dailyAt = "12:00";
  await home.retention.runIfDue();
  home.clock.tick(400 * DAY_MS);
  for (let minute = 0; minute < 3; minute++) await home.retention.runIfDue();
  assertEquals([home.records, home.stores.sessions.items.length], [[], 365]);
  assertEquals(home.logged.length, 1);
  assertStringIncludes(home.logged[0]!, "service prune");

  await home.retention.prune({ dryRun: false, by: "cli" });
  home.clock.tick(DAY_MS);
  await home.retention.runIfDue();
  assertEquals(home.records.length > 0, true);

  const past = await setUp();
  await using _ = past;
  past.settings.sessions.maxAgeDays = 350;
  past.settings.dailyAt = "12:00";
  await past.retention.runIfDue();
  past.clock.now = () => 0;
  await past.retention.runIfDue();
  assertEquals([past.records, past.logged.length], [[], 1]);
});

Deno.test("start() looks until stop(), which ends a run between two steps", async () => {
  await using home = await setUp();
  home.settings.sessions.maxAgeDays = 1;
  home.settings.dailyAt = "12:01";
  await home.retention.runIfDue();
  const started = Promise.withResolvers<void>();
  const page = home.stores.sessions.page;
  home.stores.sessions.page = (after) => {
    started.resolve();
    return page(after);
  };
  home.retention.start();
  home.clock.tick(60_000);
  await started.promise;
  await home.retention.stop();
  assertEquals(home.clock.timers(), 0);
  const removed = 365 - home.stores.sessions.items.length;
  assertEquals([removed < 365, removed], [true, 50 * home.records.length]);
});

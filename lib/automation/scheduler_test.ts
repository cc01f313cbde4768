import { assertEquals } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { changedAutomation } from "../schedule/automation_record.ts";
import type { Automation } from "../contract/automation.ts";
import { runNowKey } from "./slot_key.ts";
import { SchedulerWorld, settle } from "./testing/scheduler_world.ts";
import { START, testSpec } from "./testing/test_spec.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LAST = Number.MAX_SAFE_INTEGER;

/** Minutes after the start of the slots that ran. */
const ranAt = ({ turns }: SchedulerWorld): number[] =>
  turns.keys.map((key) => (Date.parse(key.replace(/^.*slot:/, "")) - START) / MINUTE_MS);

const change = async (world: SchedulerWorld, id: string, changes: Partial<Automation>) => {
  const record = (await world.store.find(id))!;
  const changed = changedAutomation(record, { ...record.spec, ...changes }, world.now());
  assertEquals(await world.store.replace(changed, record), true);
};

const historyOf = async (world: SchedulerWorld, id: string) =>
  (await world.store.history(id, LAST, 999)).reverse();

Deno.test("Scheduler runs each slot when it is due, and delivers", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { delivery: { when: "always", channel: "test", chatId: "1" } });
  const scheduler = world.start();
  await world.pass(3 * MINUTE_MS + 1);
  assertEquals(ranAt(world), [1, 2, 3]);
  assertEquals(world.turns.outbox.size, 3);
  assertEquals((await historyOf(world, "a")).map(({ state }) => state), ["done", "done", "done"]);
  await scheduler.stop();
  assertEquals([world.ticking.timers(), world.errors], [0, []]);
  await world.pass(5 * MINUTE_MS);
  assertEquals(ranAt(world), [1, 2, 3]);
});

Deno.test("Scheduler has one timer, however many automations there are", async () => {
  const world = new SchedulerWorld();
  for (let at = 0; at < 300; at++) await world.add(`a${at}`, { schedule: { every: 60 + at } });
  const scheduler = world.start();
  await world.pass(1);
  assertEquals(world.ticking.timers(), 1);
  await world.pass(10 * MINUTE_MS, MINUTE_MS);
  assertEquals(world.ticking.timers(), 1);
  const expected = Array.from({ length: 300 }, (_, at) => Math.floor(600 / (60 + at)));
  assertEquals(world.turns.turns.length, expected.reduce((sum, each) => sum + each, 0));
  await scheduler.stop();
});

Deno.test("Scheduler bounds how many run at once, and begins the rest as they end", async () => {
  const world = new SchedulerWorld();
  world.turns.durationMs = 10_000;
  for (const id of ["a", "b", "c", "d", "e", "f"]) {
    await world.add(id, { schedule: { every: 3_600 } });
  }
  const scheduler = world.start();
  await world.pass(HOUR_MS);
  assertEquals([scheduler.running, world.turns.turns.length], [4, 4]);
  await world.pass(10_000);
  assertEquals([scheduler.running, world.turns.turns.length], [2, 6]);
  await world.pass(10_000);
  assertEquals(scheduler.running, 0);
  await scheduler.stop();
});

Deno.test("Scheduler makes up for a suspension by the policy", async () => {
  for (const missed of ["skip", "once"] as const) {
    const world = new SchedulerWorld();
    await world.add("a", { missed, schedule: { every: 600 } });
    const scheduler = world.start();
    await world.pass(1);
    // A timer does not run on while the machine sleeps.
    world.setAheadMs = 3 * HOUR_MS + 5 * MINUTE_MS;
    await world.pass(MINUTE_MS);
    assertEquals(ranAt(world), missed === "skip" ? [] : [180]);
    assertEquals((await world.store.find("a"))!.missed, missed === "skip" ? 18 : 17);
    await scheduler.stop();
  }
});

Deno.test("Scheduler makes up for a hundred with all, one after the other", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { missed: "all" });
  const scheduler = world.start();
  await world.pass(1);
  world.setAheadMs = 2 * 24 * HOUR_MS;
  await world.pass(MINUTE_MS + 1);
  const days = 2 * 24 * 60;
  assertEquals(ranAt(world)[0], days + 1 - 100 + 1);
  const { missed, overlapped } = (await world.store.find("a"))!;
  assertEquals(ranAt(world).length + missed + overlapped, days + 1);
  await scheduler.stop();
});

Deno.test("Scheduler runs nothing twice when the clock is set back a little", async () => {
  const world = new SchedulerWorld();
  await world.add("a");
  const scheduler = world.start();
  await world.pass(5 * MINUTE_MS);
  world.setAheadMs = -3 * MINUTE_MS;
  await world.pass(3 * MINUTE_MS);
  assertEquals(ranAt(world), [1, 2, 3, 4, 5]);
  await world.pass(MINUTE_MS);
  assertEquals(ranAt(world), [1, 2, 3, 4, 5, 6]);
  await scheduler.stop();
});

Deno.test("Scheduler goes on after the clock stood a year ahead and was set right", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { schedule: { every: 600 }, missed: "skip" });
  world.setAheadMs = 365 * 24 * HOUR_MS;
  const scheduler = world.start();
  await world.pass(1);
  world.setAheadMs = 0;
  world.turns.turns.length = 0;
  await world.pass(25 * MINUTE_MS);
  assertEquals(ranAt(world), [10, 20]);
  await scheduler.stop();
});

Deno.test("Scheduler goes on when what waits, and the automation, are of a year that was set back", async () => {
  const world = new SchedulerWorld();
  world.turns.resultOf = () => ({ status: "failed", error: "no" });
  world.setAheadMs = 365 * 24 * HOUR_MS;
  await world.add("a", { schedule: { every: 600 }, retries: 1 });
  const scheduler = world.start();
  await world.pass(10 * MINUTE_MS + 1);
  assertEquals((await historyOf(world, "a"))[0]!.state, "waiting");
  world.setAheadMs = 0;
  await world.pass(MINUTE_MS);
  assertEquals((await historyOf(world, "a")).map(({ state }) => state), ["failed"]);
  await world.pass(25 * MINUTE_MS);
  const { overlapped, createdAt } = (await world.store.find("a"))!;
  assertEquals([overlapped, createdAt <= world.now()], [0, true]);
  assertEquals((await historyOf(world, "a")).length, 3);
  await scheduler.stop();
});

Deno.test("Scheduler runs what was created off in a year that was set back, once it is switched on", async () => {
  const world = new SchedulerWorld();
  world.setAheadMs = 365 * 24 * HOUR_MS;
  await world.add("off", { enabled: false });
  await world.add("slow", { schedule: { every: 600 } });
  world.setAheadMs = 0;
  await change(world, "off", { enabled: true });
  await change(world, "slow", { schedule: { every: 120 } });
  const scheduler = world.start();
  await world.pass(2 * MINUTE_MS);
  assertEquals(ranAt(world).toSorted(), [1, 2, 2]);
  await scheduler.stop();
});

Deno.test("Scheduler ends a run whose result no chat can take, and says why", async () => {
  const world = new SchedulerWorld();
  const deliver = world.turns.deliver;
  world.turns.deliver = () =>
    Promise.reject(new ServiceError("invalid_request", "there is no such chat"));
  await world.add("a", { delivery: { when: "always", channel: "test", chatId: "1" } });
  const scheduler = world.start();
  await world.pass(MINUTE_MS + 1);
  const [run] = await historyOf(world, "a");
  assertEquals([run!.state, run!.error], [
    "failed",
    "Its result cannot be delivered: there is no such chat",
  ]);
  world.turns.deliver = deliver;
  await world.pass(MINUTE_MS);
  assertEquals([world.turns.outbox.size, world.errors], [1, []]);
  await scheduler.stop();
});

Deno.test("Scheduler leaves out or queues what comes while a run goes on", async () => {
  const world = new SchedulerWorld();
  world.turns.durationMs = 90_000;
  await world.add("skip", { schedule: { every: 60 } });
  await world.add("queue", { schedule: { every: 60 }, overlap: "queue" });
  const scheduler = world.start();
  await world.pass(6 * MINUTE_MS);
  const minutes = (id: string) =>
    ranAt(world).filter((_, at) => world.turns.keys[at]!.startsWith(`automation:${id}/`));
  assertEquals(minutes("skip"), [1, 3, 5]);
  assertEquals((await world.store.find("skip"))!.overlapped, 3);
  assertEquals(minutes("queue"), [1, 2, 3, 4]);
  const states = (await historyOf(world, "queue")).map(({ state }) => state);
  assertEquals(states, ["done", "done", "done", "running", "waiting", "waiting"]);
  await scheduler.stop();
});

Deno.test("Scheduler tries again what failed, with waits, under keys of their own", async () => {
  const world = new SchedulerWorld();
  await world.add("a", {
    schedule: { every: 3_600 },
    retries: 2,
    delivery: { when: "error", channel: "test", chatId: "1" },
  });
  world.turns.resultOf = () => ({ status: "failed", error: "no model" });
  const scheduler = world.start();
  await world.pass(HOUR_MS);
  assertEquals([world.turns.turns.length, world.turns.outbox.size], [1, 0]);
  await world.pass(30_000);
  assertEquals(world.turns.turns.length, 2);
  await world.pass(59_000);
  assertEquals(world.turns.turns.length, 2);
  await world.pass(1_000);
  const key = "automation:a/slot:2026-03-01T01:00:00.000Z";
  assertEquals(world.turns.keys, [key, `${key} #2`, `${key} #3`]);
  assertEquals([...world.turns.outbox], [[key, "failed: no model"]]);
  const [run] = await historyOf(world, "a");
  assertEquals([run!.state, run!.attempts, run!.error], ["failed", 3, "no model"]);
  await scheduler.stop();
});

Deno.test("Scheduler says that a run failed whose automation was switched off meanwhile", async () => {
  const world = new SchedulerWorld();
  world.turns.durationMs = 90_000;
  await world.add("a", {
    schedule: { every: 3_600 },
    retries: 3,
    delivery: { when: "error", channel: "test", chatId: "1" },
  });
  world.turns.resultOf = () => ({ status: "failed", error: "no model" });
  const scheduler = world.start();
  await world.pass(HOUR_MS);
  await change(world, "a", { enabled: false });
  await world.pass(2 * MINUTE_MS);
  assertEquals((await historyOf(world, "a")).map(({ state, attempts }) => [state, attempts]), [
    ["failed", 1],
  ]);
  assertEquals([...world.turns.outbox.values()], ["failed: no model"]);
  await scheduler.stop();
});

Deno.test("Scheduler counts a turn that is not accepted as an attempt, and says so", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { schedule: { every: 3_600 }, retries: 1 });
  world.turns.refusal = new Error("the queue is full");
  const scheduler = world.start();
  await world.pass(HOUR_MS);
  const [waiting] = await historyOf(world, "a");
  assertEquals([waiting!.state, waiting!.error], ["waiting", "the queue is full"]);
  world.turns.refusal = undefined;
  await world.pass(30_000);
  assertEquals((await historyOf(world, "a"))[0]!.state, "done");
  await scheduler.stop();
});

Deno.test("Scheduler delivers with change only what is new", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { delivery: { when: "change", channel: "test", chatId: "1" } });
  const answers = ["sun", " sun ", "rain", "rain"];
  world.turns.resultOf = () => ({ status: "done", answer: answers.shift()! });
  const scheduler = world.start();
  await world.pass(4 * MINUTE_MS);
  assertEquals([...world.turns.outbox.values()], ["sun", "rain"]);
  await scheduler.stop();
});

Deno.test("Scheduler runs nothing of what was switched off or deleted while due", async () => {
  const world = new SchedulerWorld();
  for (const id of ["off", "gone", "kept"]) await world.add(id);
  await world.pass(5 * MINUTE_MS);
  await change(world, "off", { enabled: false });
  await world.store.remove("gone");
  const scheduler = world.start();
  await world.pass(1);
  assertEquals(world.turns.keys, ["automation:kept/slot:2026-03-01T00:05:00.000Z"]);
  // Switched on again, it goes on from then; nothing of the time between counts as missed.
  await world.pass(5 * MINUTE_MS - 1);
  world.turns.turns.length = 0;
  await change(world, "off", { enabled: true });
  await world.store.remove("kept");
  scheduler.wake();
  await world.pass(2 * MINUTE_MS);
  assertEquals(ranAt(world), [11, 12]);
  assertEquals((await world.store.find("off"))!.missed, 0);
  await scheduler.stop();
});

Deno.test("Scheduler follows a run to its end when its automation is deleted, and sends nothing", async () => {
  const world = new SchedulerWorld();
  world.turns.durationMs = 20_000;
  const delivery = { when: "always" as const, channel: "test", chatId: "1" };
  await world.add("a", { delivery });
  const scheduler = world.start();
  await world.pass(MINUTE_MS);
  assertEquals(scheduler.running, 1);
  await world.store.remove("a");
  await world.pass(MINUTE_MS);
  assertEquals([scheduler.running, world.turns.outbox.size, world.errors], [0, 0, []]);
  await scheduler.stop();
});

Deno.test("Scheduler.stop() follows what runs for as long as it is told, and no longer", async () => {
  for (const endsAfter of [10_000, 60_000]) {
    const world = new SchedulerWorld();
    world.turns.durationMs = endsAfter;
    await world.add("a", { delivery: { when: "always", channel: "test", chatId: "1" } });
    const scheduler = world.start();
    await world.pass(MINUTE_MS);
    assertEquals(scheduler.running, 1);
    const stopped = scheduler.stop({ graceMs: 30_000 });
    await world.pass(30_000, 10_000);
    await stopped;
    const isInTime = endsAfter < 30_000;
    assertEquals((await historyOf(world, "a"))[0]!.state, isInTime ? "done" : "running");
    assertEquals([world.turns.outbox.size, world.ticking.timers()], [isInTime ? 1 : 0, 0]);
    assertEquals([scheduler.running, world.errors], [0, []]);
  }
});

Deno.test("Scheduler runs at once what somebody asks for, once a request", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { enabled: false });
  const scheduler = world.start();
  await world.pass(1);
  for (const request of ["x", "x", "y"]) {
    const key = runNowKey("a", request);
    await world.store.request({ automationId: "a", key, now: world.now() });
    scheduler.wake();
    await settle();
  }
  assertEquals(world.turns.keys, ["automation:a/now:x", "automation:a/now:y"]);
  await scheduler.stop();
});

Deno.test("Scheduler lets a broken record rest, and runs the others", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { schedule: { cron: "* * * * *", timeZone: "UTC" } });
  await world.add("b");
  const broken = (await world.store.find("a"))!;
  const spec = testSpec({ schedule: { cron: "* * * * *", timeZone: "Gone/Away" } });
  await world.store.replace({ ...broken, revision: 2, spec }, broken);
  const scheduler = world.start();
  await world.pass(3 * MINUTE_MS);
  assertEquals(ranAt(world), [1, 2, 3]);
  assertEquals(world.errors.length, 1);
  await scheduler.stop();
});

Deno.test("Scheduler goes on after its store failed", async () => {
  const world = new SchedulerWorld();
  await world.add("a");
  const { due, settle: settleRun } = world.store;
  world.store.due = () => Promise.reject(new Error("disk full"));
  const scheduler = world.start();
  await world.pass(2 * MINUTE_MS, 1_000);
  assertEquals(world.turns.turns.length, 0);
  world.store.due = due;
  world.store.settle = () => Promise.reject(new Error("disk full"));
  await world.pass(10_000, 1_000);
  assertEquals((await historyOf(world, "a"))[0]!.state, "running");
  world.store.settle = settleRun;
  await world.pass(10_000, 1_000);
  assertEquals((await historyOf(world, "a"))[0]!.state, "done");
  assertEquals(ranAt(world), [2]);
  await scheduler.stop();
});

Deno.test("Scheduler begins nothing that waited for longer than keys are kept", async () => {
  const world = new SchedulerWorld();
  await world.add("a", { schedule: { every: 3_600 } });
  // Claimed and begun; the process died before the turn was accepted.
  const dying = world.start({ steps: 10_000 });
  world.turns.accept = () => new Promise(() => {});
  await world.pass(HOUR_MS);
  assertEquals(dying.running, 1);
  Reflect.deleteProperty(world.turns, "accept");
  world.setAheadMs = 8 * 24 * HOUR_MS;
  const scheduler = world.start();
  await world.pass(1);
  assertEquals((await historyOf(world, "a"))[0]!.state, "expired");
  assertEquals(world.turns.keys.includes("automation:a/slot:2026-03-01T01:00:00.000Z"), false);
  await scheduler.stop();
});

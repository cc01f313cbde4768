import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Automation } from "../contract/automation.ts";
import { slotsBetween } from "./testing/slots_between.ts";
import { SchedulerWorld, workOff } from "./testing/scheduler_world.ts";
import { START } from "./testing/test_spec.ts";
import { rounds } from "../../tests/support/rounds.ts";

const MINUTE_MS = 60_000;
const DELIVERY = { when: "always" as const, channel: "test", chatId: "1" };

const specs = fc.record({
  schedule: fc.constantFrom<Automation["schedule"]>(
    { every: 60 },
    { every: 150 },
    { cron: "*/2 * * * *", timeZone: "Asia/Kathmandu" },
    { at: new Date(START + 5 * MINUTE_MS).toISOString() },
  ),
  missed: fc.constantFrom("skip" as const, "once" as const, "all" as const),
  overlap: fc.constantFrom("skip" as const, "queue" as const),
});

/** Each slot ran once or is counted once; each run has ended and was delivered once. */
async function assertWhole(world: SchedulerWorld, ids: string[]): Promise<void> {
  for (const id of ids) {
    const record = (await world.store.find(id))!;
    const slots = slotsBetween(record.spec.schedule, {
      createdAt: START,
      afterExclusive: START,
      untilInclusive: record.cursor,
      max: 10_000,
    }).map((slot) => `automation:${id}/slot:${new Date(slot).toISOString()}`);
    const ran = world.turns.keys.filter((key) => key.startsWith(`automation:${id}/`));
    assertEquals(new Set(ran).size, ran.length);
    assertEquals(ran.filter((key) => !slots.includes(key)), []);
    assertEquals(ran.length + record.missed + record.overlapped, slots.length, id);
    const history = await world.store.history(id, Number.MAX_SAFE_INTEGER, 999);
    assertEquals(history.map(({ state }) => state), ran.map(() => "done"));
    const delivered = [...world.turns.outbox.keys()];
    assertEquals(delivered.filter((key) => key.startsWith(`automation:${id}/`)).sort(), ran.sort());
  }
  assertEquals(world.errors, []);
}

Deno.test("Scheduler runs each slot once or counts it, wherever it crashes (W4)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(specs, { minLength: 1, maxLength: 3 }),
      // Lives of processes: calls until the crash, minutes that it lives at most, minutes without.
      fc.array(
        fc.record({
          steps: fc.integer({ min: 0, max: 60 }),
          lives: fc.integer({ min: 0, max: 4 }),
          rests: fc.integer({ min: 0, max: 6 }),
        }),
        { maxLength: 8 },
      ),
      fc.constantFrom(0, 20_000, 90_000),
      async (automations, processes, durationMs) => {
        const world = new SchedulerWorld();
        world.turns.durationMs = durationMs;
        const ids = automations.map((_, at) => `a${at}`);
        for (const [at, spec] of automations.entries()) {
          await world.add(ids[at]!, { ...spec, delivery: DELIVERY });
        }
        for (const { steps, lives, rests } of processes) {
          const fate = { steps };
          world.start(fate);
          await world.pass(lives * MINUTE_MS);
          fate.steps = 0;
          await world.pass(rests * MINUTE_MS, 10 * MINUTE_MS);
        }
        const last = world.start();
        await world.pass(2 * MINUTE_MS);
        for (const id of ids) {
          const record = (await world.store.find(id))!;
          // Nothing new comes; what waits is worked off.
          await world.store.replace({ ...record, nextAt: undefined, revision: 99 }, record);
        }
        await workOff(world);
        await last.stop();
        await assertWhole(world, ids);
      },
    ),
    { numRuns: rounds(60) },
  );
});

Deno.test("Schedulers that share a store run each slot once between them (W4)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(specs, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(0, 20_000, 90_000),
      fc.integer({ min: 0, max: 200 }),
      async (automations, durationMs, steps) => {
        const world = new SchedulerWorld();
        world.turns.durationMs = durationMs;
        const ids = automations.map((_, at) => `a${at}`);
        for (const [at, spec] of automations.entries()) {
          await world.add(ids[at]!, { ...spec, delivery: DELIVERY });
        }
        world.start({ steps });
        const others = [world.start(), world.start()];
        await world.pass(10 * MINUTE_MS);
        for (const id of ids) {
          const record = (await world.store.find(id))!;
          await world.store.replace({ ...record, nextAt: undefined, revision: 99 }, record);
        }
        // What the one that crashed had begun is taken up by the next that starts.
        others.push(world.start());
        await workOff(world);
        for (const scheduler of others) await scheduler.stop();
        await assertWhole(world, ids);
      },
    ),
    { numRuns: rounds(30) },
  );
});

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { dueSlots, MAX_MADE_UP, ON_TIME_MS, type SlotState } from "./due_slots.ts";
import { slotsBetween } from "../automation/testing/slots_between.ts";
import { rounds } from "../../tests/support/rounds.ts";

const START = Date.parse("2026-03-01T00:00:00Z");
const MINUTE_MS = 60_000;
const EVERY_10_MINUTES = { every: 600 };

function state(missed: SlotState["spec"]["missed"], cursor = START): SlotState {
  return { spec: { schedule: EVERY_10_MINUTES, missed }, createdAt: START, cursor };
}

const minutes = (count: number) => START + count * MINUTE_MS;

Deno.test("dueSlots() runs what is on time under each policy", () => {
  for (const missed of ["skip", "once", "all"] as const) {
    assertEquals(dueSlots(state(missed), minutes(10) + ON_TIME_MS - 1), {
      run: [minutes(10)],
      missed: 0,
      cursor: minutes(10),
      nextAt: minutes(20),
    });
    assertEquals(dueSlots(state(missed), minutes(9)), {
      run: [],
      missed: 0,
      cursor: START,
      nextAt: minutes(10),
    });
  }
});

Deno.test("dueSlots() counts what skip leaves out", () => {
  assertEquals(dueSlots(state("skip"), minutes(35)), {
    run: [],
    missed: 3,
    cursor: minutes(30),
    nextAt: minutes(40),
  });
  assertEquals(dueSlots(state("skip"), minutes(30)).run, [minutes(30)]);
});

Deno.test("dueSlots() makes up for the newest alone with once", () => {
  const { run, missed } = dueSlots(state("once"), minutes(35));
  assertEquals([run, missed], [[minutes(30)], 2]);
  // The one that is on time stands for those before it.
  assertEquals(dueSlots(state("once"), minutes(30)).run, [minutes(30)]);
});

Deno.test("dueSlots() makes up for the newest hundred with all", () => {
  const { run, missed, cursor } = dueSlots(state("all"), minutes(10 * 250 + 5));
  assertEquals(run.length, MAX_MADE_UP);
  assertEquals([run[0], run.at(-1), missed], [minutes(1510), minutes(2500), 150]);
  assertEquals(cursor, minutes(2500));
});

Deno.test("dueSlots() runs an instant once and has no next", () => {
  const spec = { schedule: { at: "2026-03-01T01:00:00+01:00" }, missed: "once" as const };
  const created = START - 1;
  const due = dueSlots({ spec, createdAt: created, cursor: created }, START + 86_400_000);
  assertEquals(due, { run: [START], missed: 0, cursor: START, nextAt: undefined });
  const again = dueSlots({ spec, createdAt: created, cursor: due.cursor }, START + 90_000_000);
  assertEquals(again.run, []);
});

Deno.test("dueSlots() does nothing when the clock stands before its cursor", () => {
  assertEquals(dueSlots(state("all", minutes(100)), minutes(5)), {
    run: [],
    missed: 0,
    cursor: minutes(100),
    nextAt: minutes(110),
  });
});

Deno.test("dueSlots() settles each slot once, whenever it is asked", () => {
  const schedules = [
    { every: 60 },
    { every: 1_000 },
    { cron: "*/7 * * * *", timeZone: "Europe/Berlin" },
    { cron: "30 1-3 * * *", timeZone: "Europe/Berlin" },
    { at: "2026-03-28T20:00:00Z" },
  ];
  const created = Date.parse("2026-03-28T12:00:00Z");
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.constantFrom("skip" as const, "once" as const, "all" as const),
      fc.array(fc.integer({ min: -3_600_000, max: 6 * 3_600_000 }), { maxLength: 12 }),
      (schedule, missed, steps) => {
        let cursor = created;
        let now = created;
        let newest = created;
        const ran: number[] = [];
        let left = 0;
        for (const step of steps) {
          now += step;
          newest = Math.max(newest, now);
          const due = dueSlots({ spec: { schedule, missed }, createdAt: created, cursor }, now);
          ran.push(...due.run);
          left += due.missed;
          cursor = due.cursor;
        }
        const all = slotsBetween(schedule, {
          createdAt: created,
          afterExclusive: created,
          untilInclusive: newest,
          max: 10_000,
        });
        assertEquals(ran.length + left, all.length);
        assertEquals([...new Set(ran)].sort((a, b) => a - b), ran);
        assertEquals(ran.filter((slot) => !all.includes(slot)), []);
      },
    ),
    { numRuns: rounds(100, 25) },
  );
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CronSeries } from "./cron_series.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { cpuMs } from "../../tests/support/cpu_ms.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function isoSlots(cron: string, zone: string, from: string, count: number): string[] {
  const series = new CronSeries(cron, zone);
  const slots: string[] = [];
  let next = series.next(Date.parse(from));
  while (next !== undefined && slots.length < count) {
    slots.push(new Date(next).toISOString().slice(0, 16));
    next = series.next(next);
  }
  return slots;
}

Deno.test("CronSeries runs once at the next instant when the local time does not exist", () => {
  const cases: [cron: string, zone: string, from: string, slots: string[]][] = [
    ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    // Both fall into the gap, and so does 03:00 itself: one slot.
    ["15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", [
      "2026-03-29T01:00",
      "2026-03-30T00:15",
    ]],
    ["0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:00"]],
    ["30 2 * * *", "America/New_York", "2040-03-10T12:00Z", [
      "2040-03-11T07:00",
      "2040-03-12T06:30",
    ]],
    // Half an hour is left out.
    ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", [
      "2026-10-03T15:30",
      "2026-10-04T15:15",
    ]],
    // The day begins at one o'clock.
    ["0 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", ["2026-04-23T22:00", "2026-04-24T21:00"]],
    // The last hour of a day is left out.
    ["30 23 * * *", "America/Nuuk", "2027-03-27T12:00Z", ["2027-03-28T01:00", "2027-03-29T00:30"]],
    // A day that did not exist; its nine o'clock comes as the next day begins.
    ["0 9 * * *", "Pacific/Apia", "2011-12-29T12:00Z", [
      "2011-12-29T19:00",
      "2011-12-30T10:00",
      "2011-12-30T19:00",
    ]],
  ];
  for (const [cron, zone, from, slots] of cases) {
    assertEquals(isoSlots(cron, zone, from, slots.length), slots, `${cron} ${zone}`);
  }
});

Deno.test("CronSeries runs once, at the first, when the local time exists twice", () => {
  const cases: [cron: string, zone: string, from: string, slots: string[]][] = [
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
    ["*/30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", [
      "2026-10-25T00:00",
      "2026-10-25T00:30",
      "2026-10-26T01:00",
    ]],
    // Asked between the two: the second is not due.
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:45Z", ["2026-10-26T01:30"]],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T01:10Z", ["2026-10-26T01:30"]],
    ["45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00Z", [
      "2026-04-04T14:45",
      "2026-04-05T15:15",
    ]],
    ["30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00Z", [
      "2018-02-18T01:30",
      "2018-02-19T02:30",
    ]],
  ];
  for (const [cron, zone, from, slots] of cases) {
    assertEquals(isoSlots(cron, zone, from, slots.length), slots, `${cron} ${zone} ${from}`);
  }
});

Deno.test("CronSeries goes by elapsed time when the pattern names every hour", () => {
  assertEquals(isoSlots("30 * * * *", "Europe/Berlin", "2026-10-24T23:45Z", 3), [
    "2026-10-25T00:30",
    "2026-10-25T01:30",
    "2026-10-25T02:30",
  ]);
  assertEquals(isoSlots("30 * * * *", "Europe/Berlin", "2026-03-28T23:45Z", 3), [
    "2026-03-29T00:30",
    "2026-03-29T01:30",
    "2026-03-29T02:30",
  ]);
});

Deno.test("CronSeries knows leap days, odd offsets and years after 2038", () => {
  assertEquals(isoSlots("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", 2), [
    "2104-02-29T00:00",
    "2108-02-29T00:00",
  ]);
  assertEquals(isoSlots("0 12 * * *", "Asia/Kathmandu", "2039-01-01T00:00Z", 1), [
    "2039-01-01T06:15",
  ]);
  assertEquals(isoSlots("0 12 1 1,7 *", "Pacific/Chatham", "2049-01-01T12:00Z", 2), [
    "2049-06-30T23:15",
    "2049-12-31T22:15",
  ]);
  assertEquals(isoSlots("0 8 * * MON-FRI", "Asia/Kolkata", "2026-01-02T12:00Z", 1), [
    "2026-01-05T02:30",
  ]);
});

Deno.test("CronSeries throws a TypeError for what is no pattern of five fields", () => {
  for (
    const wrong of [
      "",
      "* * * *",
      "0 0 0 * * *",
      "@daily",
      "99 * * * *",
      "* * * * *\n*",
      "a b c d e",
    ]
      .concat(["*/0 * * * *", "x".repeat(1_000), "* ".repeat(5_000), "1-0 * * * *", "0 0 32 * *"])
  ) {
    assertThrows(() => new CronSeries(wrong, "UTC"), TypeError, undefined, wrong.slice(0, 20));
  }
  assertEquals(new CronSeries("0 0 30 2 *", "Europe/Berlin").next(0), undefined);
});

/** Days around changes of a zone's offset, and zones without any. */
const PLACES: [zone: string, day: string][] = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["Europe/Berlin", "2061-10-30"],
  ["America/New_York", "2040-11-04"],
  ["America/St_Johns", "2011-03-13"],
  ["America/Sao_Paulo", "2018-11-04"],
  ["America/Sao_Paulo", "2018-02-18"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["Australia/Lord_Howe", "2026-10-04"],
  ["Pacific/Chatham", "2026-09-27"],
  ["Pacific/Apia", "2011-12-30"],
  ["Africa/Cairo", "2026-04-24"],
  ["America/Nuuk", "2027-03-28"],
  ["Antarctica/Troll", "2026-10-25"],
  ["Asia/Kathmandu", "2026-01-01"],
  ["UTC", "2028-02-29"],
];

/** Local time by what a clock on the wall shows, from another source than the code under test. */
function wallClock(zone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (atMs) => Date.parse(`${format.format(atMs).replace(" ", "T")}Z`);
}

/** Looks at every minute: has the clock on the wall come to, or jumped over, a time that is meant? */
function watchTheClock(
  { minutes, hours }: { minutes: number[]; hours: number[] },
  zone: string,
  from: number,
  until: number,
): number[] {
  const wall = wallClock(zone);
  const means = (local: number) =>
    minutes.includes(new Date(local).getUTCMinutes()) &&
    hours.includes(new Date(local).getUTCHours());
  const slots: number[] = [];
  let reached = wall(from - 2 * DAY_MS);
  for (let at = from - 2 * DAY_MS + MINUTE_MS; at <= until; at += MINUTE_MS) {
    const local = wall(at);
    let due = hours.length === 24 && means(local);
    if (hours.length < 24) {
      for (let each = reached + MINUTE_MS; each <= local; each += MINUTE_MS) due ||= means(each);
    }
    reached = Math.max(reached, local);
    if (due && at > from) slots.push(at);
  }
  return slots;
}

Deno.test("CronSeries agrees with somebody who watches the clock on the wall", () => {
  const some = (max: number) =>
    fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      fc.constantFrom(...PLACES),
      some(59),
      fc.oneof({ weight: 4, arbitrary: some(23) }, {
        weight: 1,
        arbitrary: fc.constant(Array.from({ length: 24 }, (_, hour) => hour)),
      }),
      fc.integer({ min: -30 * 60, max: 30 * 60 }),
      fc.integer({ min: 0, max: 2 * 24 * 60 }),
      ([zone, day], minutes, hours, startMinutes, lengthMinutes) => {
        const from = Date.parse(`${day}T00:00Z`) + startMinutes * MINUTE_MS;
        const until = from + lengthMinutes * MINUTE_MS;
        const expected = watchTheClock({ minutes, hours }, zone, from, until);
        const series = new CronSeries(`${minutes.join(",")} ${hours.join(",")} * * *`, zone);

        const forward: number[] = [];
        for (let at = series.next(from)!; at <= until; at = series.next(at)!) forward.push(at);
        assertEquals(forward, expected);
        assertEquals(series.count(from, until), expected.length);
        for (const max of [1, 3, 1_000]) {
          const range = { afterExclusive: from, untilInclusive: until, max };
          assertEquals(series.newest(range), expected.slice(-max));
        }
      },
    ),
    { numRuns: rounds(60) },
  );
});

Deno.test("CronSeries counts years of minutes without looking at each", () => {
  const series = new CronSeries("* * * * *", "Europe/Berlin");
  const from = Date.parse("2020-01-01T00:00Z");
  const until = Date.parse("2030-01-01T00:00Z");
  const before = cpuMs();
  assertEquals(series.count(from, until), (until - from) / MINUTE_MS);
  assertEquals(series.newest({ afterExclusive: from, untilInclusive: until, max: 2 }), [
    until - MINUTE_MS,
    until,
  ]);
  // Looking at each of 5 million would take minutes.
  assert(cpuMs() - before < 10_000);
});

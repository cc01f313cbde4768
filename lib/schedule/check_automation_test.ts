import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { checkAutomation } from "./check_automation.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const NEWS = { name: "news", message: "What is new?", schedule: { every: 3_600 } };

function refusal(change: Record<string, unknown>): { param: string | undefined; message: string } {
  const error = assertThrows(
    () => checkAutomation({ ...NEWS, ...change }, { now: NOW }),
    ServiceError,
  );
  assertEquals(error.code, "invalid_request");
  return { param: error.details.param, message: error.message };
}

Deno.test("checkAutomation() fills in defaults", () => {
  assertEquals(checkAutomation(NEWS, { now: NOW }), {
    ...NEWS,
    missed: "once",
    tokenBudget: 200_000,
    maxSteps: 50,
    retries: 0,
    overlap: "skip",
    enabled: true,
  });
  const delivery = { channel: "telegram.work", chatId: "12345" };
  assertEquals(checkAutomation({ ...NEWS, delivery }, { now: NOW }).delivery, {
    ...delivery,
    when: "always",
  });
});

Deno.test("checkAutomation() takes every kind of schedule", () => {
  for (
    const schedule of [
      { at: "2026-03-01T00:00:01Z" },
      { at: "2026-03-01T05:30:00.001+05:30" },
      { every: 60 },
      { cron: "30 8 * * MON-FRI", timeZone: "Europe/Berlin" },
      { cron: "0 0 29 2 *", timeZone: "UTC" },
      { cron: "0 9 L * *", timeZone: "Asia/Kathmandu" },
    ]
  ) {
    assertEquals(checkAutomation({ ...NEWS, schedule }, { now: NOW }).schedule, schedule);
  }
});

Deno.test("checkAutomation() names field, value and what was expected", () => {
  const zone = "expected a zone of the IANA database, such as Europe/Berlin";
  const cases: [change: Record<string, unknown>, param: string, text: string][] = [
    [{ name: " " }, "name", 'name is " "; expected a name of 1 to 100 characters'],
    [{ name: "a\u202eb" }, "name", "all of them visible"],
    [{ message: undefined }, "message", "message is missing; expected a message of 1 to 100000"],
    [{ message: "a\0b" }, "message", "expected a message"],
    [{ message: "\ud800" }, "message", "expected a message"],
    [{ schedule: "daily" }, "schedule", 'schedule is "daily"; expected an object with one of'],
    [{ schedule: {} }, "schedule", "schedule is missing; expected exactly one of at, every and"],
    [{ schedule: { every: 60, at: "2027-01-01T00:00:00Z" } }, "schedule", '"at and every"'],
    [
      { schedule: { every: 59 } },
      "schedule.every",
      "schedule.every is 59; expected an integer from 60 to 31622400",
    ],
    [{ schedule: { every: 60.5 } }, "schedule.every", "60.5; expected an integer"],
    [{ schedule: { every: "60" } }, "schedule.every", '"60"; expected an integer'],
    [{ schedule: { every: 60, timeZone: "UTC" } }, "schedule.timeZone", "no zone without cron"],
    [
      { schedule: { at: "2026-03-01T00:00:00Z" } },
      "schedule.at",
      'schedule.at is "2026-03-01T00:00:00Z"; expected an instant after now, 2026-03-01T00:00:00.000Z',
    ],
    [{ schedule: { at: "2026-03-02T00:00:00" } }, "schedule.at", "an instant with its offset"],
    [{ schedule: { at: "2027-02-30T00:00:00Z" } }, "schedule.at", "an instant with its offset"],
    [{ schedule: { cron: "* * * * *" } }, "schedule.timeZone", `is missing; ${zone}`],
    [
      { schedule: { cron: "* * * * *", timeZone: "Europe/Berln" } },
      "schedule.timeZone",
      `schedule.timeZone is "Europe/Berln"; ${zone}`,
    ],
    [{ schedule: { cron: "* * * * *", timeZone: "+02:00" } }, "schedule.timeZone", zone],
    [
      { schedule: { cron: "0 0 30 2 *", timeZone: "UTC" } },
      "schedule.cron",
      'schedule.cron is "0 0 30 2 *"; expected a pattern that comes due',
    ],
    [
      { schedule: { cron: "*/5 * * * * *", timeZone: "UTC" } },
      "schedule.cron",
      "more often than each minute",
    ],
    [{ schedule: { cron: "61 * * * *", timeZone: "UTC" } }, "schedule.cron", "five fields"],
    [{ schedule: { cron: "0 ".repeat(500), timeZone: "UTC" } }, "schedule.cron", "five fields"],
    [{ missed: "twice" }, "missed", 'missed is "twice"; expected one of skip, once, all'],
    [{ tokenBudget: 0 }, "tokenBudget", "tokenBudget is 0; expected an integer from 1000"],
    [{ maxSteps: NaN }, "maxSteps", "maxSteps is NaN; expected an integer from 1"],
    [{ retries: 11 }, "retries", "retries is 11; expected an integer from 0 to 10"],
    [{ overlap: null }, "overlap", "overlap is null; expected one of skip, queue"],
    [{ enabled: "yes" }, "enabled", 'enabled is "yes"; expected true or false'],
    [{ delivery: { channel: "a" } }, "delivery.chatId", "is missing; expected a chat's id"],
    [{ delivery: { channel: "A b", chatId: "1" } }, "delivery.channel", '"A b"; expected a'],
    [{ delivery: { channel: "a", chatId: "*" } }, "delivery.chatId", "expected a chat's id"],
    [{ delivery: { channel: "a", chatId: "1", when: "often" } }, "delivery.when", "always"],
    [{ color: "red" }, "color", 'color is "red"; expected no such field'],
    [{ schedule: { every: 60, Cron: 1 } }, "schedule.Cron", "schedule.Cron is 1; expected no such"],
  ];
  for (const [change, param, text] of cases) {
    const refused = refusal(change);
    assertEquals([refused.param, refused.message.includes(text)], [param, true], refused.message);
  }
});

Deno.test("checkAutomation() names every wrong field, within bounds", () => {
  const { message } = refusal({ retries: -1, missed: 1 });
  assertEquals(message.split("\n").length, 2);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x${at}`, "y"]));
  assertEquals(refusal(many).message.split("\n").length, 11);
  assertEquals(refusal({ name: "n".repeat(1_000_000) }).message.length < 300, true);
});

Deno.test("checkAutomation() lets an instant that has passed stay as it is when others change", () => {
  const schedule = { at: "2026-02-01T00:00:00Z" };
  const checked = checkAutomation({ ...NEWS, schedule }, { now: NOW, previous: schedule });
  assertEquals(checked.schedule, schedule);
});

Deno.test("checkAutomation() answers or refuses, whatever it is given", () => {
  const given = fc.oneof(
    fc.anything(),
    fc.record({ name: fc.anything(), message: fc.anything(), schedule: fc.anything() }),
    fc.record({
      name: fc.constant("n"),
      message: fc.constant("m"),
      schedule: fc.record({ cron: fc.string({ maxLength: 20 }), timeZone: fc.string() }),
    }),
    fc.record({
      name: fc.constant("n"),
      message: fc.constant("m"),
      schedule: fc.record({
        cron: fc.array(fc.constantFrom("*", "0", "1-5", "*/7", "L", "FRI#2", "31", "x"), {
          minLength: 4,
          maxLength: 6,
        }).map((fields) => fields.join(" ")),
        timeZone: fc.constantFrom("UTC", "Europe/Berlin", "Nowhere/At_All"),
      }),
    }),
  );
  fc.assert(fc.property(given, (value) => {
    try {
      const checked = checkAutomation(value, { now: NOW });
      assertEquals(checkAutomation(checked, { now: NOW }), checked);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }));
});

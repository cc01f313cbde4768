import { assertEquals } from "@std/assert";
import { nextSlot } from "./next_slot.ts";
import { slotsBetween } from "../automation/testing/slots_between.ts";

const CREATED = Date.parse("2026-03-01T00:00:07.250Z");

Deno.test("nextSlot() counts every from creation, whenever it is asked", () => {
  const range = { createdAt: CREATED, untilInclusive: CREATED + 1_000_000_000, max: 2 };
  const every = { every: 90 };
  assertEquals(slotsBetween(every, { ...range, afterExclusive: CREATED }), [
    CREATED + 90_000,
    CREATED + 180_000,
  ]);
  assertEquals(
    slotsBetween(every, { ...range, afterExclusive: CREATED + 90_000 })[0],
    CREATED + 180_000,
  );
  assertEquals(slotsBetween(every, { ...range, afterExclusive: 0 })[0], CREATED + 90_000);
});

Deno.test("nextSlot() leaves out its begin and takes its end", () => {
  const at = { at: "2026-03-01T09:00:00+05:45" };
  const instant = Date.parse("2026-03-01T03:15:00Z");
  const slots = (afterExclusive: number, untilInclusive: number) =>
    slotsBetween(at, { createdAt: CREATED, afterExclusive, untilInclusive, max: 5 });
  assertEquals(slots(instant - 1, instant), [instant]);
  assertEquals(slots(instant, instant + 1), []);
  assertEquals(slots(instant - 10, instant - 1), []);
});

Deno.test("nextSlot() goes on from each slot, and slotsBetween() stops at max and at the end", () => {
  const range = { createdAt: CREATED, afterExclusive: CREATED, untilInclusive: CREATED + 600_000 };
  const minutely = { cron: "* * * * *", timeZone: "America/St_Johns" };
  assertEquals(slotsBetween(minutely, { ...range, max: 3 }).length, 3);
  assertEquals(slotsBetween(minutely, { ...range, max: 100 }).length, 10);
  assertEquals(slotsBetween(minutely, { ...range, max: 0 }), []);
});

Deno.test("nextSlot() knows each kind of schedule", () => {
  const from = { createdAt: CREATED, afterExclusive: Date.parse("2039-12-31T23:00:00Z") };
  const iso = (slot: number | undefined) => slot && new Date(slot).toISOString();
  assertEquals(
    iso(nextSlot({ cron: "0 0 29 2 *", timeZone: "Asia/Kolkata" }, from)),
    "2040-02-28T18:30:00.000Z",
  );
  assertEquals(iso(nextSlot({ every: 60 }, from)), "2039-12-31T23:00:07.250Z");
  assertEquals(nextSlot({ at: "2039-12-31T23:00:00Z" }, from), undefined);
});

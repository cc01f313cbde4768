import { assertEquals, assertRejects } from "@std/assert";
import { Slots } from "./slots.ts";

const NEVER = new AbortController().signal;

Deno.test("Slots.take() gives so many, then in order; one that gave up takes none", async () => {
  const places = new Slots(1, Infinity);
  const leave = (await places.take(NEVER))!;
  const gone = new AbortController();
  const order: string[] = [];
  const left = places.take(gone.signal);
  const second = places.take(NEVER).then((leave) => (order.push("second"), leave));
  const third = places.take(NEVER).then((leave) => (order.push("third"), leave));
  gone.abort(new Error("gone"));
  await assertRejects(() => left, Error, "gone");
  leave();
  leave();
  (await second)!();
  assertEquals(order, ["second"]);
  (await third)!();
  // One that is given to somebody who leaves at that moment goes on.
  const held = (await places.take(NEVER))!;
  const late = new AbortController();
  const lost = places.take(late.signal);
  held();
  late.abort(new Error("late"));
  const kept = await lost.catch(() => undefined);
  kept?.();
  (await places.take(NEVER))!();
});

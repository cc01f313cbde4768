import { assertEquals } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { sleep } from "./sleep.ts";

Deno.test("sleep() resolves when its time has come", async () => {
  const clock = fakeClock();
  let isOver = false;
  const slept = sleep(1_000, clock, new AbortController().signal).then(() => isOver = true);
  clock.tick(999);
  await Promise.resolve();
  assertEquals(isOver, false);
  clock.tick(1);
  await slept;
});

Deno.test("sleep() ends with its signal, and leaves no timer", async () => {
  const clock = fakeClock();
  const stopping = new AbortController();
  const slept = sleep(1_000, clock, stopping.signal);
  assertEquals(clock.timers(), 1);
  stopping.abort();
  await slept;
  assertEquals(clock.timers(), 0);
});

Deno.test("sleep() waits for nothing when it is over already", async () => {
  const clock = fakeClock();
  await sleep(1_000, clock, AbortSignal.abort());
  await sleep(0, clock, new AbortController().signal);
  assertEquals(clock.timers(), 0);
});

import { assertEquals } from "@std/assert";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { BackOff } from "./back_off.ts";

Deno.test("BackOff waits 1, 2, 4 … 60 seconds, and not at all once it worked", () => {
  const clock = fakeClock();
  const backOff = new BackOff(clock);
  assertEquals(backOff.waitMs, 0);
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    backOff.failed();
    waits.push(backOff.waitMs);
  }
  assertEquals(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  clock.tick(59_999);
  assertEquals(backOff.waitMs, 1);
  clock.tick(5);
  assertEquals(backOff.waitMs, 0);
  backOff.failed();
  assertEquals(backOff.waitMs, 60_000);
  backOff.worked();
  assertEquals(backOff.waitMs, 0);
  backOff.failed();
  assertEquals(backOff.waitMs, 1_000);
});

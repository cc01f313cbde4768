import { assert, assertEquals } from "@std/assert";
import { BackOff } from "./back_off.ts";

Deno.test("BackOff.next() gives 1, 2, 4 … 60 s, a tenth more or less, and the first again after a reset", () => {
  const middle = new BackOff(() => 0.5);
  const waits = () => Array.from({ length: 9 }, () => middle.next() / 1_000);
  assertEquals(waits(), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  middle.reset();
  assertEquals(middle.next(), 1_000);
  assertEquals([new BackOff(() => 0).next(), new BackOff(() => 0.999999).next()], [900, 1_100]);
  const long = new BackOff(Math.random);
  for (let fault = 0; fault < 5_000; fault++) assert(long.next() <= 66_000);
});

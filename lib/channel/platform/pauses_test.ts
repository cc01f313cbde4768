import { assertEquals } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { Pauses } from "./pauses.ts";

Deno.test("Pauses are over in their time, each by itself", () => {
  const clock = fakeClock();
  const pauses = new Pauses(clock);
  assertEquals(pauses.leftMs("", "a"), 0);
  pauses.begin("a", 5_000);
  pauses.begin("", 1_000);
  clock.tick(400);
  assertEquals([pauses.leftMs("a"), pauses.leftMs(""), pauses.leftMs("b")], [4_600, 600, 0]);
  assertEquals(pauses.leftMs("", "a"), 4_600);
  clock.tick(4_600);
  assertEquals(pauses.leftMs("a"), 0);
});

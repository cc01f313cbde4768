import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { AuthFailures } from "./auth_failures.ts";

Deno.test("AuthFailures.record() refuses past the limit until the window has slid on", () => {
  let nowMs = 0;
  const failures = new AuthFailures({ perMinute: 2, elapsed: () => nowMs });
  assertEquals(failures.record("a"), 0);
  nowMs = 30_000;
  assertEquals(failures.record("a"), 0);
  assertEquals(failures.record("a"), 30);
  nowMs = 59_000;
  assertEquals(failures.record("a"), 1);
  nowMs = 60_000;
  assertEquals(failures.record("a"), 0);
  assertEquals(failures.record("a"), 30);
});

Deno.test("AuthFailures remembers a bounded number of addresses, the latest ones", () => {
  const failures = new AuthFailures({ perMinute: 1, elapsed: () => 0, maxPeers: 100 });
  for (let i = 0; i < 1_000; i++) failures.record(`10.0.${i >> 8}.${i & 255}`);
  assertEquals(failures.size, 100);
  assert(failures.record(`10.0.${999 >> 8}.${999 & 255}`) > 0);
  assertEquals(failures.record("10.0.0.0"), 0);
});

Deno.test("AuthFailures.record() counts exactly the failures of the last sixty seconds", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 60 });
  fc.assert(fc.property(steps, fc.integer({ min: 1, max: 5 }), (waits, perMinute) => {
    let nowMs = 0;
    const failures = new AuthFailures({ perMinute, elapsed: () => nowMs });
    let counted: number[] = [];
    for (const wait of waits) {
      nowMs += wait;
      const second = Math.floor(nowMs / 1000);
      counted = counted.filter((at) => at > second - 60);
      const retryAfterS = failures.record("a");
      if (counted.length < perMinute) {
        assertEquals(retryAfterS, 0);
        counted.push(second);
      } else {
        // The one that has to leave the window first.
        assertEquals(retryAfterS, counted[counted.length - perMinute]! + 60 - second);
      }
    }
  }));
});

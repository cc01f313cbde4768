import { assert, assertEquals } from "@std/assert";
import { backoffMs } from "./backoff.ts";

Deno.test("backoffMs() doubles up to its bound", () => {
  const waits = [0, 1, 2, 3, 7, 8, 10_000].map((failures) =>
    backoffMs(failures, { random: () => 0 })
  );
  assertEquals(waits, [1_000, 1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
  assertEquals(backoffMs(2, { firstMs: 30_000, maxMs: 600_000, random: () => 0 }), 60_000);
});

Deno.test("backoffMs() spreads by a quarter at most", () => {
  assertEquals(backoffMs(3, { random: () => 0.5 }), 4_500);
  for (let tries = 0; tries < 100; tries++) {
    const waitMs = backoffMs(1);
    assert(waitMs >= 1_000 && waitMs <= 1_250);
  }
});

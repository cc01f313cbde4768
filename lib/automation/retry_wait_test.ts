import { assertEquals } from "@std/assert";
import { retryWaitMs } from "./retry_wait.ts";

Deno.test("retryWaitMs() doubles up to an hour and ends", () => {
  const waits = Array.from({ length: 11 }, (_, at) => retryWaitMs(at + 1, 10));
  assertEquals(waits.map((wait) => wait && wait / 60_000), [
    0.5,
    1,
    2,
    4,
    8,
    16,
    32,
    60,
    60,
    60,
    undefined,
  ]);
  assertEquals(retryWaitMs(1, 0), undefined);
});

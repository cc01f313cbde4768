import { assertEquals, assertRejects } from "@std/assert";
import { FakeSignals } from "../testing/fake_signals.ts";
import { withInterrupts } from "./interrupts.ts";

Deno.test("withInterrupts() aborts at the first Ctrl-C and leaves at the second", async () => {
  const signals = new FakeSignals();
  let first = 0;
  await withInterrupts(signals, () => first++, async (signal) => {
    assertEquals(signal.aborted, false);
    signals.interrupt();
    assertEquals([signal.aborted, signal.reason.code, first], [true, "turn_cancelled", 1]);
    assertEquals(signals.exits, []);
    signals.interrupt();
    assertEquals([signals.exits, first], [[130], 1]);
    await Promise.resolve();
  });
});

Deno.test("withInterrupts() gives the signal back, also after a failure", async () => {
  const signals = new FakeSignals();
  assertEquals(await withInterrupts(signals, () => {}, () => Promise.resolve(7)), 7);
  const fail = () => Promise.reject(new Error("no"));
  await assertRejects(() => withInterrupts(signals, () => {}, fail), Error, "no");
  assertEquals(signals.listeners, 0);
});

import { assertEquals, assertRejects } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { withDeadline } from "./with_deadline.ts";

/** A call that ends with its signal alone. */
function hanging(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

Deno.test("withDeadline() is as its call, and leaves no timer", async () => {
  const clock = fakeClock();
  const { signal } = new AbortController();
  assertEquals(await withDeadline({ timeoutMs: 10, clock, signal }, () => Promise.resolve(1)), 1);
  const failing = () => Promise.reject(new Error("no"));
  await assertRejects(() => withDeadline({ timeoutMs: 10, clock }, failing), Error, "no");
  assertEquals(clock.timers(), 0);
});

Deno.test("withDeadline() ends a call when its time is over", async () => {
  const clock = fakeClock();
  const options = { timeoutMs: 1_000, clock, late: () => new Error("too late") };
  const calling = withDeadline(options, hanging);
  clock.tick(1_000);
  await assertRejects(() => calling, Error, "too late");
});

Deno.test("withDeadline() ends a call with its signal, also one that was aborted before", async () => {
  const clock = fakeClock();
  const stopping = new AbortController();
  const { signal } = stopping;
  const calling = withDeadline({ timeoutMs: 1_000, clock, signal }, hanging);
  stopping.abort(new Error("stopped"));
  await assertRejects(() => calling, Error, "stopped");
  const later = () => withDeadline({ timeoutMs: 1_000, clock, signal }, hanging);
  await assertRejects(later, Error, "stopped");
  assertEquals(clock.timers(), 0);
});

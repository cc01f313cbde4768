import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { Life, settlesWithin } from "./life.ts";
import { fakeClock } from "../agent/testing/fake_clock.ts";

const LIMITS = { timeoutMs: 10_000, stallMs: 3_000 };
const CANCELLED = {
  status: "cancelled" as const,
  error: new ServiceError("turn_cancelled", "cancelled"),
};

Deno.test("Life ends as timed out at its deadline, whatever signs of life there are", () => {
  const clock = fakeClock();
  const life = new Life(clock, LIMITS);
  for (let second = 0; second < 9; second++) {
    clock.tick(1_000);
    life.touch();
  }
  assertEquals(life.verdict, undefined);
  clock.tick(1_000);
  assertEquals(life.verdict?.status, "timed_out");
  assertEquals(life.verdict?.error.code, "turn_timeout");
  assertStrictEquals(life.signal.reason, life.verdict?.error);
});

Deno.test("W9 Life ends as failed when there is no sign of life, and says from whom", () => {
  const clock = fakeClock();
  const life = new Life(clock, LIMITS);
  clock.tick(2_000);
  life.begin("the model a/b");
  clock.tick(2_999);
  assertEquals(life.verdict, undefined);
  clock.tick(1);
  assertEquals(life.verdict?.status, "failed");
  assertEquals(
    life.verdict?.error.message,
    "The turn is stuck: no sign of life from the model a/b for 3 s. Check that it works, or raise " +
      "agent.stallTimeoutS.",
  );
  assertEquals(clock.timers(), 0);
});

Deno.test("Life.onStall() gives a stall to whoever mends it, until the turn waits for something else", () => {
  const clock = fakeClock();
  const life = new Life(clock, LIMITS);
  const quiet: number[] = [];
  life.begin("the model a/b");
  life.onStall((quietMs) => quiet.push(quietMs) < 3);
  clock.tick(2_999);
  assertEquals(quiet, []);
  clock.tick(1);
  clock.tick(2_999);
  assertEquals([quiet, life.verdict], [[3_000], undefined]);
  life.begin("the tool read");
  clock.tick(3_000);
  assertEquals([quiet, life.verdict?.error.code], [[3_000], "turn_timeout"]);
});

Deno.test("Life.pause() makes deadline and watchdog stand still, nested too", () => {
  const clock = fakeClock();
  const life = new Life(clock, LIMITS);
  clock.tick(2_000);
  const [resume, resumeToo] = [life.pause(), life.pause()];
  clock.tick(100_000);
  resume();
  resume();
  clock.tick(100_000);
  assertEquals([life.verdict, clock.timers()], [undefined, 0]);
  resumeToo();
  for (let ms = 0; ms < 7_999; ms++) {
    clock.tick(1);
    life.touch();
  }
  assertEquals(life.verdict, undefined);
  clock.tick(1);
  assertEquals(life.verdict?.status, "timed_out");
});

Deno.test("Life.wait() gives up at the end, and drops what comes later", async () => {
  const clock = fakeClock();
  const life = new Life(clock, LIMITS);
  const late = Promise.withResolvers<number>();
  const waiting = life.wait(late.promise);
  life.end(CANCELLED);
  assertStrictEquals(await assertRejects(() => waiting), CANCELLED.error);
  assertStrictEquals(await assertRejects(() => life.wait(late.promise)), CANCELLED.error);
  // Nobody waits for it any more, so this must not be an unhandled rejection.
  late.reject(new Error("late"));
});

Deno.test("Life.wait() hands on values and failures while the turn lives", async () => {
  const life = new Life(fakeClock(), LIMITS);
  assertEquals(await life.wait(Promise.resolve(1)), 1);
  await assertRejects(() => life.wait(Promise.reject(new Error("mine"))), Error, "mine");
  life.close();
});

Deno.test("Life.end() keeps the first verdict, and takes none once closed", () => {
  const clock = fakeClock();
  const life = new Life(clock, LIMITS);
  life.end(CANCELLED);
  life.end({ ...CANCELLED, status: "interrupted" });
  assertEquals(life.verdict?.status, "cancelled");
  const closed = new Life(clock, LIMITS);
  closed.close();
  closed.end(CANCELLED);
  clock.tick(1_000_000);
  assertEquals([closed.verdict, closed.signal.aborted, clock.timers()], [undefined, false, 0]);
});

Deno.test("settlesWithin() says whether a promise settled in time, and leaves no timer", async () => {
  const clock = fakeClock();
  assert(await settlesWithin(clock, Promise.resolve(), 10));
  assert(await settlesWithin(clock, Promise.reject(new Error()), 10));
  assertEquals(clock.timers(), 0);
  const never = settlesWithin(clock, new Promise(() => {}), 10);
  clock.tick(10);
  assert(!await never);
});

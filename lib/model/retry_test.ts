import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { ModelEvent } from "./port.ts";
import { ProviderError } from "./provider_error.ts";
import { sleep, withRetry } from "./retry.ts";

const TEXT: ModelEvent = { type: "text", text: "hi" };
const POLICY = { maxTries: 4, firstDelayMs: 500, maxDelayMs: 30_000 };
const NEVER = new AbortController().signal;

function failure(transient: boolean, retryAfterS?: number): ProviderError {
  return new ProviderError("provider_error", "it failed", transient, { retryAfterS });
}

/** Tries that throw or yield, one after the other; reports waits and events. */
async function run(tries: (ProviderError | ModelEvent[])[], chance = 0) {
  const waits: number[] = [];
  const events: ModelEvent[] = [];
  let count = 0;
  async function* attempt(): AsyncGenerator<ModelEvent[]> {
    const outcome = tries[count++]!;
    await Promise.resolve();
    if (outcome instanceof ProviderError) throw outcome;
    for (const event of outcome) yield [event];
  }
  const deps = {
    policy: POLICY,
    random: () => chance,
    sleep: (ms: number) => Promise.resolve(void waits.push(ms)),
  };
  let error: unknown;
  try {
    for await (const said of withRetry(attempt, NEVER, deps)) events.push(...said);
  } catch (thrown) {
    error = thrown;
  }
  return { waits, events, error, count };
}

Deno.test("withRetry() yields the first try when it works", async () => {
  assertEquals(await run([[TEXT]]), { waits: [], events: [TEXT], error: undefined, count: 1 });
});

Deno.test("withRetry() doubles its waits, half of each by chance", async () => {
  const tries = [failure(true), failure(true), failure(true), [TEXT]];
  assertEquals((await run(tries, 0)).waits, [250, 500, 1_000]);
  assertEquals((await run(tries, 0.5)).waits, [375, 750, 1_500]);
  const { events } = await run(tries, 0);
  assertEquals(events.map((event) => event.type === "notice" ? event.text : event.type), [
    "it failed; trying again in a moment (try 2 of 4)",
    "it failed; trying again in a moment (try 3 of 4)",
    "it failed; trying again in 1 s (try 4 of 4)",
    "text",
  ]);
});

Deno.test("withRetry() throws the last error when every try failed", async () => {
  const last = failure(true);
  const { error, count, waits } = await run([failure(true), failure(true), failure(true), last]);
  assert(error === last);
  assertEquals([count, waits.length], [4, 3]);
});

Deno.test("withRetry() tries once when another try cannot help", async () => {
  const { error, count } = await run([failure(false), [TEXT]]);
  assert(error instanceof ProviderError);
  assertEquals(count, 1);
});

Deno.test("withRetry() never repeats what was partly yielded", async () => {
  const broken = failure(true);
  const events: ModelEvent[] = [];
  let count = 0;
  async function* attempt(): AsyncGenerator<ModelEvent[]> {
    count++;
    yield [TEXT];
    await Promise.resolve();
    throw broken;
  }
  const deps = { policy: POLICY, random: () => 0, sleep: () => Promise.resolve() };
  await assertRejects(async () => {
    for await (const said of withRetry(attempt, NEVER, deps)) events.push(...said);
  }, ProviderError);
  assertEquals([count, events], [1, [TEXT]]);
});

Deno.test("withRetry() waits at least as long as asked, and gives up when that is too long", () =>
  fc.assert(fc.asyncProperty(
    fc.double({ min: 0, max: 60, noNaN: true }),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    async (retryAfterS, chance) => {
      const { waits, error } = await run([failure(true, retryAfterS), [TEXT]], chance);
      if (retryAfterS > 30) {
        assertEquals(waits, []);
        assert(error instanceof ProviderError);
      } else {
        assertEquals(error, undefined);
        assert(waits[0]! >= retryAfterS * 1_000, `${waits[0]} for ${retryAfterS}`);
        assert(waits[0]! <= 30_000);
      }
    },
  )));

Deno.test("sleep() rejects with the signal's reason as soon as it aborts", async () => {
  const abort = new AbortController();
  const sleeping = sleep(3_600_000, abort.signal);
  const reason = new Error("enough");
  abort.abort(reason);
  const error = await sleeping.then(() => undefined, (error) => error);
  assert(error === reason);
  await assertRejects(() => sleep(3_600_000, abort.signal), Error, "enough");
});

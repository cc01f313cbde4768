import { assertEquals, assertRejects } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import {
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { Retries } from "./retries.ts";

const fails = (error: Error) => () => Promise.reject(error);
const works = () => Promise.resolve();

async function waitOf(sending: Promise<void>): Promise<number> {
  return (await assertRejects(() => sending, RetryLaterError) as RetryLaterError).retryAfterMs;
}

Deno.test("Retries waits longer after each failure of a message, whatever it was, up to 15 minutes", async () => {
  const clock = fakeClock();
  const retries = new Retries(clock);
  const errors = [new Error("500"), new NotConnectedError("refused"), new Error("no answer")];
  const waits: number[] = [];
  for (let at = 0; at < 13; at++) {
    waits.push(await waitOf(retries.send("a", fails(errors[at % errors.length]!))));
    clock.tick(waits.at(-1)!);
  }
  assertEquals(waits.slice(0, 5), [1_000, 2_000, 4_000, 8_000, 16_000]);
  assertEquals(waits.slice(-3), [900_000, 900_000, 900_000]);
  // Another message of the same receiver begins anew, and so does this one once it was taken.
  assertEquals(await waitOf(retries.send("b", fails(errors[0]!))), 1_000);
  await retries.send("a", works);
  assertEquals(await waitOf(retries.send("a", fails(errors[0]!))), 1_000);
});

Deno.test("Retries waits as long as the receiver asks, and not less than it would", async () => {
  const retries = new Retries(fakeClock());
  const asks = (ms: number) => waitOf(retries.send("a", fails(new RetryLaterError("503", ms))));
  assertEquals([await asks(7_000), await asks(0), await asks(0)], [7_000, 2_000, 4_000]);
});

Deno.test("Retries leaves a permanent refusal as it is", async () => {
  const retries = new Retries(fakeClock());
  const gone = new PermanentDeliveryError("410");
  await assertRejects(() => retries.send("a", fails(gone)), PermanentDeliveryError);
});

Deno.test("Retries bounds the failures of a receiver, and holds up nothing that is new", async () => {
  const clock = fakeClock();
  const retries = new Retries(clock);
  let requests = 0;
  const post = () => {
    requests++;
    return Promise.reject(new Error("500"));
  };
  for (let chat = 0; chat < 1_000; chat++) await waitOf(retries.send(`m${chat}`, post));
  assertEquals(requests, 1_000);
  clock.tick(2_000);
  for (let chat = 0; chat < 1_000; chat++) {
    assertEquals(await waitOf(retries.send(`m${chat}`, post)), 58_000);
  }
  assertEquals(requests, 1_000);
  await retries.send("new", works);
  clock.tick(58_000);
  for (let chat = 0; chat < 1_000; chat++) await waitOf(retries.send(`m${chat}`, post));
  assertEquals(requests, 1_120);
  // A receiver that works again takes everything at once.
  clock.tick(60_000);
  let taken = 0;
  for (let chat = 0; chat < 1_000; chat++) {
    await retries.send(`m${chat}`, () => Promise.resolve(void taken++));
  }
  assertEquals(taken, 1_000);
});

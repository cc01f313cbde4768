import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { NotConnectedError, UncertainDeliveryError } from "../delivery_error.ts";
import { boundedFetch, bytesOf, type FetchBounds, TOO_LARGE } from "./bounded_fetch.ts";
import { failedCall } from "./failed_call.ts";

const ADDRESS = "http://127.0.0.1:9/bot-the-secret/send";

function ask(
  answer: (signal: AbortSignal) => Promise<Response>,
  bounds: Partial<FetchBounds> = {},
): Promise<Response> {
  return boundedFetch(ADDRESS, undefined, {
    ...{ peer: "Acme", timeoutMs: 1_000, maxBytes: 10, clock: fakeClock() },
    fetch: (_, init) => answer(init!.signal!),
    ...bounds,
  });
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });

Deno.test("boundedFetch() tells what was never sent from what was cut off, without the address", async () => {
  const words = (step: string) =>
    `error sending request for url (${ADDRESS}): client error (${step}): `;
  const never = await assertRejects(
    () => ask(() => Promise.reject(new TypeError(`${words("Connect")}refused`))),
    NotConnectedError,
  );
  assertEquals(never.message, "Not connected: Acme cannot be reached: refused");
  const cut = await assertRejects(
    () => ask(() => Promise.reject(new TypeError(`failed for ${ADDRESS}`))),
    UncertainDeliveryError,
  );
  assertEquals(cut.message, "Acme was cut off");
  assertEquals(failedCall(cut)?.status, 0);
});

Deno.test("boundedFetch() ends with its time, and with its signal's own reason", async () => {
  const clock = fakeClock();
  const late = assertRejects(() => ask(untilAborted, { clock }), UncertainDeliveryError, "in time");
  await Promise.resolve();
  clock.tick(1_000);
  await late;
  const ending = new AbortController();
  const stopped = assertRejects(() => ask(untilAborted, { clock, signal: ending.signal }), Error);
  ending.abort(new Error("stopped"));
  assertEquals((await stopped).message, "stopped");
  assertEquals(clock.timers(), 0);
});

Deno.test("boundedFetch() rejects with an answer that is too large, which bytesOf() takes for none", async () => {
  const large = () => Promise.resolve(new Response("x".repeat(11)));
  const error = await assertRejects(() => ask(large), UncertainDeliveryError);
  assertEquals(failedCall(error)?.code, TOO_LARGE);
  assertEquals(await bytesOf(ask(large)), undefined);
  assertEquals((await bytesOf(ask(() => Promise.resolve(new Response("fits")))))?.length, 4);
});

Deno.test("boundedFetch() follows no redirect, and says what to set where the address is a setting", async () => {
  const moved = () =>
    Promise.resolve(
      new Response(null, { status: 308, headers: { location: "https://b.example/x" } }),
    );
  assertEquals((await ask(moved)).status, 308);
  const error = await assertRejects(() => ask(moved, { field: "url" }), Error);
  assertInstanceOf(error, Error);
  assertEquals(error.message, "Acme sends requests to https://b.example: set url to that");
});

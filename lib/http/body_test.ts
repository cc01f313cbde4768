import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../errors.ts";
import { readJson } from "./body.ts";
import { ManualClock } from "./testing/manual_clock.ts";

const LIMITS = { maxBytes: 1024 * 1024, timeoutMs: 60_000 };

function request(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request("http://x/", { method: "POST", body, headers });
}

function streamOf(...chunks: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
}

async function refusal(sent: Request): Promise<ServiceError> {
  return await assertRejects(() => readJson(sent, LIMITS, new ManualClock()), ServiceError);
}

Deno.test("readJson() reads a body with and without a length", async () => {
  const clock = new ManualClock();
  const expected = { text: "größer" };
  const text = JSON.stringify(expected);
  const length = String(new TextEncoder().encode(text).length);
  assertEquals(
    await readJson(request(text, { "content-length": length }), LIMITS, clock),
    expected,
  );
  assertEquals(await readJson(request(text), LIMITS, clock), expected);
  const bytes = new TextEncoder().encode(text);
  const split = ReadableStream.from([bytes.subarray(0, 12), bytes.subarray(12)]);
  assertEquals(await readJson(request(split), LIMITS, clock), expected);
  assertEquals(clock.timers, 0);
});

Deno.test("readJson() refuses by the declared length without reading", async () => {
  let pulled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull() {
      pulled = true;
      throw new Error("must not be read");
    },
  }, { highWaterMark: 0 });
  const error = await refusal(request(body, { "content-length": String(LIMITS.maxBytes + 1) }));
  assertEquals(error.code, "too_large");
  assertEquals(pulled, false);
});

Deno.test("readJson() counts while it reads when no length is declared", async () => {
  let sent = 0;
  const chunk = new Uint8Array(64 * 1024).fill(0x20);
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      sent += chunk.length;
      controller.enqueue(chunk.slice());
    },
  }, { highWaterMark: 0 });
  const error = await refusal(request(endless));
  assertEquals(error.code, "too_large");
  assertEquals(sent, LIMITS.maxBytes + chunk.length);
});

Deno.test("readJson() accepts exactly the limit", async () => {
  const text = `"${"a".repeat(LIMITS.maxBytes - 2)}"`;
  const value = await readJson(request(streamOf(text)), LIMITS, new ManualClock());
  assertEquals((value as string).length, LIMITS.maxBytes - 2);
});

Deno.test("readJson() gives up on a body that does not arrive", async () => {
  const clock = new ManualClock();
  const silent = new ReadableStream<Uint8Array<ArrayBuffer>>({});
  const reading = assertRejects(() => readJson(request(silent), LIMITS, clock), ServiceError);
  clock.advance(LIMITS.timeoutMs);
  assertEquals((await reading).code, "request_timeout");
});

Deno.test("readJson() says what is wrong with what is no JSON", async () => {
  assertEquals((await refusal(request(""))).message, "The body must be JSON: it is empty");
  assertEquals((await refusal(request(null))).code, "invalid_request");
  assertEquals((await refusal(request("{"))).code, "invalid_request");
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error("reset")),
  });
  assertEquals((await refusal(request(broken))).message, "The body broke off before its end");
});

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { Bodies, type BodyLimits } from "./body.ts";
import { ManualClock } from "./testing/manual_clock.ts";

const MIB = 1024 * 1024;
const LIMITS = { maxBytes: MIB, timeoutMs: 60_000, maxHeldBytes: 3 * MIB };

function setUp(limits: Partial<BodyLimits> = {}) {
  const clock = new ManualClock();
  return { clock, bodies: new Bodies({ clock, limits: { ...LIMITS, ...limits } }) };
}

function request(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request("http://x/", { method: "POST", body, headers });
}

function declared(length: number | undefined): Record<string, string> {
  return length === undefined ? {} : { "content-length": String(length) };
}

type Bytes = Uint8Array<ArrayBuffer>;

function streamOf(...chunks: string[]): ReadableStream<Bytes> {
  return ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
}

/** A body that goes on for ever in pieces of this size, and how much of it was asked for. */
function endless(bytes: number) {
  const sent = { bytes: 0, cancelled: false };
  const body = new ReadableStream<Bytes>({
    pull(controller) {
      sent.bytes += bytes;
      controller.enqueue(new Uint8Array(bytes).fill(0x20));
    },
    cancel() {
      sent.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { body, sent };
}

async function refusal(sent: Request, limits: Partial<BodyLimits> = {}): Promise<ServiceError> {
  const { bodies, clock } = setUp(limits);
  const error = await assertRejects(() => bodies.json(sent), ServiceError);
  assertEquals([bodies.heldBytes, clock.timers], [0, 0]);
  return error;
}

async function jsonOf(bodies: Bodies, sent: Request): Promise<unknown> {
  using body = await bodies.json(sent);
  return body.value;
}

Deno.test("Bodies.json() reads a body with and without a length", async () => {
  const { bodies, clock } = setUp();
  const expected = { text: "größer" };
  const text = JSON.stringify(expected);
  const length = String(new TextEncoder().encode(text).length);
  assertEquals(await jsonOf(bodies, request(text, { "content-length": length })), expected);
  assertEquals(await jsonOf(bodies, request(text)), expected);
  const bytes = new TextEncoder().encode(text);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const split = ReadableStream.from([bytes.slice(0, cut), bytes.slice(cut)]);
    assertEquals(await jsonOf(bodies, request(split)), expected);
  }
  assertEquals(clock.timers, 0);
});

Deno.test("Bodies.json() refuses by the declared length without reading", async () => {
  const { body, sent } = endless(1);
  const error = await refusal(request(body, { "content-length": String(LIMITS.maxBytes + 1) }));
  assertEquals(error.code, "too_large");
  assertEquals(sent.bytes, 0);
});

Deno.test("Bodies.json() counts while it reads, whatever length is declared", async () => {
  for (const length of [undefined, LIMITS.maxBytes]) {
    const { body, sent } = endless(64 * 1024);
    const error = await refusal(request(body, declared(length)));
    assertEquals(error.code, "too_large");
    assertStringIncludes(error.message, "1 MiB");
    assertEquals(sent, { bytes: LIMITS.maxBytes + 128 * 1024, cancelled: true });
  }
});

Deno.test("Bodies.json() accepts exactly the limit", async () => {
  const { bodies } = setUp();
  const text = `"${"a".repeat(LIMITS.maxBytes - 2)}"`;
  assertEquals((await jsonOf(bodies, request(streamOf(text))) as string).length, MIB - 2);
  assertEquals((await refusal(request(streamOf(text, " ")))).code, "too_large");
});

Deno.test("Bodies.json() gives up on a body that does not arrive, and lets it go", async () => {
  for (const length of [undefined, 10]) {
    const { bodies, clock } = setUp();
    let cancelled = false;
    const silent = new ReadableStream<Bytes>({ cancel: () => void (cancelled = true) });
    const reading = assertRejects(
      () => bodies.json(request(silent, declared(length))),
      ServiceError,
    );
    clock.advance(LIMITS.timeoutMs);
    assertEquals((await reading).code, "request_timeout");
    if (length === undefined) assertEquals(cancelled, true);
    assertEquals([bodies.heldBytes, clock.timers], [0, 0]);
  }
});

Deno.test("Bodies.json() says what is wrong with what is no JSON", async () => {
  assertEquals((await refusal(request(""))).message, "The body must be JSON: it is empty");
  assertEquals((await refusal(request(null))).code, "invalid_request");
  assertEquals((await refusal(request("{"))).code, "invalid_request");
  assertEquals((await refusal(request("[".repeat(1_000)))).code, "invalid_request");
  const broken = new ReadableStream<Bytes>({
    pull: (controller) => controller.error(new Error("reset")),
  });
  assertEquals((await refusal(request(broken))).message, "The body broke off before its end");
  for (const bytes of [[0x22, 0xff, 0x22], [0x22, 0xc3]]) {
    for (const length of [undefined, bytes.length]) {
      const { message } = await refusal(request(new Uint8Array(bytes), declared(length)));
      assertStringIncludes(message, "UTF-8");
    }
  }
});

Deno.test("Bodies counts what is held by all requests until each is done with it", async () => {
  const { bodies } = setUp();
  const large = () => request(streamOf(`"${"a".repeat(MIB - 2)}"`));
  const first = await bodies.json(large());
  const second = await bodies.json(large());
  const third = await bodies.json(large());
  assertEquals(bodies.heldBytes, 3 * MIB);
  const error = await assertRejects(() => bodies.json(large()), ServiceError);
  assertEquals(error.code, "overloaded");
  assertEquals(typeof error.details.retryAfterS, "number");
  // What is small goes on.
  assertEquals(await jsonOf(bodies, request("1")), 1);
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  assertEquals(bodies.heldBytes, 2 * MIB);
  using again = await bodies.json(large());
  assertEquals(typeof again.value, "string");
  first[Symbol.dispose]();
  third[Symbol.dispose]();
  assertEquals(bodies.heldBytes, MIB);
});

Deno.test("Bodies gives back what a refused or broken body had taken", async () => {
  const { bodies } = setUp();
  const half = new Uint8Array(MIB / 2).fill(0x20);
  let pulls = 0;
  const breaksOff = new ReadableStream<Bytes>({
    pull(controller) {
      if (pulls++ === 0) controller.enqueue(half);
      else controller.error(new Error("reset"));
    },
  }, { highWaterMark: 0 });
  await assertRejects(() => bodies.json(request(breaksOff)), ServiceError);
  await assertRejects(() => bodies.json(request(endless(1_000).body)), ServiceError);
  await assertRejects(() => bodies.json(request(streamOf(" ".repeat(MIB)))), ServiceError);
  assertEquals(bodies.heldBytes, 0);
});

Deno.test("Bodies keeps little of a body that comes byte by byte", async () => {
  const { bodies } = setUp();
  let left = MIB / 4;
  const bytewise = new ReadableStream<Bytes>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array([left % 2 === 0 ? 0x20 : 0x0a]));
      else {
        controller.enqueue(new TextEncoder().encode("7"));
        controller.close();
      }
    },
  }, { highWaterMark: 0 });
  assertEquals(await jsonOf(bodies, request(bytewise)), 7);
});

Deno.test("Bodies.form() reads the parts of a form", async () => {
  const { bodies } = setUp();
  const form = new FormData();
  form.append("message", "größer");
  form.append("files", new File(["content"], "a.txt"));
  using body = await bodies.form(request(form));
  assertEquals(body.value, [
    { name: "message", text: "größer" },
    { name: "files", fileName: "a.txt", bytes: new TextEncoder().encode("content") },
  ]);
});

Deno.test("Bodies.form() refuses a form that never ends, or is cut off", async () => {
  const type = { "content-type": "multipart/form-data; boundary=B" };
  const { bodies } = setUp();
  const { body, sent } = endless(64 * 1024);
  const error = await assertRejects(() => bodies.form(request(body, type)), ServiceError);
  assertEquals([error.code, sent.cancelled], ["too_large", true]);
  const cut = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nhal";
  const broken = await assertRejects(() => bodies.form(request(cut, type)), ServiceError);
  assertEquals(broken.code, "invalid_request");
  const none = await assertRejects(
    () => bodies.form(request("x", { "content-type": "multipart/form-data" })),
    ServiceError,
  );
  assertEquals(none.details.param, "Content-Type");
  assertEquals(bodies.heldBytes, 0);
});

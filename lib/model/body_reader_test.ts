import { assertEquals, assertRejects } from "@std/assert";
import { type BodyReader, readBody } from "./body_reader.ts";

async function allOf(reader: BodyReader): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let result; !(result = await reader.read()).done;) chunks.push(result.value);
  return await new Blob(chunks).bytes();
}

function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
}

Deno.test("readBody() gives the bytes of a real answer, and chunks that later reads leave alone", async () => {
  const bytes = randomBytes(100_000);
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response(bytes),
  );
  const { body } = await fetch(`http://127.0.0.1:${server.addr.port}`);
  assertEquals(await allOf(readBody(body!)), bytes);
});

Deno.test("readBody() reads a body that takes no buffer", async () => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new Uint8Array([1, 2]));
      controller.enqueue(new Uint8Array([3]));
      controller.close();
    },
  });
  assertEquals(await allOf(readBody(body)), new Uint8Array([1, 2, 3]));
});

for (const type of ["bytes", undefined] as const) {
  Deno.test(`readBody() rejects with the signal's reason when it aborts (${type ?? "no"} buffer)`, async () => {
    let cancelled: unknown;
    const body = new ReadableStream({
      type: type!,
      cancel: (reason) => void (cancelled = reason),
    }) as ReadableStream<Uint8Array<ArrayBuffer>>;
    const aborting = new AbortController();
    const reader = readBody(body, aborting.signal);
    const reason = new Error("enough");
    const reading = assertRejects(() => reader.read(), Error, "enough");
    aborting.abort(reason);
    await reading;
    assertEquals(cancelled, reason);
    await assertRejects(() => reader.read(), Error, "enough");
  });
}

Deno.test("readBody() rejects at once when its signal has aborted already", async () => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>();
  const reader = readBody(body, AbortSignal.abort(new Error("before")));
  await assertRejects(() => reader.read(), Error, "before");
});

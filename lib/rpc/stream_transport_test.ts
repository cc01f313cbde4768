import { assertEquals, assertThrows } from "@std/assert";
import { encodeFrame } from "./frames.ts";
import { type StreamLimits, streamTransport } from "./stream_transport.ts";
import type { Frame } from "./transport.ts";

/** What a transport reads of these bytes, and why it ends. */
async function read(
  pieces: readonly Uint8Array[],
  options?: StreamLimits,
): Promise<{ frames: unknown[]; reason: string }> {
  const transport = streamTransport({
    readable: ReadableStream.from(pieces),
    writable: new WritableStream(),
  }, options);
  const frames: unknown[] = [];
  const reason = await new Promise<string>((closed) =>
    transport.open((frame) => void frames.push(frame), closed)
  );
  return { frames, reason };
}

Deno.test("streamTransport() ends a stream that holds no frames, and takes those before", async () => {
  const good = encodeFrame({ type: "cancel", id: 1 });
  const frame = { type: "cancel", id: 1 };
  const over = new Uint8Array([255, 255, 255, 255, 1]);
  const noJson = new Uint8Array([0, 0, 0, 1, 0x7b]);
  const noText = new Uint8Array([0, 0, 0, 1, 0xff]);
  for (const bad of [over, noJson, noText]) {
    const { frames, reason } = await read([...good, bad, ...good]);
    assertEquals(frames, [frame]);
    assertEquals(reason.startsWith("what it says cannot be understood"), true, reason);
  }
  assertEquals(await read([...good, good[0]!.subarray(0, 9)]), {
    frames: [frame],
    reason: "it has ended",
  });
});

Deno.test("streamTransport() ends an end that says more than it may in all", async () => {
  const frame = { type: "cancel", id: 1 };
  const [good] = encodeFrame(frame);
  const maxReadBytes = 2 * good!.length;
  const tellEnd = () => Promise.resolve("its process ended with code 1");
  assertEquals(await read([good!, good!, good!], { maxReadBytes, tellEnd }), {
    frames: [frame, frame],
    reason: "it said too much",
  });
  assertEquals((await read([good!, good!], { maxReadBytes, tellEnd })).reason, await tellEnd());
});

Deno.test("streamTransport() counts what the other end says from each call anew", async () => {
  const [said] = encodeFrame({ type: "cancel", id: 1 });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const input = writable.getWriter();
  const transport = streamTransport({ readable, writable: new WritableStream() }, {
    maxReadBytes: said!.length,
  });
  let taken = Promise.withResolvers<void>();
  const ended = new Promise<string>((closed) => transport.open(() => taken.resolve(), closed));
  for (let id = 1; id <= 3; id++) {
    taken = Promise.withResolvers();
    transport.send({ type: "call", id, method: "run", params: null });
    void input.write(said!);
    await taken.promise;
  }
  transport.send({ type: "more", id: 3, count: 1 });
  void input.write(said!);
  assertEquals(await ended, "it said too much");
  transport.close();
});

Deno.test("streamTransport() ends an end that doesn't read, and refuses a frame over the bound", async () => {
  const transport = streamTransport(
    {
      readable: new ReadableStream(),
      writable: new WritableStream({ write: () => new Promise(() => {}) }),
    },
    { maxFrameBytes: 1_000 },
  );
  const ended = new Promise<string>((closed) => transport.open(() => {}, closed));
  const frame: Frame = { type: "notice", name: "x", data: "x".repeat(900) };
  assertThrows(() => transport.send({ ...frame, data: "x".repeat(1_000) }), RangeError, "1000");
  for (let times = 0; times < 3; times++) transport.send(frame);
  assertEquals(await ended, "it does not read what it is told");
});

Deno.test("streamTransport() is drained once the other end has read", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const transport = streamTransport({ readable: new ReadableStream(), writable });
  const frame: Frame = { type: "notice", name: "x", data: "x".repeat(100_000) };
  transport.send(frame);
  assertEquals(transport.drained!(), undefined);
  for (let times = 0; times < 5; times++) transport.send(frame);
  const drained = transport.drained!();
  const reader = readable.getReader();
  const first = await reader.read();
  assertEquals(first.value!.length < 100_100, true, "what came during a write waits for it");
  assertEquals((await reader.read()).value!.length > 500_000, true, "and goes out as one");
  await drained;
  transport.send({ ...frame, data: "x".repeat(300_000) });
  const closed = transport.drained!();
  transport.close();
  await closed;
  await reader.read();
  assertEquals((await reader.read()).done, true);
});

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

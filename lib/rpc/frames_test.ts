import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { encodeFrame, encodeTask, FrameReader } from "./frames.ts";
import { type ChildTask, MAX_FRAME_BYTES, type TaskFrame } from "./protocol.ts";

const TASK: ChildTask = { v: 2, tool: "try", args: {}, workspace: "/", maxOutputBytes: 1 };

/** Everything that a reader gives back, the bytes arriving in pieces of a size. */
function readAll(frames: readonly Uint8Array[], pieceBytes: number): unknown[] {
  const reader = new FrameReader();
  const bytes = frames.flatMap((frame) => [...frame]);
  const values: unknown[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    for (const value of reader.push(Uint8Array.from(bytes.slice(at, at + pieceBytes)))) {
      values.push(value);
      if ((value as TaskFrame).hasPayload) reader.expectBytes();
    }
  }
  assertEquals(reader.pendingBytes, 0);
  return values;
}

Deno.test("encodeTask() sends a payload beside its task, whatever its bytes", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 50 }),
      fc.integer({ min: 1, max: 60 }),
      (bytes, size) => {
        const payload = new Uint8Array(bytes);
        const frames = [...encodeTask({ ...TASK, payload }), ...encodeTask(TASK)];
        assertEquals(readAll(frames, size), [{ ...TASK, hasPayload: true }, payload, TASK]);
      },
    ),
  );
});

Deno.test("encodeTask() and encodeFrame() send no more than a frame may hold", () => {
  const payload = new Uint8Array(MAX_FRAME_BYTES + 1);
  assertThrows(() => encodeTask({ ...TASK, payload }), RangeError, "the limit is");
  assertEquals(encodeTask({ ...TASK, payload: payload.subarray(1) })[2]!.length, MAX_FRAME_BYTES);
  assertThrows(() => encodeFrame("x".repeat(MAX_FRAME_BYTES)), RangeError, "the limit is");
});

Deno.test("FrameReader refuses a length over the bound before it holds a byte of it", () => {
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, MAX_FRAME_BYTES + 1);
  assertThrows(() => [...new FrameReader().push(head)], RangeError, "the limit is");
});

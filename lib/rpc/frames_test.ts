import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { encodeFrame, FrameReader, MAX_FRAME_BYTES } from "./frames.ts";

const CALL = { type: "call", id: 1, method: "run", params: {} };

/** Everything that a reader gives back, the bytes arriving in pieces of a size. */
function readAll(frames: readonly Uint8Array[], pieceBytes: number): unknown[] {
  const reader = new FrameReader();
  const bytes = frames.flatMap((frame) => [...frame]);
  const values: unknown[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    values.push(...reader.push(Uint8Array.from(bytes.slice(at, at + pieceBytes))));
  }
  return values;
}

Deno.test("encodeFrame() sends bytes beside their frame, whatever they are", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 50 }),
      fc.integer({ min: 1, max: 60 }),
      (given, size) => {
        const bytes = new Uint8Array(given);
        const frames = [...encodeFrame({ ...CALL, bytes }), ...encodeFrame(CALL)];
        assertEquals(readAll(frames, size), [{ ...CALL, bytes }, CALL]);
      },
    ),
  );
});

Deno.test("encodeFrame() sends no more than a frame may hold", () => {
  const bytes = new Uint8Array(MAX_FRAME_BYTES + 1);
  assertThrows(() => encodeFrame({ ...CALL, bytes }), RangeError, "the limit is");
  assertEquals(
    encodeFrame({ ...CALL, bytes: bytes.subarray(1) })[2]!.length,
    MAX_FRAME_BYTES,
  );
  const params = "x".repeat(MAX_FRAME_BYTES);
  assertThrows(() => encodeFrame({ ...CALL, params }), RangeError, "the limit is");
});

Deno.test("FrameReader refuses a length over the bound before it holds a byte of it", () => {
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, MAX_FRAME_BYTES + 1);
  assertThrows(() => [...new FrameReader().push(head)], RangeError, "the limit is");
});

import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { decodeRow, encodeEvent, type EventRow, joinBodies } from "./event_rows.ts";
import { text } from "./testing/steps.ts";

/** Any string of UTF-16 units: NUL, halves of surrogate pairs and all. */
const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});

Deno.test("decodeRow() gives back every piece of a row of deltas from any place on", () => {
  fc.assert(fc.property(
    fc.array(anyText, { minLength: 1, maxLength: 20 }),
    anyText,
    fc.nat({ max: 25 }),
    (texts, streamId, after) => {
      const events = texts.map((piece) => text(piece, streamId));
      const encoded = events.map(encodeEvent);
      const row: EventRow = [
        4 + events.length,
        5,
        "t",
        "text_delta",
        encoded[0]!.stream,
        joinBodies(encoded.map(({ body }) => body)),
      ];
      const expected = events.map((event, index) => ({ seq: 5 + index, turnId: "t", event }))
        .filter(({ seq }) => seq > after);
      assertEquals(decodeRow(row, after), expected);
    },
  ));
});

Deno.test("decodeRow() gives back an event of any other type", () => {
  const event = {
    type: "tool_call" as const,
    callId: "c",
    tool: "read_file",
    args: { path: "\ud800\0", deep: [1, null, { a: true }] },
    hint: "read_file",
  };
  const { body, stream } = encodeEvent(event);
  assertEquals(decodeRow([3, 3, "t", event.type, stream, body], 0), [
    { seq: 3, turnId: "t", event },
  ]);
});

Deno.test("decodeRow() throws when a row does not hold what its numbers say", () => {
  assertThrows(
    () => decodeRow([3, 1, "t", "text_delta", '"s"', '"a","b"'], 0),
    Error,
    "events 1 to 3: the row holds 2 texts",
  );
});

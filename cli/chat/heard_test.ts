import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../lib/contract/events.ts";
import { Heard } from "./heard.ts";

const said = (text: string, streamId = "1"): AgentEvent => ({ type: "text_delta", streamId, text });
const ended: AgentEvent = { type: "segment_end", streamId: "1", resuming: false };
const begun: AgentEvent = { type: "turn_start", model: "m" };

Deno.test("Heard hands on everything once, also what is told anew in other pieces", () => {
  const heard = new Heard();
  const first = [begun, said("one "), said("two ")];
  assertEquals(first.map((event) => heard.hear(event)), first);
  heard.beginAnew();
  assertEquals(
    [begun, said("one two"), said(" three "), said("four"), ended].map((event) =>
      heard.hear(event)
    ),
    [undefined, undefined, said("three "), said("four"), ended],
  );
  heard.beginAnew();
  const again = [begun, said("one two three four"), ended, said("one ", "2")];
  assertEquals(again.map((event) => heard.hear(event)), [
    undefined,
    undefined,
    undefined,
    said("one ", "2"),
  ]);
});

Deno.test("Heard hands on what is told in another way than first", () => {
  const heard = new Heard();
  for (const event of [begun, said("one "), said("two "), ended]) heard.hear(event);
  heard.beginAnew();
  const other: AgentEvent[] = [
    { type: "turn_start", model: "n" },
    said("one "),
    said("three"),
    ended,
  ];
  assertEquals(other.map((event) => heard.hear(event)), [other[0], undefined, other[2], ended]);
});

Deno.test("Heard takes the same piece twice where it was said twice", () => {
  const heard = new Heard();
  const pieces = [said("ha"), said("ha"), begun, begun];
  assertEquals(pieces.map((event) => heard.hear(event)), pieces);
});

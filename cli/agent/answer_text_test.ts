import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { AnswerText } from "./answer_text.ts";

function join(segments: string[][]): string {
  const answer = new AnswerText();
  let text = "";
  for (const deltas of segments) {
    for (const delta of deltas) text += answer.add(delta);
    answer.endSegment();
  }
  return text;
}

Deno.test("AnswerText joins segments with a blank line and drops line ends around them", () => {
  assertEquals(
    join([["\n\nLet me ", "look.\n"], ["\n"], ["\nDone", ".", "\r\n"]]),
    "Let me look.\n\nDone.",
  );
  assertEquals(join([[], ["\n"]]), "");
});

Deno.test("AnswerText keeps line ends inside a segment, however it is cut", () => {
  assertEquals(join([["a\n", "\n", "b\n"]]), "a\n\nb");
  assertEquals(join([["a", "\nb"]]), "a\nb");
});

Deno.test("AnswerText gives the same text for every way to cut it", () => {
  const piece = fc.constantFrom("a", "\n", "b c", "\r\n", "\n\n");
  fc.assert(fc.property(fc.array(fc.array(piece)), (segments) => {
    const whole = segments.map((deltas) => deltas.join("").replace(/^[\r\n]+|[\r\n]+$/g, ""));
    assertEquals(join(segments), whole.filter((text) => text !== "").join("\n\n"));
  }));
});

import { assertEquals } from "@std/assert";
import { type Line, paint, piece } from "./look.ts";
import { wordWrap } from "./wrap.ts";

const rows = (text: string, width: number) =>
  wordWrap([piece(text)], width).map((line: Line) => paint(line, false));

Deno.test("wordWrap() gives each row of a line its indentation, and half of a narrow row at most", () => {
  assertEquals(rows("  one two three\nfour five", 9), ["  one two", "  three", "four five"]);
  assertEquals(rows("  abcdefghij", 7), ["  abcde", "  fghij"]);
  assertEquals(rows("        one two", 6), ["   one", "   two"]);
});

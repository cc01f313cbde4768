import { assert, assertEquals } from "@std/assert";
import { displayWidth } from "./display_width.ts";
import { wrapText } from "./wrap_text.ts";

Deno.test("wrapText() breaks at blanks, and within what has none", () => {
  assertEquals(wrapText("", 10), [""]);
  assertEquals(wrapText("one two three", 20), ["one two three"]);
  assertEquals(wrapText("one two three", 7), ["one two", "three"]);
  assertEquals(wrapText("a abcdefgh bc", 3), ["a", "abc", "def", "gh", "bc"]);
  assertEquals(wrapText("1. abcdefgh", 6), ["1. abc", "defgh"]);
  const lines = wrapText("允许写消息的人的成员 ID", 8);
  assertEquals(lines.join("").replace(" ", ""), "允许写消息的人的成员ID");
  for (const line of lines) assert(displayWidth(line) <= 8, line);
});

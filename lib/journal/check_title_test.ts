import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { checkTitle } from "./check_title.ts";
import { anyString } from "../../tests/support/any_string.ts";

Deno.test("checkTitle() takes what can be seen, in any script", () => {
  for (
    const title of [
      "a",
      "Über Straßen",
      "x".repeat(200),
      "😀".repeat(200),
      "family 👨‍👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪",
      "می‌خواهم",
      "क्‍ष",
      "日本語",
    ]
  ) assertEquals(checkTitle(title), title);
  assertEquals(checkTitle("  two words\n"), "two words");
});

Deno.test("checkTitle() refuses blank, long and hidden characters, naming the field", () => {
  const refused: [string, string][] = [
    ["", "is blank"],
    [" \n\t", "is blank"],
    ["x".repeat(201), "1 to 200 characters"],
    ["x".repeat(10_000_000), "1 to 200 characters"],
    [" ".repeat(10_000) + "x", "1 to 200 characters"],
    ["a\nb", "U+000A"],
    ["a\u0000b", "U+0000"],
    ["\u001b[31mred", "U+001B"],
    ["a\u200bb", "U+200B"],
    ["pay\u200dpal", "U+200D"],
    ["pay\u200cpal", "U+200C"],
    ["a\u202eb", "U+202E"],
    ["a\u2066b", "U+2066"],
    ["a\u2028b", "U+2028"],
    ["a\u00adb", "U+00AD"],
    ["a\ufe0fb", "U+FE0F"],
    ["\u3164", "U+3164"],
    ["\u2800", "U+2800"],
    ["a\ud800b", "U+D800"],
    ["\u{e0061}x", "U+E0061"],
  ];
  for (const [title, reason] of refused) {
    const error = assertThrows(() => checkTitle(title), ServiceError, reason);
    assertEquals([error.code, error.details.param], ["invalid_request", "title"]);
  }
});

Deno.test("checkTitle() is total, and what it takes has no hidden character at its ends", () => {
  fc.assert(fc.property(anyString({ maxLength: 300 }), (typed) => {
    try {
      const title = checkTitle(typed);
      assert(title === title.trim() && [...title].length <= 200 && title.isWellFormed());
    } catch (error) {
      assert(error instanceof ServiceError && error.code === "invalid_request");
    }
  }));
});

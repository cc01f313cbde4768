import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cutText, formatCount } from "./cut_text.ts";

Deno.test("cutText() leaves a text that fits as it is", () => {
  const text = "x".repeat(200_000);
  assertEquals(cutText(text), text);
  assertEquals(cutText(""), "");
});

Deno.test("cutText() says how much it cut", () => {
  assertEquals(
    cutText("x".repeat(201_234)),
    `${"x".repeat(200_000)}\n\n` +
      "[cut here: these are the first 200,000 of 201,234 characters; 1,234 are left out]",
  );
  assertEquals(
    cutText("abc", { maxChars: 3, moreChars: 7 }),
    "abc\n\n[cut here: these are the first 3 of 10 characters; 7 are left out]",
  );
});

Deno.test("cutText() never cuts a surrogate pair, and counts what it left out", () => {
  fc.assert(fc.property(
    fc.string({ unit: "grapheme", minLength: 1 }),
    fc.integer({ min: 1, max: 20 }),
    (text, maxChars) => {
      const [shown, note] = split(cutText(text, { maxChars }));
      assert(shown.isWellFormed());
      assert(text.startsWith(shown) && shown.length <= maxChars);
      if (note === undefined) assertEquals(shown, text);
      else assert(note.includes(` ${text.length - shown.length} are left out`));
    },
  ));
  assertEquals(split(cutText("a😀b", { maxChars: 2 }))[0], "a");
});

Deno.test("formatCount() groups digits by three", () => {
  assertEquals([0, 999, 1_000, 12_345, 1_234_567].map(formatCount), [
    "0",
    "999",
    "1,000",
    "12,345",
    "1,234,567",
  ]);
});

function split(text: string): [string, string | undefined] {
  const at = text.lastIndexOf("\n\n[cut here");
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at)];
}

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { titleOf } from "./title.ts";

const textOf = (text: string) => titleOf([{ type: "text", text }]);

Deno.test("titleOf() takes the first text that is not blank, on one line", () => {
  assertEquals(
    titleOf([
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "text", text: " \n " },
      { type: "text", text: "  Hello,\n\n\tworld  " },
      { type: "text", text: "more" },
    ]),
    "Hello, world",
  );
});

Deno.test("titleOf() is empty when there is no text", () => {
  assertEquals(titleOf([{ type: "image", mediaType: "image/png", data: "AAAA" }]), "");
});

Deno.test("titleOf() cuts between words", () => {
  assertEquals(textOf("word ".repeat(15) + "longer words"), `${"word ".repeat(15).trim()}…`);
  assertEquals(textOf("a".repeat(80)), "a".repeat(80));
  assertEquals(textOf("a".repeat(81)), `${"a".repeat(79)}…`);
});

Deno.test("titleOf() takes out control characters and changes of direction", () => {
  assertEquals(textOf("a\u0000b\u001b[31mc\u202ed\ud800e"), "a b [31mc d e");
});

Deno.test("titleOf() is one well-formed line of at most 80 characters for any text", () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(" ", "\n", "a", "👩‍🚀"),
  );
  fc.assert(fc.property(fc.string({ unit, maxLength: 300 }), (text) => {
    const title = textOf(text);
    assert([...title].length <= 80);
    assert(title.isWellFormed());
    assert(!/[\p{Cc}\u2028\u2029]/u.test(title));
    assertEquals(title, title.trim());
  }));
});

import { assertEquals } from "@std/assert";
import { isBlank } from "./is_blank.ts";

for (const text of ["", " ", "\n\t", "\u200b", "\u00ad \ufeff\u2060", "\u3000"]) {
  Deno.test(`isBlank() is true for ${JSON.stringify(text)}`, () =>
    assertEquals(isBlank(text), true));
}

for (const text of ["a", "\u200ba", "0", "🙂", "\ud800"]) {
  Deno.test(`isBlank() is false for ${JSON.stringify(text)}`, () =>
    assertEquals(isBlank(text), false));
}

import { assertEquals } from "@std/assert";
import { messageCatalog } from "./message_catalog.ts";

const wordsOf = messageCatalog(
  { tooLarge: "{name} has {size} MB", gone: "It is gone" },
  { de: { tooLarge: "{name} hat {size} MB" } },
);

Deno.test("messageCatalog() says it in the language, with values in their places", () => {
  const values = { name: "a$&.txt", size: 3 };
  assertEquals(wordsOf("de")("tooLarge", values), "a$&.txt hat 3 MB");
  assertEquals(wordsOf("en")("tooLarge", values), "a$&.txt has 3 MB");
});

Deno.test("messageCatalog() leaves a place without a value as it is", () => {
  assertEquals(wordsOf("de")("tooLarge", { name: "a" }), "a hat {size} MB");
});

Deno.test("messageCatalog() falls back to English", () => {
  assertEquals(wordsOf("de")("gone"), "It is gone");
  for (const language of ["", "fr", "toString"]) {
    assertEquals(wordsOf(language)("gone"), "It is gone");
  }
});

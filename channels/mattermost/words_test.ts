import { assertEquals } from "@std/assert";
import manifest from "./manifest.ts";
import { ENGLISH, LANGUAGES, type Word, wordsOf } from "./words.ts";

const placesIn = (text: string) =>
  [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).toSorted();

Deno.test("wordsOf() has every word in every language, with the same places to fill in", () => {
  for (const language of LANGUAGES) {
    const words = wordsOf(language);
    for (const word of Object.keys(ENGLISH) as Word[]) {
      assertEquals(placesIn(words(word)), placesIn(ENGLISH[word]), `${language} ${word}`);
    }
  }
  assertEquals(
    wordsOf("de")("tooMany", { name: "$& {max}", max: 4 }),
    "Die Datei $& {max} wurde nicht gelesen: Höchstens 4 Dateien einer Nachricht werden gelesen.",
  );
});

Deno.test("locales of the manifest are those that have words, beside English", () => {
  assertEquals(["en", ...manifest.locales ?? []], [...LANGUAGES]);
});

import { assertEquals } from "@std/assert";
import manifest from "./manifest.ts";
import { fill, wordsOf } from "./words.ts";

for (const language of manifest.locales!) {
  Deno.test(`wordsOf() has every word in ${language}, with the same places to fill`, async () => {
    const url = new URL(`./locales/${language}.json`, import.meta.url);
    const locale = JSON.parse(await Deno.readTextFile(url));
    const english = wordsOf("en");
    assertEquals(Object.keys(locale.words).sort(), Object.keys(english).sort());
    assertEquals(Object.keys(locale.fields).sort(), Object.keys(manifest.setup.fields).sort());
    for (const [key, text] of Object.entries(english)) {
      const places = (words: string) => (words.match(/\{\w+\}/g) ?? []).sort();
      assertEquals(places(locale.words[key]), places(text), key);
    }
    // What Discord takes of a button and of a command.
    assertEquals(locale.words.approve.length <= 80 && locale.words.askOption.length <= 100, true);
  });
}

Deno.test("wordsOf() is English for a language that it does not have", () => {
  assertEquals(wordsOf("xx").approve, "Approve");
});

Deno.test("fill() puts in what it is given, and leaves the rest", () => {
  assertEquals(fill("{a} and {b}", { a: "1 {b}" }), "1 {b} and {b}");
});

import { assertEquals } from "@std/assert";
import manifest from "./manifest.ts";
import { WORD_KEYS, wordsIn } from "./words.ts";

const marks = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

for (const language of manifest.locales!) {
  Deno.test(`wordsIn() says everything in ${language}, with the same values`, async () => {
    const file = JSON.parse(
      await Deno.readTextFile(new URL(`./locales/${language}.json`, import.meta.url)),
    );
    assertEquals(Object.keys(file.words), [...WORD_KEYS]);
    for (const key of WORD_KEYS) {
      assertEquals(marks(wordsIn(language)(key)), marks(wordsIn("en")(key)), key);
    }
    assertEquals(
      Object.keys(file.fields).toSorted(),
      Object.keys(manifest.setup.fields).toSorted(),
    );
    assertEquals(file.steps.length, manifest.setup.steps!.length);
  });
}

Deno.test("wordsIn() puts values in, whatever stands in them", () => {
  const words = wordsIn("en");
  assertEquals(
    words("fileRefused", { name: "$& {name} $1" }),
    "$& {name} $1 was not sent: Telegram refused it.",
  );
  assertEquals(wordsIn("xx")("approve"), "Approve");
});

Deno.test("each language of the section has its words", () => {
  const { language } = manifest.setup.fields;
  const choices = language?.kind === "enum" ? language.choices : [];
  assertEquals([...choices].toSorted(), ["en", ...manifest.locales!].toSorted());
});

import { assert } from "@std/assert";
import { wordsOf } from "./words.ts";

Deno.test("wordsOf() fits the command of Discord in every language", () => {
  for (const language of ["en", "de", "es", "zh"]) {
    const words = wordsOf(language);
    assert(words("askDescription").length <= 100 && words("askOption").length <= 100);
  }
});

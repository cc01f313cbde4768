import { assertEquals } from "@std/assert";
import { disguisedNames, mixedWords } from "./look_alikes.ts";

Deno.test("mixedWords() and disguisedNames() find mixed alphabets in names and in running text", () => {
  for (const word of ["p\u0430ypal", "\u0440aypal", "g\u03bfogle", "\u0531pp", "a\u13aa"]) {
    assertEquals([disguisedNames(`/home/x/${word}/y`), mixedWords(`Send it to ${word}, now.`)], [[
      word,
    ], [word]]);
  }
  assertEquals(mixedWords("p\u0430y p\u0430y p\u0430y"), ["p\u0430y"]);
});

Deno.test("disguisedNames() finds names that another alphabet or form disguises", () => {
  for (
    const name of [
      "\u0440\u0430\u0443", // all Cyrillic: pay
      "\u0441", // c
      "\u039a\u0395\u03a5", // all Greek: KEY
      "\uff52\uff4d", // full-width rm
      "\u{1d42b}\u{1d426}", // bold rm
      "g\u0131t", // dotless i
      "\u2212rf", // minus sign
      "rm\u2013rf", // en dash
      "a\u2215b", // division slash
      "\u05d0\u05d1", // right to left
    ]
  ) {
    assertEquals([name, disguisedNames(`rm ${name} /x`)], [name, [name]]);
  }
});

Deno.test("mixedWords() and disguisedNames() take what people write in one language for what it is", () => {
  for (
    const text of [
      "plain ASCII, 100%",
      "Größe café naïve Ελληνικά кириллица файл.txt",
      "Wi-Fi-сеть и IT-отдел",
      "日本語Tシャツ カタカナ 한국어SNS를 中文abc",
      "ไทย हिन्दी",
    ]
  ) {
    assertEquals([text, disguisedNames(text), mixedWords(text)], [text, [], []]);
  }
  // In running text a word of another alphabet is just that word.
  assertEquals(mixedWords("с а о сор 2² x — y, don’t שלום"), []);
});

Deno.test("mixedWords() finds one mixed word in megabytes of any script, and bounds many", () => {
  for (const filler of ["hello world ", "кириллица ", "日本語の文章です。", "\u{1d42b} "]) {
    const text = `${filler.repeat(100_000)}p\u0430y ${filler.repeat(100_000)}`;
    assertEquals(mixedWords(text), ["p\u0430y"]);
  }
  const many = Array.from({ length: 5_000 }, (_, n) => `p\u0430${n}`).join(" ");
  assertEquals(mixedWords(many).length, 1_000);
  assertEquals(mixedWords("a\u0430".repeat(100_000)).length, 1);
});

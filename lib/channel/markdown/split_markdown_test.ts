import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { measureBy, type TextMeasure } from "./text_measure.ts";
import { splitMarkdown } from "./split_markdown.ts";
import { toPlainText } from "./to_plain_text.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

const MEASURES: readonly TextMeasure[] = ["characters", "utf16", "bytes"];

/** Letters and digits in their order: what no mark, blank or frame is made of. */
const letters = (text: string) => text.replace(/[^\p{L}\p{N}\p{So}]/gu, "");

/** Whether all of `inner` is in `text`, in its order. */
function isWithin(inner: string, text: string): boolean {
  let at = 0;
  for (const unit of text) if (inner.startsWith(unit, at)) at += unit.length;
  return at === inner.length;
}

const word = fc.stringMatching(/^[a-z]{1,12}$/);
const emoji = fc.constantFrom("👩‍👩‍👧‍👦", "🇩🇪", "é", "e\u0301", "漢字", "🎉");
const inline = fc.oneof(
  { weight: 6, arbitrary: word },
  emoji,
  word.map((text) => `**${text} ${text}**`),
  word.map((text) => `\`${text}\``),
  word.map((text) => `[${text}](https://example.org/${text})`),
);
const sentence = fc.array(inline, { minLength: 1, maxLength: 12 }).map((all) => all.join(" "));
const code = fc.tuple(
  fc.constantFrom("", "ts", "python"),
  fc.array(fc.oneof(word, fc.constant(""), word.map((text) => `    ${text} = 1`)), {
    maxLength: 12,
  }),
).map(([info, lines]) => [`\`\`\`${info}`, ...lines, "```"].join("\n"));
const list = fc.array(sentence, { minLength: 1, maxLength: 6 })
  .chain((items) =>
    fc.constantFrom("- ", "1. ").map((mark) => items.map((item) => mark + item).join("\n"))
  );
const document = fc.array(fc.oneof(sentence, code, list, sentence.map((text) => `> ${text}`)), {
  minLength: 1,
  maxLength: 8,
}).map((blocks) => blocks.join("\n\n"));

Deno.test("splitMarkdown() keeps the limit and loses nothing that is seen", () => {
  fc.assert(
    fc.property(
      document,
      fc.integer({ min: 40, max: 300 }),
      fc.constantFrom(...MEASURES),
      (text, limit, measure) => {
        const parts = splitMarkdown(text, limit, measure);
        const sizeOf = measureBy(measure);
        for (const part of parts) {
          assert(sizeOf(part) <= limit, `${sizeOf(part)} > ${limit}: ${part}`);
          assert(part.isWellFormed());
          assert(part.trim() !== "");
        }
        const seen = letters(parts.map(toPlainText).join(" "));
        assert(isWithin(letters(toPlainText(text)), seen), `${text}\n=>\n${parts.join("\n~~\n")}`);
      },
    ),
    { numRuns: rounds(500) },
  );
});

Deno.test("splitMarkdown() leaves each part with whole blocks of code, links and characters", () => {
  fc.assert(
    fc.property(document, fc.integer({ min: 120, max: 300 }), (text, limit) => {
      const whole = new Set(
        [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment),
      );
      for (const part of splitMarkdown(text, limit)) {
        const fences = part.split("\n").filter((line) => line.startsWith("```"));
        assertEquals(fences.length % 2, 0, part);
        assertEquals(part.split("](").length, part.split("https://").length, part);
        for (const [url] of part.matchAll(/\]\([^)\s]*/g)) assert(text.includes(`${url})`), part);
        for (const { segment } of new Intl.Segmenter().segment(part)) {
          assert(whole.has(segment) || /^[\d`\n]$/.test(segment), JSON.stringify(segment));
        }
      }
    }),
    { numRuns: rounds(300) },
  );
});

Deno.test("splitMarkdown() takes any text at any limit", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyString({ maxLength: 400 }),
        fc.string({
          unit: fc.constantFrom(
            "`",
            "~",
            "\n",
            " ",
            "> ",
            "- ",
            "1. ",
            "a",
            "[",
            "](",
            ")",
            "*",
            "😀",
          ),
          maxLength: 200,
        }),
      ),
      fc.integer({ min: 4, max: 60 }),
      fc.constantFrom(...MEASURES),
      (text, limit, measure) => {
        const sizeOf = measureBy(measure);
        const parts = splitMarkdown(text, limit, measure);
        for (const part of parts) assert(sizeOf(part) <= limit && part.isWellFormed());
        // Items of a list that counts by itself show their own numbers.
        assert(isWithin(letters(text.toWellFormed()).replace(/\p{N}/gu, ""), parts.join("")));
      },
    ),
    { numRuns: rounds(1_000) },
  );
});

Deno.test("splitMarkdown() gives a short text as it is, and none for a blank one", () => {
  assertEquals(splitMarkdown("hello *you*", 11), ["hello *you*"]);
  assertEquals(splitMarkdown("\n\n  \n", 11), []);
  assertEquals(splitMarkdown("", 4), []);
});

Deno.test("splitMarkdown() prefers paragraphs, then lines, then words", () => {
  assertEquals(splitMarkdown("one two\n\nthree four\nfive\n\nsix", 20), [
    "one two",
    "three four\nfive\n\nsix",
  ]);
  assertEquals(splitMarkdown("one two\n\nthree four\n\nfive six", 20), [
    "one two\n\nthree four",
    "five six",
  ]);
  assertEquals(splitMarkdown("one two three four", 10), ["one two", "three four"]);
  assertEquals(splitMarkdown("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
});

Deno.test("splitMarkdown() closes a block of code and opens it again with its language", () => {
  const text = "Look:\n\n```ts\nconst a = 1;\nconst b = 2;\nconst c = 3;\n```\n\nDone";
  assertEquals(splitMarkdown(text, 40), [
    "Look:\n\n```ts\nconst a = 1;\n```",
    "```ts\nconst b = 2;\nconst c = 3;\n```",
    "Done",
  ]);
  assertEquals(splitMarkdown("````md\n```\na b c d e f g h\n```\n````", 24), [
    "````md\n```\n````",
    "````md\na b c d e f\n````",
    "````md\n g h\n```\n````",
  ]);
});

Deno.test("splitMarkdown() closes a block of code that its author left open", () => {
  assertEquals(splitMarkdown("```\naaaa\nbbbb\ncccc\ndddd", 18), [
    "```\naaaa\nbbbb\n```",
    "```\ncccc\ndddd\n```",
  ]);
});

Deno.test("splitMarkdown() keeps the numbers of a list that counts by itself", () => {
  assertEquals(splitMarkdown("1. aaaa\n1. bbbb\n1. cccc\n1. dddd", 16), [
    "1. aaaa\n1. bbbb",
    "3. cccc\n1. dddd",
  ]);
  assertEquals(splitMarkdown("7. aaaa\n8. bbbb\n9. cccc", 16), ["7. aaaa\n8. bbbb", "9. cccc"]);
});

Deno.test("splitMarkdown() takes the indentation off where a part begins within an item", () => {
  assertEquals(splitMarkdown("- aaaa\n    - bbbb\n    - cccc\n- dddd", 18), [
    "- aaaa\n    - bbbb",
    "- cccc\n- dddd",
  ]);
  assertEquals(splitMarkdown("1. run\n\n   ```sh\n   aaaaaaaa\n   bbbbbbbb\n   ```", 36), [
    "1. run\n\n   ```sh\n   aaaaaaaa\n   ```",
    "```sh\nbbbbbbbb\n```",
  ]);
});

Deno.test("splitMarkdown() keeps a quote a quote", () => {
  assertEquals(splitMarkdown("> aaaa bbbb cccc dddd", 12), ["> aaaa bbbb", "> cccc dddd"]);
});

Deno.test("splitMarkdown() begins no part with what would become a mark", () => {
  for (const part of splitMarkdown("five is 9 - 4 and 4 is 5 - 1 or so 1. what", 12)) {
    assert(!/^(-|1\.)/.test(part), part);
  }
});

Deno.test("splitMarkdown() refuses a limit that no character fits in", () => {
  for (const limit of [0, 3, -1, 4.5, NaN, Infinity]) {
    assertThrows(() => splitMarkdown("aaaaaaaaaa", limit), RangeError, "at least 4");
  }
  assertThrows(() => splitMarkdown("aaaa", 2, (text) => text.length * 10), RangeError);
});

const MEGABYTE = 1024 * 1024;

for (
  const [name, text] of Object.entries({
    "a line of a megabyte": "a".repeat(MEGABYTE),
    "words of a megabyte": "ab ".repeat(MEGABYTE / 3),
    "emoji of a megabyte": "👩‍👩‍👧‍👦".repeat(MEGABYTE / 11),
    "marks upon one letter": "e" + "\u0301".repeat(200_000),
    "10,000 nested lists": Array.from({ length: 10_000 }, (_, at) => " ".repeat(at % 200) + "- a")
      .join("\n"),
    "10,000 list marks in a line": "- ".repeat(10_000) + "a",
    "10,000 nested quotes": ">".repeat(10_000) + " a",
    "10,000 lines of nested quotes": "> > > > a\n".repeat(10_000),
    "fences that stay open": "```\n".repeat(9_999),
    "code that stays open": "```ts\n" + "a = 1;\n".repeat(50_000),
    "brackets": "[".repeat(100_000),
    "half links": "[a](".repeat(30_000),
    "stars": "*a **b ".repeat(20_000),
    "underscores": "_a_".repeat(60_000),
    "NUL": "\0".repeat(100_000),
    "lone surrogates": "\uD800a\uDC00".repeat(50_000),
    "line ends": "\n".repeat(MEGABYTE) + "a",
    "half references": "&a".repeat(100_000),
  })
) {
  Deno.test(`splitMarkdown() takes ${name} in bounded time`, () => {
    const began = cpuMs();
    for (const limit of [400, 4_096]) {
      const parts = splitMarkdown(text, limit, "bytes");
      assert(parts.every((part) => measureBy("bytes")(part) <= limit && part.isWellFormed()));
    }
    // Some hundred times what it takes, and far from what a square of the length would.
    assert(cpuMs() - began < 60_000);
  });
}

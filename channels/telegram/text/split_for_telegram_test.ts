import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseHtml } from "../testing/parse_html.ts";
import { htmlOf, MAX_MESSAGE_CHARS, splitForTelegram } from "./split_for_telegram.ts";
import { rounds } from "../../../tests/support/rounds.ts";

Deno.test("splitForTelegram() gives parts that each fit one message", () => {
  const words = fc.array(
    fc.constantFrom(
      ...["word ", "**bold** ", "`code` ", "\n\n", "\n- item ", "\n> quote\n\n", "👩‍👩‍👧‍👦", "é"],
      ...[
        "\n```\ncode\n```\n",
        '&<>"',
        "[l](https://example.com/x) ",
        "\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
      ],
    ),
    { minLength: 1, maxLength: 60 },
  );
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 120 }), (parts, times) => {
      for (const part of splitForTelegram(parts.join("").repeat(times))) {
        const { shown } = parseHtml(htmlOf(part));
        assert(shown.length <= MAX_MESSAGE_CHARS, `${shown.length} characters`);
        assert(shown.trim() !== "");
      }
    }),
    { numRuns: rounds(60) },
  );
});

Deno.test("splitForTelegram() loses no word of a long text", () => {
  const words = Array.from({ length: 3_000 }, (_, index) => `w${index}`);
  const parts = splitForTelegram(words.join(" "));
  assert(parts.length > 1);
  assertEquals(parts.flatMap((part) => part.split(" ")), words);
});

Deno.test("splitForTelegram() cuts what is longer when it is shown than it was written", () => {
  const row = `| ${"x".repeat(20)} | y |\n`;
  const table = `| a | b |\n|---|---|\n${row}${"| 1 | 2 |\n".repeat(400)}`;
  const parts = splitForTelegram(table);
  assert(parts.length > 1);
  for (const part of parts) assert(parseHtml(htmlOf(part)).shown.length <= MAX_MESSAGE_CHARS);
});

Deno.test("splitForTelegram() counts what is shown, and keeps markup bounded", () => {
  const link = `[x](https://example.com/${"a".repeat(500)}) `;
  for (const part of splitForTelegram(link.repeat(60))) {
    assert(new TextEncoder().encode(htmlOf(part)).length <= 30_000);
  }
});

Deno.test("splitForTelegram() gives nothing for a text of which nothing is shown", () => {
  for (const text of ["", " \n", "[//]: # (x)", "```\n```"]) {
    assertEquals(splitForTelegram(text), []);
  }
});

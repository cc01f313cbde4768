// deno-lint-ignore-file no-control-regex -- none of them may be left.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { bodyOf, MAX_BODY_BYTES, messageParts, xmlBytes } from "./message_parts.ts";
import { cleanXmlText, toStyling } from "../../../lib/channel/markdown/mod.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const golden = new URL("golden/", import.meta.url);

for (const { name } of [...Deno.readDirSync(golden)].toSorted((a, b) => a.name < b.name ? -1 : 1)) {
  if (!name.endsWith(".md")) continue;
  Deno.test(`toStyling() writes ${name} as its golden file has it`, async () => {
    const markdown = await Deno.readTextFile(new URL(name, golden));
    const expected = await Deno.readTextFile(new URL(name.replace(/md$/, "txt"), golden));
    assertEquals(`${toStyling(markdown)}\n`, expected);
  });
}

/** What a reader takes for a style: a mark behind a blank, another or nothing, and its next behind no blank. */
function stylesOf(line: string): string[] {
  return [...line.matchAll(/(?<=^|[\s*_~`])([*_~`])(?!\s)((?:(?!\1).)*?)(?<!\s)\1/g)].map(([all]) =>
    all
  );
}

Deno.test("toStyling() leaves out marks that a reader would not take for a style", () => {
  for (
    const [markdown, expected, styles] of [
      ["**a** b", "*a* b", ["*a*"]],
      ["wo**rd**s", "words", []],
      ["(**a**)", "(a)", []],
      ["**a*b*c**", "*abc*", ["*abc*"]],
      ["**2 * 3**", "2 * 3", []],
      ["`a`b`", "`a`b`", ["`a`"]],
      ["***x***", "_*x*_", ["_*x*_"]],
    ] as const
  ) {
    assertEquals(toStyling(markdown), expected);
    assertEquals(stylesOf(toStyling(markdown)), [...styles]);
  }
});

const MARKDOWN = fc.array(
  fc.oneof(
    fc.constantFrom("**", "*", "_", "~~", "`", "```\n", "\n```\n", "> ", "- ", "1. ", "# ", "\n\n"),
    fc.constantFrom("\n", " ", "a", "word ", "[x](y)", "<b>", "&#1;", "&gt;", "\\>", "| a | b |\n"),
    fc.constantFrom("\x01", "\x10", "\uFFFE", "\u2028", "\r\n", "漢", "👩‍👩‍👧‍👦", "\uD800", "عربي"),
    anyString({ maxLength: 6 }),
  ),
  { maxLength: 60 },
).map((all) => all.join(""));

Deno.test("toStyling() never throws, and lets nothing through that XML cannot hold", () => {
  fc.assert(
    fc.property(MARKDOWN, (markdown) => {
      const text = toStyling(markdown);
      assert(!/[\x00-\x08\x0B-\x1F\x7F-\x9F\uFFFE\uFFFF]/.test(text), JSON.stringify(text));
      assert(text.isWellFormed());
    }),
    { numRuns: rounds(2_000) },
  );
});

Deno.test("messageParts() makes messages of which none is over the limit, of any text", () => {
  const long = fc.array(MARKDOWN, { minLength: 1, maxLength: 8 })
    .chain((parts) => fc.integer({ min: 1, max: 400 }).map((times) => parts.join("").repeat(times)))
    .map((text) => text.slice(0, 40_000));
  fc.assert(
    fc.property(long, (markdown) => {
      for (const part of messageParts(markdown)) {
        const body = bodyOf(part);
        assert(body !== "" || part.trim() === "" || cleanXmlText(part).trim() === "");
        assert(xmlBytes(body) <= MAX_BODY_BYTES, `${xmlBytes(body)}`);
      }
    }),
    { numRuns: rounds(60) },
  );
});

Deno.test("messageParts() keeps every word of a long text, also where it grows", () => {
  const words = Array.from({ length: rounds(4_000, 1_000) }, (_, at) => `w${at}&<>`);
  const text = messageParts(words.join(" ")).map(bodyOf).join(" ");
  assertEquals(text.split(/\s+/), words);
  const hostile = `${">".repeat(500)} a\n${"b\n".repeat(2_000)}`;
  for (const part of messageParts(hostile)) assert(xmlBytes(bodyOf(part)) <= MAX_BODY_BYTES);
});

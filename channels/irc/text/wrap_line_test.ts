// deno-lint-ignore-file no-control-regex -- IRC writes styles as control characters.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { toIrc, withoutCodes } from "./to_irc.ts";
import { textBytes, wrapLine } from "./wrap_line.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

Deno.test("toIrc() writes Markdown with codes, or without", () => {
  const text = [
    "# Title",
    "",
    "A **bold** *italic* ~~gone~~ `code` [link](https://example.org/?a=1&b=2) <https://a.org>",
    "",
    "1. one",
    "2. **two**",
    "   - inner",
    "",
    "```js",
    "if (a) {",
    "\treturn `b`;",
    "",
    "}",
    "```",
    "> said",
  ].join("\n");
  assertEquals(toIrc(text, "codes"), [
    "\x02Title\x02",
    "A \x02bold\x02 \x1Ditalic\x1D \x1Egone\x1E \x11code\x11 link (https://example.org/?a=1&b=2) https://a.org",
    "1. one",
    "2. \x02two\x02",
    "   - inner",
    "\x11if (a) {\x11",
    "\x11    return `b`;\x11",
    "\x11}\x11",
    "> said",
  ]);
  assertEquals(toIrc(text, "plain").slice(0, 2), [
    "Title",
    "A bold italic gone code link (https://example.org/?a=1&b=2) https://a.org",
  ]);
});

Deno.test("toIrc() lets no control character of a text through", () => {
  const text = fc.array(
    fc.oneof(
      fc.constantFrom(
        "\r\n",
        "\r",
        "\0",
        "\x01ACTION x\x01",
        "\x02",
        "\x03",
        "&#10;",
        "&#1;",
        "&#13;",
      ),
      fc.constantFrom(
        "`",
        "**",
        "```\n",
        "[a](b",
        ")",
        "\n",
        "\n\n",
        "- ",
        "\u0085",
        "\u2028",
        "\x7F",
      ),
      anyString({ maxLength: 4 }),
    ),
    { maxLength: 40 },
  ).map((all) => all.join(""));
  fc.assert(
    fc.property(text, fc.constantFrom("codes" as const, "plain" as const), (markdown, how) => {
      for (const line of toIrc(markdown, how)) {
        const plain = how === "codes" ? line.replace(/[\x02\x11\x1D\x1E]/g, "") : line;
        assert(!/\p{Cc}|\u2028|\u2029/u.test(plain), JSON.stringify(line));
        assert(line.isWellFormed() && plain.trim() !== "");
      }
    }),
    { numRuns: rounds(2_000) },
  );
});

Deno.test("withoutCodes() takes styles and colours out", () => {
  assertEquals(
    withoutCodes("\x02a\x02 \x0304,12b\x03 \x04FF0000c \x16d\x0F \x01e\x01"),
    "a b c d e",
  );
});

Deno.test("wrapLine() cuts at spaces where that is worth it, and keeps styles on", () => {
  assertEquals([...wrapLine("one two three four five", 16)], ["one two three", "four five"]);
  assertEquals([...wrapLine("a" + "b".repeat(30), 16)], ["abbbbbbbbbbbbbbb", "bbbbbbbbbbbbbbb"]);
  assertEquals([...wrapLine("a \x02bold and longer than that\x02 b", 16)], [
    "a \x02bold and",
    "\x02longer than",
    "\x02that\x02 b",
  ]);
  assertEquals([...wrapLine("", 16)], []);
});

Deno.test("wrapLine() keeps the limit, every character and every style", () => {
  const unit = fc.constantFrom(
    "a",
    "word",
    " ",
    "é",
    "漢",
    "👩‍👩‍👧‍👦",
    "\x02",
    "\x11",
    "\x1D",
    "e\u0301",
  );
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 200 }),
      fc.integer({ min: 40, max: 120 }),
      (all, max) => {
        const line = all.join("");
        const parts = [...wrapLine(line, max)];
        const plain = (text: string) => text.replace(/[\x02\x11\x1D\x1E ]/g, "");
        assertEquals(plain(parts.join("")), plain(line));
        for (const part of parts) {
          assert(bytes(part) <= max, `${bytes(part)} > ${max}`);
          assert(part.isWellFormed());
        }
        // Each character has the styles that it had.
        assertEquals(styled(parts), styled([line]));
      },
    ),
    { numRuns: rounds(1_000) },
  );
});

/** Visible characters with the styles that are on; each line begins without any. */
function styled(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const on = new Set<string>();
    return [...line].flatMap((unit) => {
      if (!/[\x02\x11\x1D\x1E]/.test(unit)) return unit === " " ? [] : [[unit, ...on].join()];
      if (!on.delete(unit)) on.add(unit);
      return [];
    });
  }).map((one) => [...one.split(",")].toSorted().join());
}

Deno.test("wrapLine() takes a line of a megabyte and a character without an end", () => {
  for (
    const line of ["a".repeat(1 << 20), "e" + "\u0301".repeat(100_000), "\x02".repeat(100_000)]
  ) {
    for (const part of wrapLine(line, 400)) assert(bytes(part) <= 400 && part.isWellFormed());
  }
});

Deno.test("textBytes() leaves room for the longest prefix", () => {
  const room = textBytes({ nick: "bot", target: "#room", command: "PRIVMSG", lineBytes: 512 });
  const line = `:bot!${"u".repeat(12)}@${"h".repeat(63)} PRIVMSG #room :${"x".repeat(room)}\r\n`;
  assertEquals(bytes(line), 512);
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { anyString } from "../../tests/support/any_string.ts";
import { indexedText, parseQuery, snippetOf, toMatch } from "./search_text.ts";

/** A snippet with its matches in brackets. */
function marked(text: string, query: string): string {
  return snippetOf(text, parseQuery(query))
    .map(({ text, match }) => match ? `[${text}]` : text).join("");
}

Deno.test("indexedText() has words without case and accents, and characters where none are set apart", () => {
  for (
    const [text, terms] of [
      ["Straße, CAFÉ & naïve_x1!", "straße cafe naive x1"],
      ["東京タワー3号", "東 京 タ ワ ー 3 号"],
      ["สวัสดี ok", "ส ว ั ส ด ี ok"],
      ["한국어 \ufb01n 🎉.", `${"한국어".normalize("NFKD")} fin 🎉`],
      ["a\0b \ud83d\u0301 ½", "a b 1⁄2"],
      ["x".repeat(100), "x".repeat(64)],
      ["", ""],
    ] as const
  ) assertEquals(indexedText(text), terms);
});

Deno.test("parseQuery() takes words, phrases in quotes, and the beginning of a last word", () => {
  for (
    const [typed, match] of [
      ["Two words", '"two" "words"*'],
      ['say "two words"', '"say" "two words"'],
      ['say "two wo', '"say" "two wo"*'],
      ["foo-bar OR baz* NEAR(a)", '"foo bar" "or" "baz" "near a"'],
      ["東京", '"東 京"'],
      ['a" "b""', '"a" "b"'],
      ["x:y ^z text:", '"x y" "z" "text"*'],
    ] as const
  ) assertEquals(toMatch(parseQuery(typed)), match);
  for (const typed of ["", "  ", '"', "!? --", "\0", "\ud83d", "a ".repeat(33)]) {
    const { code } = assertThrows(() => parseQuery(typed), ServiceError);
    assertEquals(code, "invalid_request");
  }
});

Deno.test("snippetOf() shows what is about the first match, and marks every match in it", () => {
  assertEquals(marked("The Cafés of Paris", "paris cafe"), "The [Cafés] of [Paris]");
  assertEquals(marked("The Cafés of Paris", "cafe paris"), "The Cafés of [Paris]");
  assertEquals(marked("我在東京塔下。", "東京"), "我在[東京]塔下。");
  assertEquals(marked("a b a", '"b a"'), "a [b a]");
  const long = `${"word ".repeat(100)}needle\n\n${"more ".repeat(100)}`;
  const shown = marked(long, "needle");
  assert(shown.startsWith("…word ") && shown.endsWith(" more…"), shown);
  assert(shown.includes("word [needle] more") && shown.length < 300, shown);
  assertEquals(marked("x".repeat(1_000), "y"), `${"x".repeat(240)}…`);
});

Deno.test("snippetOf() marks what a query was made of, in whatever text", () => {
  fc.assert(
    fc.property(anyString(), anyString(), anyString(), (before, wanted, after) => {
      let query;
      try {
        query = parseQuery(`"${wanted.replaceAll('"', " ")}"`);
      } catch {
        return;
      }
      const parts = snippetOf(`${before} ${wanted} ${after}`, query);
      assert(parts.some(({ match }) => match));
      for (const { text } of parts) assert(text.isWellFormed());
    }),
  );
});

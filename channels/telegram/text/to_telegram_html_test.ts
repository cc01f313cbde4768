import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseHtml } from "../testing/parse_html.ts";
import { shownText, toTelegramHtml } from "./to_telegram_html.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const golden = new URL("./golden/", import.meta.url);

for (const name of ["blocks", "inline", "unicode"]) {
  Deno.test(`toTelegramHtml() writes golden/${name}.md as golden/${name}.html`, async () => {
    const markdown = await Deno.readTextFile(new URL(`${name}.md`, golden));
    const html = await Deno.readTextFile(new URL(`${name}.html`, golden));
    assertEquals(toTelegramHtml(markdown) + "\n", html);
  });
}

/** Pieces of Markdown and of HTML, next to each other as no person writes them. */
const texts = fc.array(
  fc.oneof(
    anyString({ maxLength: 20 }),
    fc.constantFrom(
      ...[
        "**",
        "*",
        "~~",
        "`",
        "```",
        "```js\n",
        "> ",
        ">> ",
        "- ",
        "1. ",
        "# ",
        "| a | b |\n|---|---|\n",
      ],
      ...[
        "<b>",
        "</b>",
        "<a href='x'>",
        "&lt;",
        "&",
        "<",
        ">",
        '"',
        "[x](https://a.b/c)",
        "\n",
        "\n\n",
      ],
      ...[
        "![p](https://x.y/z)",
        "[x](javascript:1)",
        "<https://e.f>",
        "    ",
        "\t",
        "\u202E",
        "\0",
      ],
    ),
  ),
  { maxLength: 40 },
).map((parts) => parts.join(""));

Deno.test("toTelegramHtml() is taken by Telegram whatever the text is", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const html = toTelegramHtml(text);
      const { shown, paths } = parseHtml(html);
      assertEquals(shown, shownText(html));
      for (const path of paths) {
        assert(!/blockquote>.*blockquote/.test(path), `a quote in a quote: ${path}`);
        assert(!/\ba>.*\ba\b/.test(path), `a link in a link: ${path}`);
      }
    }),
    { numRuns: rounds(500) },
  );
});

Deno.test("toTelegramHtml() leaves no markup of the text", () => {
  assertEquals(
    toTelegramHtml('<b onclick="x">**y** &amp; <i>'),
    "&lt;b onclick=&quot;x&quot;&gt;<b>y</b> &amp; &lt;i&gt;",
  );
});

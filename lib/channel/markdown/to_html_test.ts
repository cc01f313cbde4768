import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { toHtml } from "./to_html.ts";
import { toPlainText } from "./to_plain_text.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

const TEXT = [
  "# Plan for *today*",
  "",
  "Run `a < b` and see [the page](https://example.org/?a=1&amp;b=2), AT&amp;T.",
  "",
  "1. one",
  "2. **two**",
  "   - inner",
  "",
  "- [ ] open",
  "- [x] done",
  "",
  "> said",
  "",
  "```js",
  'if (a < "b") {}',
  "```",
  "",
  "| name | size |",
  "|------|------|",
  "| a    | *1*  |",
].join("\n");

Deno.test("toHtml() writes what Markdown has", () => {
  assertEquals(
    toHtml(TEXT),
    [
      "<h1>Plan for <em>today</em></h1>",
      "<p>Run <code>a &#60; b</code> and see " +
      '<a href="https://example.org/?a=1&#38;b=2">the page</a>, AT&#38;T.</p>',
      "<ol>",
      "<li>one</li>",
      "<li><strong>two</strong>",
      "<ul>",
      "<li>inner</li>",
      "</ul></li>",
      "</ol>",
      "<ul>",
      "<li>☐ open</li>",
      "<li>☑ done</li>",
      "</ul>",
      "<blockquote>",
      "<p>said</p>",
      "</blockquote>",
      "<pre><code>if (a &#60; &#34;b&#34;) {}",
      "</code></pre>",
      "<table>",
      "<tr><th>name</th><th>size</th></tr>",
      "<tr><td>a</td><td><em>1</em></td></tr>",
      "</table>",
    ].join("\n"),
  );
});

Deno.test("toPlainText() says what Markdown says", () => {
  assertEquals(
    toPlainText(TEXT),
    [
      "Plan for today",
      "",
      "Run a < b and see the page (https://example.org/?a=1&b=2), AT&T.",
      "",
      "1. one",
      "2. two",
      "   - inner",
      "",
      "- [ ] open",
      "- [x] done",
      "",
      "> said",
      "",
      'if (a < "b") {}',
      "",
      "name | size",
      "a | 1",
    ].join("\n"),
  );
});

for (
  const link of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "&#106;avascript:alert(1)",
    "java&#10;script:alert(1)",
    "&#1;javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "//example.org",
  ]
) {
  Deno.test(`toHtml() links nobody to ${link}`, () => {
    for (const text of [`[a](${link})`, `![a](${link})`, `<${link}>`, `[a][1]\n\n[1]: ${link}`]) {
      assert(!/<a|<img|<script/i.test(toHtml(text)), toHtml(text));
    }
  });
}

Deno.test("toHtml() shows markup as it was written", () => {
  const html = toHtml('<script>alert(1)</script>\n\na <b onclick="x">b</b><br>c <!-- d -->');
  assertStringIncludes(html, "&#60;script&#62;alert(1)&#60;/script&#62;");
  assertStringIncludes(html, "&#60;b onclick=&#34;x&#34;&#62;b&#60;/b&#62;<br>\nc");
  assertEquals(
    toHtml('[a](https://example.org/"onmouseover="x)').match(/<a [^>]*>/)?.[0].includes('"onm'),
    false,
  );
});

Deno.test("toHtml() writes elements of its own alone, whatever the text is", () => {
  const mark = fc.constantFrom(
    "<",
    ">",
    '"',
    "'",
    "&",
    "[a](",
    ")",
    "`",
    "*",
    "\n",
    "- ",
    "> ",
    "|",
  );
  const text = fc.array(fc.oneof(mark, anyString({ maxLength: 3 })), {
    maxLength: 60,
  }).map((all) => all.join(""));
  const own =
    /<\/?(?:p|h[1-6]|em|strong|del|code|pre|ul|ol|li|blockquote|table|tr|th|td|hr|br|a)(?: (?:href="(?:https?:\/\/|mailto:)[^"<>]*"|start="\d+"))?>/gi;
  fc.assert(
    fc.property(text, (markdown) => {
      const rest = toHtml(markdown).replace(own, "");
      assert(!/[<>"']/.test(rest), rest);
    }),
    { numRuns: rounds(2_000) },
  );
});

Deno.test("toPlainText() loses no letter", () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const mark = fc.constantFrom("*", "_", "`", " ", "\n", "\n\n", "- ", "> ", "# ", "~~", "\n    ");
  fc.assert(
    fc.property(fc.array(fc.oneof(word, mark), { maxLength: 60 }), (all) => {
      const text = all.join("");
      const letters = (of: string) => of.replace(/[^a-z]/g, "");
      // What stands behind the fence of a block says how it is coloured.
      fc.pre(!/`{3}|~{3}/.test(text));
      assertEquals(letters(toPlainText(text)), letters(text));
    }),
    { numRuns: rounds(2_000) },
  );
});

for (
  const [name, text] of Object.entries({
    "a line of a megabyte": "a*b ".repeat(1 << 18),
    "10,000 nested lists": Array.from({ length: 10_000 }, (_, at) => " ".repeat(at * 2) + "- a")
      .join("\n").slice(0, 250_000),
    "10,000 list marks": "- ".repeat(10_000),
    "10,000 quotes": ">".repeat(10_000),
    "10,000 lines of quotes": "> > > a\n\n".repeat(10_000),
    "open fences": "```\na\n".repeat(20_000),
    "a long block": "```ts\n" + "<a>;\n".repeat(40_000) + "```\n\nend",
    "underscores": "_a_".repeat(80_000),
    "brackets": "[".repeat(200_000),
    "stars": "*a **b ".repeat(30_000),
    "NUL": "a\0b",
    "surrogates": "\uD800a".repeat(1_000),
  })
) {
  Deno.test(`toHtml() and toPlainText() take ${name} in bounded time`, () => {
    const began = cpuMs();
    assert(toHtml(text).isWellFormed());
    assert(toPlainText(text).isWellFormed());
    assert(!toPlainText(text).includes("\0"));
    assert(cpuMs() - began < 60_000);
  });
}

Deno.test("toHtml() takes a long document piece by piece and keeps its blocks", () => {
  const part = "## Part\n\nText with **marks**.\n\n- a\n- b\n\n```ts\nlet a;\n\nlet b;\n```\n\n";
  const html = toHtml(part.repeat(500));
  assertEquals(html.split("<h2>").length, 501);
  assertEquals(html.split("<pre><code>let a;\n\nlet b;\n</code></pre>").length, 501);
  assertEquals(html.split("<li>").length, 1_001);
  const long = toHtml(`a\n\n\`\`\`ts\n${"let a;\n".repeat(5_000)}\`\`\`\n\nb`);
  assertEquals(long, `<p>a</p>\n<pre><code>${"let a;\n".repeat(5_000)}</code></pre>\n<p>b</p>`);
});

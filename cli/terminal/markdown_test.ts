import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Line, LOOK, paint } from "./look.ts";
import { renderMarkdown } from "./markdown.ts";
import { MarkdownStream } from "./markdown_stream.ts";
import { lineWidth } from "./wrap.ts";

function shown(markdown: string, width = 40): string[] {
  return renderMarkdown(markdown, width).map((line) => paint(line, false).trimEnd());
}

/** Texts that are full of marks. */
const marked = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...[
        "# ",
        "\n\n",
        "\n",
        "- ",
        "1. ",
        "> ",
        "```",
        "```ts\n",
        "`",
        "**",
        "_",
        "~~",
        "| ",
        " |",
      ],
      ...[
        "\n|---|---|\n",
        "[a](http://b)",
        "![i](j)",
        "<b>",
        "---",
        "    ",
        "\t",
        "\\",
        "- [x] ",
        "✅",
      ],
      ...[
        "日本語",
        "e\u0301",
        "\u{1F468}\u200D\u{1F469}",
        "\x1b[31m",
        "\r\n",
        "a very long word".repeat(4),
      ],
    ),
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.stringMatching(/^[a-z]{1,30}$/),
  ),
  { maxLength: 40 },
).map((parts) => parts.join(""));

Deno.test("renderMarkdown() never exceeds the width, whatever the text", () => {
  fc.assert(fc.property(marked, fc.integer({ min: 2, max: 120 }), (text, width) => {
    for (const line of renderMarkdown(text, width)) {
      assert(lineWidth(line) <= width, `${width}: ${JSON.stringify(line)}`);
    }
  }));
});

Deno.test("renderMarkdown() keeps every word of a plain text", () => {
  const word = fc.stringMatching(/^[a-z]{1,40}$/);
  const text = fc.array(fc.array(word, { minLength: 1, maxLength: 20 }), { maxLength: 5 });
  fc.assert(fc.property(text, fc.integer({ min: 2, max: 80 }), (paragraphs, width) => {
    const source = paragraphs.map((words) => words.join(" ")).join("\n\n");
    const joined = renderMarkdown(source, width).map((line) => paint(line, false)).join("");
    assertEquals(joined.replace(/\s/g, ""), source.replace(/\s/g, ""));
  }));
});

Deno.test("renderMarkdown() sends no escape sequence of the text", () => {
  const [line] = renderMarkdown("a \x1b[31mred\x1b[0m `\x9b2J`", 80);
  // deno-lint-ignore no-control-regex
  assert(!/[\x1b\x9b]/.test(paint(line!, false)));
});

Deno.test("renderMarkdown() shows headings, lists, quotes and code", () => {
  assertEquals(
    shown("# Head\n\ntext **bold**\n\n- a\n- b\n  1. deep\n\n> quote\n\n```sh\nls # all\n```"),
    ["Head", "", "text bold", "", "• a", "• b", "  1. deep", "", "│ quote", "", "  ls # all"],
  );
  const code = renderMarkdown("```sh\nls # all\n```", 40)[0]!;
  assertEquals(code.find(({ text }) => text.includes("# all"))?.look, LOOK.dim);
});

Deno.test("renderMarkdown() gives tables columns, and rows of their own where those have no room", () => {
  const table = "| Name | Value |\n|---|--:|\n| alpha | 1 |\n| beta | 22 |";
  assertEquals(shown(table), ["Name  │ Value", "──────┼──────", "alpha │     1", "beta  │    22"]);
  assertEquals(shown(table, 10), ["Name:", "alpha", "Value: 1", "", "Name: beta", "Value: 22"]);
});

Deno.test("MarkdownStream prints the same in pieces as whole", () => {
  const block = fc.constantFrom(
    ...[
      "# A head",
      "some words **bold** and `code`",
      "- one\n- two\n  - deep",
      "1. first\n2. second",
    ],
    ...[
      "```ts\nconst a = 1;\n\nconst b = 2;\n```",
      "| A | B |\n|---|---|\n| 1 | 2 |",
      "> quoted\n> words",
    ],
  );
  fc.assert(fc.property(fc.array(block), fc.integer({ min: 1, max: 9 }), (blocks, size) => {
    const text = blocks.join("\n\n");
    const stream = new MarkdownStream(true);
    const printed: Line[] = [];
    for (let at = 0; at < text.length; at += size) {
      stream.add(text.slice(at, at + size));
      printed.push(...stream.render(60).done);
    }
    printed.push(...stream.render(60, true).done);
    const lines = (all: Line[]) => all.map((line) => paint(line, false));
    assertEquals(lines(printed), lines(renderMarkdown(text, 60)));
  }));
});

Deno.test("MarkdownStream prints a block once the next begins", () => {
  const stream = new MarkdownStream(true);
  stream.add("one **bo");
  assertEquals(stream.render(40).done, []);
  stream.add("ld** end\n\n- item\n");
  const { done, tail } = stream.render(40);
  assertEquals(done.map((line) => paint(line, false)), ["one bold end"]);
  assertEquals(tail.map((line) => paint(line, false)), ["", "• item"]);
  assertEquals(stream.render(40, true).done.map((line) => paint(line, false)), ["", "• item"]);
});

Deno.test("MarkdownStream shows the source where nothing is rendered", () => {
  const stream = new MarkdownStream(false);
  stream.add("# Head\n**bo");
  assertEquals(stream.render(40).done.map((line) => paint(line, false)), ["# Head"]);
  stream.add("ld**\n");
  assertEquals(stream.render(40, true).done.map((line) => paint(line, false)), ["**bold**"]);
});

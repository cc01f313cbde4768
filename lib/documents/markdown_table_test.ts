import { assertEquals } from "@std/assert";
import { markdownTable } from "./markdown_table.ts";

const row = (...texts: string[]) => texts.map((text) => ({ text }));

Deno.test("markdownTable() makes the first row the header, and fills short rows", () => {
  assertEquals(
    markdownTable([row("a", "b"), row("c"), row()]),
    "| a | b |\n| --- | --- |\n| c |\n|  |",
  );
  assertEquals(markdownTable([row("a"), row("b", "c")]), "| a |  |\n| --- | --- |\n| b | c |");
  assertEquals(markdownTable([]), "");
  assertEquals(markdownTable([row()]), "");
});

Deno.test("markdownTable() keeps a cell in its line and its column", () => {
  assertEquals(markdownTable([row("a|b", " c\nd ")]), "| a\\|b | c<br>d |\n| --- | --- |");
});

Deno.test("markdownTable() leaves what a spanning cell covers blank", () => {
  assertEquals(
    markdownTable([
      [{ text: "wide", colSpan: 2 }, { text: "tall", rowSpan: 3 }],
      row("a", "b"),
      row("c", "d"),
      row("e", "f", "g"),
    ]),
    "| wide |  | tall |\n| --- | --- | --- |\n| a | b |  |\n| c | d |  |\n| e | f | g |",
  );
});

Deno.test("markdownTable() does not believe in a span without end, and loses no text to it", () => {
  const text = markdownTable([[{ text: "a", colSpan: 1e9, rowSpan: 1e9 }], row("b")]);
  assertEquals(text.split("\n")[0]!.split("|").length - 2, 101);
  assertEquals(text.includes("b"), true);
});

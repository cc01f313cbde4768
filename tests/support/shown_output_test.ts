import { assertEquals, assertThrows } from "@std/assert";
import { markdownBlocks } from "./markdown_blocks.ts";
import { differenceFromShown, isShownText } from "./shown_output.ts";

Deno.test("isShownText() takes … for anything in a line, and nothing else for anything", () => {
  assertEquals(isShownText("id: a-…-z\nend", "id: a-1.2-z\r\nend\n"), true);
  assertEquals(isShownText("a…", "a"), true);
  assertEquals(isShownText("a.c", "abc"), false);
  assertEquals(isShownText("a…z", "a\nz"), false);
  assertEquals(isShownText("one", "one\ntwo"), false);
  assertEquals(isShownText("one", ""), false);
});

Deno.test("differenceFromShown() finds what differs, and takes only … for more", () => {
  const same: [unknown, unknown][] = [
    [{ a: 1, b: [true, null] }, { b: [true, null], a: 1 }],
    [{ id: "resp_…", created: 1 }, { id: "resp_17", created: 2 }],
    [{ a: 1, "…": "…" }, { a: 1, b: 2 }],
    [{ a: "…" }, { a: { b: [] } }],
  ];
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: 1 }, { a: "1" }],
    [{ created: 1 }, { created: "later" }],
    [[1], [1, 2]],
    ["resp_…", "msg_1"],
    [{}, []],
    [null, {}],
  ];
  for (const [shown, printed] of same) {
    assertEquals(differenceFromShown(shown, printed), undefined, JSON.stringify(shown));
  }
  for (const [shown, printed] of different) {
    assertEquals(typeof differenceFromShown(shown, printed), "string", JSON.stringify(shown));
  }
});

Deno.test("markdownBlocks() finds each block with its language, notes and line", () => {
  const page = "text\n```sh\na\n\nb\n```\n\n```json output Error\n{}\n```\n";
  assertEquals(markdownBlocks(page), [
    { line: 3, language: "sh", notes: [], text: "a\n\nb" },
    { line: 9, language: "json", notes: ["output", "Error"], text: "{}" },
  ]);
  assertThrows(() => markdownBlocks("```sh\na\n"), Error, "line 2 does not end");
});

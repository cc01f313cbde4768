import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Editor } from "./editor.ts";
import type { Key } from "./keys.ts";
import { paint } from "./look.ts";
import { lineWidth } from "./wrap.ts";

const NO = { ctrl: false, meta: false, shift: false };
const named = (name: string): Key => ({ name, text: "", ...NO });
const ctrl = (name: string): Key => ({ ...named(name), ctrl: true });
const meta = (name: string): Key => ({ ...named(name), meta: true });

function type(editor: Editor, text: string): void {
  for (const char of text) editor.key({ name: "text", text: char, ...NO });
}

function typed(text: string, ...keys: Key[]): Editor {
  const editor = new Editor(["first", "second one"]);
  type(editor, text);
  for (const key of keys) editor.key(key);
  return editor;
}

Deno.test("Editor edits as shells do", () => {
  assertEquals(typed("one two", ctrl("w")).text, "one ");
  assertEquals(typed("one two", ctrl("a"), ctrl("k")).text, "");
  assertEquals(typed("one two", ctrl("w"), ctrl("a"), ctrl("y")).text, "twoone ");
  assertEquals(typed("one two", meta("b"), named("delete")).text, "one wo");
  assertEquals(typed("ab", named("left"), named("backspace")).text, "b");
  assertEquals(typed("one", ctrl("u"), ctrl("_")).text, "one");
  // A family is one character, as people see it.
  assertEquals(typed("a\u{1F468}\u200D\u{1F469}\u200D\u{1F467}", named("backspace")).text, "a");
});

Deno.test("Editor begins new lines with Ctrl-J, Alt-Enter and a backslash", () => {
  for (const keys of [[named("enter")], [meta("return")]]) {
    const editor = typed("one", ...keys);
    type(editor, "two");
    assertEquals(editor.text, "one\ntwo");
    assertEquals(editor.key(named("return")), "submit");
  }
  const editor = typed("one\\", named("return"));
  assertEquals(editor.text, "one\n");
});

Deno.test("Editor takes a paste whole, its line ends too", () => {
  const editor = typed("");
  editor.key({ name: "paste", text: "a\nb", ...NO });
  assertEquals(editor.text, "a\nb");
});

Deno.test("Editor goes through the history and back to what was typed", () => {
  const editor = typed("draft", named("up"));
  assertEquals(editor.text, "second one");
  editor.key(named("up"));
  assertEquals(editor.text, "first");
  editor.key(named("up"));
  assertEquals(editor.text, "first");
  editor.key(named("down"));
  editor.key(named("down"));
  assertEquals(editor.text, "draft");
});

Deno.test("Editor searches the history with Ctrl-R, and Enter only takes what was found", () => {
  const editor = typed("draft", ctrl("r"));
  type(editor, "fir");
  assertEquals(editor.text, "first");
  assertEquals(editor.key(named("return")), undefined);
  assertEquals([editor.text, editor.isSearching], ["first", false]);
  const left = typed("draft", ctrl("r"));
  type(left, "sec");
  left.key(named("escape"));
  assertEquals(left.text, "draft");
});

Deno.test("Editor tells what is asked of its owner", () => {
  assertEquals(typed("x").key(named("return")), "submit");
  assertEquals(typed("x").key(named("tab")), "complete");
  assertEquals(typed("x").key(ctrl("c")), "interrupt");
  assertEquals(typed("").key(ctrl("d")), "end");
  assertEquals(typed("x").key(ctrl("d")), undefined);
});

Deno.test("Editor.render() keeps to the width, with the cursor inside", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 80 });
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 40 }), fc.nat(40), (text, width, moves) => {
      const editor = new Editor();
      // deno-lint-ignore no-control-regex
      editor.set(text.replace(/[\x00-\x1f\x7f-\x9f]/g, "\n"));
      for (let at = 0; at < moves; at++) editor.key(named("left"));
      const { lines, cursor } = editor.render(width, 5);
      assert(lines.length <= 5);
      assert(cursor.row >= 0 && cursor.row < lines.length);
      assert(cursor.column >= 2 && cursor.column <= width);
      // Wide characters that a terminal joins count as each alone, so a row is never too long.
      for (const line of lines) assert(lineWidth(line) <= width + 2, paint(line, false));
    }),
  );
});

import { assertEquals, assertThrows } from "@std/assert";
import { anything, flag, list, MAX_PROGRESS_CHARS, progressText } from "./checks.ts";
import { shape, text, variants, whole } from "./checks.ts";

const ANSWER = variants<
  { type: "page"; title: string; lines: string[] } | { type: "done"; ok: boolean; count: number }
>({
  page: shape({ title: text(5), lines: list(text(), 2) }),
  done: shape({ ok: flag, count: whole }),
});

Deno.test("checks give back what was declared and nothing else", () => {
  const page = { type: "page", title: "ä", lines: ["", "x"] };
  assertEquals<unknown>(ANSWER({ ...page, more: 1 }), page);
  assertEquals<unknown>(ANSWER({ type: "done", ok: false, count: 0 }), {
    type: "done",
    ok: false,
    count: 0,
  });
  assertEquals(list(anything)([undefined, {}]), [undefined, {}]);
  assertEquals(progressText("x".repeat(5_000)).length, MAX_PROGRESS_CHARS);
});

Deno.test("checks name the field that is wrong", () => {
  const wrong: [unknown, string][] = [
    [undefined, "type: expected one of page, done"],
    [{ type: "toString" }, "type: expected one of page, done"],
    [{ type: ["page"] }, "type: expected one of page, done"],
    [{ type: "page", title: "longer", lines: [] }, "title: expected at most 5 characters"],
    [{ type: "page", title: 1, lines: [] }, "title: expected text"],
    [{ type: "page", title: "" }, "lines: expected a list"],
    [{ type: "page", title: "", lines: ["", "", ""] }, "lines: expected at most 2 items"],
    [{ type: "page", title: "", lines: [null] }, "lines: expected text"],
    [{ type: "done", ok: 1, count: 1 }, "ok: expected true or false"],
    [{ type: "done", ok: true, count: 1.5 }, "count: expected a whole number"],
  ];
  for (const [value, expected] of wrong) {
    assertEquals(assertThrows(() => ANSWER(value), TypeError).message, expected);
  }
});

import { assertEquals } from "@std/assert";
import { visible } from "./visible.ts";

Deno.test("visible() shows what hides in a name, words in tags and blank letters too", () => {
  const cases: [string, string][] = [
    ["a\nb\t\x1b[2J\x9b", "a\\nb\\t\\x1b[2J\\x9b"],
    ["x\u202egpj.exe\u2066", "x\\u{202e}gpj.exe\\u{2066}"],
    ["soft\u00adhyphen", "soft\\xadhyphen"],
    ["\u3164\u115f\uffa0", "\\u{3164}\\u{115f}\\u{ffa0}"],
    ["a\u{e0073}\u{e0068}", "a\\u{e0073}\\u{e0068}"],
    ["a\u{e0100}", "a\\u{e0100}"],
  ];
  for (const [text, shown] of cases) assertEquals(visible(text), shown);
});

Deno.test("visible() leaves what people write in names", () => {
  for (
    const name of ["Zürich ß.txt", "3.45\u202fPM.png", "\u2764\ufe0f.md", "日本 語", "\u{1f600}"]
  ) {
    assertEquals(visible(name), name);
  }
});

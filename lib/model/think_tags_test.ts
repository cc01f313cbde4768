import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Said, ThinkTags } from "./think_tags.ts";
import { rounds } from "../../tests/support/rounds.ts";

function split(pieces: readonly string[]): Said[] {
  const tags = new ThinkTags();
  const said = [...pieces.flatMap((piece) => tags.push(piece)), ...tags.end()];
  const out: Said[] = [];
  for (const { type, text } of said) {
    const previous = out.at(-1);
    if (previous?.type === type) previous.text += text;
    else out.push({ type, text });
  }
  return out;
}

const text = (text: string): Said => ({ type: "text", text });
const reasoning = (text: string): Said => ({ type: "reasoning", text });

const CASES: [string, Said[]][] = [
  ["", []],
  ["hello", [text("hello")]],
  ["<think>why</think>because", [reasoning("why"), text("because")]],
  ["<thought>why</thought>because", [reasoning("why"), text("because")]],
  ["\n<think>\nwhy\n</think>\n\nbecause", [reasoning("why\n"), text("because")]],
  ["one <think>two</think> three", [text("one "), reasoning("two"), text(" three")]],
  ["<think>never closed", [reasoning("never closed")]],
  ["<think>a</thought>b</think>c", [reasoning("a</thought>b"), text("c")]],
  ["<think>\n\n</think>\n\nno reasons", [text("no reasons")]],
  ["<think>a</think><think>b</think>c", [reasoning("ab"), text("c")]],
  ["a < b and <b>bold</b> </think>", [text("a < b and <b>bold</b> </think>")]],
  ["<thin", [text("<thin")]],
  ["<think", [text("<think")]],
  ["<think>a</thi", [reasoning("a</thi")]],
  ["<<think>a</think>", [text("<"), reasoning("a")]],
  ["the tag `<think>` opens it", [text("the tag `<think>` opens it")]],
  ['the tag "<think>" opens it', [text('the tag "<think>" opens it')]],
  ["  two spaces kept", [text("  two spaces kept")]],
  ["  ", [text("  ")]],
  ["<think>a</think>  ", [reasoning("a")]],
];

Deno.test("ThinkTags.push() takes reasoning out of the text", () => {
  for (const [whole, expected] of CASES) assertEquals(split([whole]), expected, whole);
});

Deno.test("ThinkTags.push() gives the same for every way of cutting the text", () => {
  for (const [whole, expected] of CASES) {
    assertEquals(split([...whole]), expected, whole);
    for (let at = 1; at < whole.length; at++) {
      assertEquals(split([whole.slice(0, at), whole.slice(at)]), expected, `${whole} at ${at}`);
    }
  }
});

Deno.test("ThinkTags.push() gives the same for any text cut in any way", () => {
  const token = fc.constantFrom(
    "<think>",
    "</think>",
    "<thought>",
    "</thought>",
    "<",
    "</",
    "think>",
    " ",
    "\n",
    "`",
    "word",
    "é𝄞",
  );
  fc.assert(
    fc.property(
      fc.array(token, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 }),
      (tokens, sizes) => {
        const whole = tokens.join("");
        const pieces: string[] = [];
        for (let at = 0, index = 0; at < whole.length; index++) {
          const size = sizes[index % sizes.length]!;
          pieces.push(whole.slice(at, at + size));
          at += size;
        }
        assertEquals(split(pieces), split([whole]));
      },
    ),
    { numRuns: rounds(2_000) },
  );
});

Deno.test("ThinkTags.push() loses nothing but tags and white space", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (before, after) => {
    const clean = (value: string) => value.replace(/[<\s]/g, "");
    const said = split([`${clean(before)} <think>${clean(after)}</think>${clean(after)}`]);
    const all = said.map(({ text }) => text).join("").replace(/\s/g, "");
    const kept = /[`'"]$/.test(clean(before));
    if (!kept) assertEquals(all, clean(before) + clean(after) + clean(after));
  }));
});

Deno.test("ThinkTags.push() holds nothing back that cannot become a tag", () => {
  const tags = new ThinkTags();
  assertEquals(tags.push("a <"), [text("a ")]);
  assertEquals(tags.push("b"), [text("<b")]);
  assertEquals(tags.push("x <thi"), [text("x ")]);
  assertEquals(tags.push("s"), [text("<this")]);
  assertEquals(tags.push("<think>now"), [reasoning("now")]);
  assertEquals(tags.push("</b"), [reasoning("</b")]);
});

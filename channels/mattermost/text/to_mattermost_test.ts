import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { toMattermost, toPosts } from "./to_mattermost.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const GOLDEN = new URL("./golden/", import.meta.url);

for (const { name } of [...Deno.readDirSync(GOLDEN)].filter(({ name }) => name.endsWith(".md"))) {
  Deno.test(`toMattermost() gives what golden/${name} is on Mattermost`, async () => {
    const markdown = await Deno.readTextFile(new URL(name, GOLDEN));
    const expected = await Deno.readTextFile(new URL(name.replace(/md$/, "txt"), GOLDEN));
    assertEquals(toMattermost(markdown), expected);
  });
}

/** Pieces that a text is made of which somebody wants to call everybody with. */
const PIECES = [
  ...["@channel", "@all", "@here", "@HERE", "`", "``", "```", "~~~", "\n", "\n\n", " ", "\\"],
  ...["> ", "- ", "    ", "| ", "|", "![x](y)", "x", "é", "👩‍👩‍👧‍👦", "\ud800", "\0", "\r"],
];
const hostile = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 80 }).map((pieces) => pieces.join("")),
);

Deno.test("toPosts() never throws, and gives parts that fit, whatever stands in a text", () => {
  fc.assert(fc.property(hostile, fc.integer({ min: 30, max: 200 }), (text, max) => {
    for (const part of toPosts(text, max)) {
      assert([...part].length <= max);
      assert(part.isWellFormed() && part.trim() !== "");
      // A part is a post of its own.
      assertEquals(toMattermost(part), part);
    }
  }));
});

Deno.test("toMattermost() changes nothing but the calls, pictures and characters that it takes out", () => {
  const plain = (text: string) =>
    text.toWellFormed().replace(/\r\n?/g, "\n")
      // deno-lint-ignore no-control-regex -- these are what is left out
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, "")
      .replaceAll("\u200B", "").replaceAll("![", "[");
  fc.assert(fc.property(hostile, (text) => {
    assertEquals(plain(toMattermost(text)), plain(text));
  }));
});

Deno.test("toMattermost() leaves no call outside of code, as CommonMark has it", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = toMattermost(text);
      const isLeft = withoutCode(shown).match(
        /(?<![\p{L}\p{N}])@(channel|all|here)(?![\p{L}\p{N}])/iu,
      );
      assertEquals(isLeft, null, JSON.stringify(shown));
    }),
    { numRuns: rounds(2_000) },
  );
});

/**
 * What is no code in any reading: fences that stand at the beginning of a line and are closed, and spans
 * that are whole in a paragraph of nothing else. Written apart from what is tested.
 */
function withoutCode(text: string): string {
  const kept: string[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, fence] = /^(`{3,}(?=[^`]*$)|~{3,}(?=[^`]*$))/.exec(lines[at]!) ?? [];
    const end = fence === undefined
      ? -1
      : lines.findIndex((line, index) =>
        index > at && line.trim().length >= fence.length && /^ {0,3}\S/.test(line) &&
        [...line.trim()].every((mark) => mark === fence[0])
      );
    if (end === -1) kept.push(lines[at]!);
    else {
      kept.push("");
      at = end;
    }
  }
  return kept.join("\n").split(/\n[ \t]*\n/).map((paragraph) => {
    // Left to right: a run of ticks opens a span where another of its length follows.
    let rest = paragraph;
    let out = "";
    for (let run; (run = /`+/.exec(rest)) !== null;) {
      const ticks = run[0];
      out += rest.slice(0, run.index);
      rest = rest.slice(run.index + ticks.length);
      const close = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(rest);
      if (close !== null) rest = rest.slice(close.index + ticks.length);
    }
    return out + rest;
  }).join("\n\n");
}

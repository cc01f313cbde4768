import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { fingerprintsOf } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { KeptOutput } from "./kept_output.ts";

const encoder = new TextEncoder();

function keep(maxBytes: number, chunks: readonly Uint8Array[]): string {
  const output = new KeptOutput(maxBytes);
  for (const chunk of chunks) output.push(chunk);
  return output.text();
}

Deno.test("KeptOutput gives back all that fits, however it is cut into chunks", () => {
  fc.assert(fc.property(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.array(fc.nat(20), { maxLength: 30 }),
    (text, sizes) => {
      const bytes = encoder.encode(text);
      const chunks: Uint8Array[] = [];
      let at = 0;
      for (const size of [...sizes, bytes.length]) {
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      assertEquals(keep(2_000, chunks), text);
    },
  ));
});

Deno.test("KeptOutput keeps head and tail of more, within its bound, and states the cut", () => {
  fc.assert(fc.property(
    fc.integer({ min: 200, max: 500 }),
    fc.array(fc.uint8Array({ maxLength: 900 }), { minLength: 1, maxLength: 8 }),
    (maxBytes, chunks) => {
      const total = chunks.reduce((sum, { length }) => sum + length, 0);
      const text = keep(maxBytes, chunks);
      assert(encoder.encode(text).length <= maxBytes);
      if (total > maxBytes) assertMatch(text, /\[… \d+ of \d+ bytes cut …\]/);
    },
  ));
});

Deno.test("KeptOutput counts what is missing to the byte", () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`).join("");
  const text = keep(600, [encoder.encode(lines)]);
  assert(text.startsWith("line 0\nline 1\n"));
  assert(text.endsWith("line 998\nline 999\n"));
  const [note, missing, total] = /\n\[… (\d+) of (\d+) bytes cut …\]\n/.exec(text)!;
  assertEquals(Number(total), lines.length);
  assertEquals(text.length - note.length, lines.length - Number(missing));
});

Deno.test("KeptOutput makes bytes that are no text readable, and splits no character", () => {
  assertEquals(keep(300, [new Uint8Array([0x61, 0xff, 0xc3]), new Uint8Array([0xa4])]), "a\ufffdä");
  const text = keep(300, [encoder.encode("€".repeat(1_000))]);
  assertStringIncludes(text, "bytes cut");
  assertEquals(text.replace(/\n\[.*\]\n/, "").replaceAll("€", ""), "");
});

Deno.test("KeptOutput shows no part of a secret that a cut goes through, wherever it is", () => {
  const secret = "sk-live-0123456789abcdefghijklmnopqrstuv";
  const scrubber = createScrubber(fingerprintsOf({ name: "KEY", value: secret }));
  const parts = (length: number) =>
    Array.from({ length: secret.length - length }, (_, at) => secret.slice(at, at + length));
  for (const size of [610, 660, 1_000, 9_000]) {
    for (let at = 0; at <= size; at += size > 1_000 ? 13 : 1) {
      const output = new KeptOutput(600, scrubber);
      const text = ".".repeat(at) + secret + ".".repeat(size - at);
      for (const piece of text.match(/.{1,37}/g)!) output.push(encoder.encode(piece));
      const shown = output.text();
      for (const part of parts(8)) assert(!shown.includes(part), `${size} ${at}: ${shown}`);
      assert(/\d bytes cut/.test(shown) || shown.includes("[secret KEY]"));
      assert(shown.length <= 620);
    }
  }
});

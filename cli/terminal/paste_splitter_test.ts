import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { PasteSplitter } from "./paste_splitter.ts";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";

/** Keys as they are, pastes in angle brackets. */
function split(...chunks: string[]): string {
  const pastes = new PasteSplitter();
  return chunks.flatMap((chunk) => pastes.take(chunk))
    .map(({ text, isPasted }) => isPasted ? `<${text}>` : text).join("");
}

Deno.test("PasteSplitter tells pastes from keys", () => {
  assertEquals(split(`ab\r${BEGIN}1\n2\r\n3${END}c\r`), "ab\r<1\n2\r\n3>c\r");
  assertEquals(split(`${BEGIN}${END}a`), "a");
});

Deno.test("PasteSplitter gives a lone escape and other keys on at once", () => {
  assertEquals(split("\x1b"), "\x1b");
  assertEquals(split("\x1b["), "\x1b[");
  assertEquals(split("\x1b[A\x03"), "\x1b[A\x03");
});

Deno.test("PasteSplitter gives the same whatever way the paste is cut into chunks", () => {
  const pasted = fc.array(fc.constantFrom("a", "\n", "\x1b", "[", "2", "é")).map((all) =>
    all.join("")
  );
  fc.assert(fc.property(pasted, fc.array(fc.nat(40)), (text, cuts) => {
    const whole = `x${BEGIN}${text}${END}y`;
    const places = [...new Set(cuts)].filter((at) => at > 1 + BEGIN.length && at < whole.length)
      .toSorted((a, b) => a - b);
    const chunks = [0, ...places].map((at, index) => whole.slice(at, places[index]));
    assertEquals(split(...chunks), split(whole));
  }));
});

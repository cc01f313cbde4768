import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { LINE_MARK, PasteFilter } from "./paste_filter.ts";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";

function filter(...chunks: string[]): string {
  const paste = new PasteFilter();
  return chunks.map((chunk) => paste.filter(chunk)).join("");
}

Deno.test("PasteFilter keeps keys and marks the line ends of a paste", () => {
  assertEquals(
    filter(`ab\r${BEGIN}1\n2\r\n3\r4${END}c\r`),
    `ab\r1${LINE_MARK}2${LINE_MARK}3${LINE_MARK}4c\r`,
  );
});

Deno.test("PasteFilter gives a lone escape and other keys on at once", () => {
  assertEquals(filter("\x1b"), "\x1b");
  assertEquals(filter("\x1b["), "\x1b[");
  assertEquals(filter("\x1b[A\x03"), "\x1b[A\x03");
});

Deno.test("PasteFilter lets no key through inside a paste", () => {
  assertEquals(filter(`${BEGIN}a\x03\x04b\tc\x1b[Ad${END}`), "ab  c[Ad");
});

Deno.test("PasteFilter gives the same whatever way the paste is cut into chunks", () => {
  const pasted = fc.array(fc.constantFrom("a", "\n", "\x1b", "[", "2", "é")).map((all) =>
    all.join("")
  );
  fc.assert(fc.property(pasted, fc.array(fc.nat(40)), (text, cuts) => {
    const whole = `x${BEGIN}${text}${END}y`;
    const places = [...new Set(cuts)].filter((at) => at > 1 + BEGIN.length && at < whole.length)
      .toSorted((a, b) => a - b);
    const chunks = [0, ...places].map((at, index) => whole.slice(at, places[index]));
    assertEquals(filter(...chunks), filter(whole));
  }));
});

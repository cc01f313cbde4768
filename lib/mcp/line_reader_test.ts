import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { LineReader } from "./line_reader.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("LineReader gives the same lines however they are cut", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  fc.assert(fc.property(fc.array(line), fc.integer({ min: 1, max: 7 }), (lines, size) => {
    const whole = bytes(lines.map((text) => `${text}\n`).join(""));
    const reader = new LineReader(10_000);
    const found: string[] = [];
    for (let at = 0; at < whole.length; at += size) {
      found.push(...reader.push(whole.subarray(at, at + size)));
    }
    assertEquals(found, lines);
  }));
});

Deno.test("LineReader throws for a line that is too long, whole or in pieces", () => {
  assertThrows(() => [...new LineReader(3).push(bytes("abcd\n"))], RangeError);
  const reader = new LineReader(3);
  assertEquals([...reader.push(bytes("abc\nab"))], ["abc"]);
  assertThrows(() => [...reader.push(bytes("cd"))], RangeError);
});

Deno.test("LineReader takes the ends of lines that Windows writes", () => {
  assertEquals([...new LineReader(9).push(bytes("a\r\nb\r\n"))], ["a", "b"]);
});

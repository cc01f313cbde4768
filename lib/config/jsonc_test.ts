import { assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  type JsonNode,
  JsonSyntaxError,
  MAX_DEPTH,
  membersOf,
  parseJsonc,
  positionOf,
  toValue,
} from "./jsonc.ts";
import { rounds } from "../../tests/support/rounds.ts";

Deno.test("parseJsonc() reads everything that JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2, "\t"), (text, indent) => {
      const value = JSON.parse(text);
      fc.pre(!text.includes("__proto__"));
      assertEquals(toValue(parseJsonc(JSON.stringify(value, null, indent))), value);
    }),
  );
});

Deno.test("parseJsonc() knows where each value stands when there are comments", () => {
  const text = `// first\n{ "a": /* here */ 12, // last\n  "b": [true, "x\\n",],\n}\n`;
  const node = parseJsonc(text);
  assertEquals(toValue(node), { a: 12, b: [true, "x\n"] });
  const [a, b] = membersOf(node);
  const written = ({ offset, length }: JsonNode) => text.slice(offset, offset + length);
  assertEquals(written(a!.key), '"a"');
  assertEquals(written(a!.value), "12");
  assertEquals(written(b!.value), '[true, "x\\n",]');
});

const BROKEN: [text: string, message: string, line: number, column: number][] = [
  ["", "the file is empty; an empty object is {}", 1, 1],
  ["{\n  'a': 1 }", `expected a key in double quotes or "}", found "'"`, 2, 3],
  ['{ "a" 1 }', 'expected ":" after "a", found "1"', 1, 7],
  ['{ "a": 1\n  "b": 2 }', 'expected "," or "}", found "\\""', 2, 3],
  ['{ "a": [1, 2 }', 'expected "," or "]", found "}"', 1, 14],
  ['{ "a": yes }', 'expected a value, found "y"', 1, 8],
  ['{ "a": }', 'expected a value, found "}"', 1, 8],
  ['{ "a": 01 }', 'expected "," or "}", found "1"', 1, 9],
  ['{ "a": 1', 'expected "," or "}", found the end of the file', 1, 9],
  ['{ "a": 1 } x', 'expected the end of the file, found "x"', 1, 12],
  ['{ "a": "b\n" }', "this text is not closed on its line, or holds an unknown escape", 1, 8],
  ['{ "a": "\\q" }', "this text is not closed on its line, or holds an unknown escape", 1, 8],
  ["{ /* }", "this comment is not closed", 1, 3],
  ['{ "a": 1,\r\n"a": 2 }', 'the key "a" stands twice in this object', 2, 1],
  ['{ "__proto__": {} }', 'the key "__proto__" is not accepted', 1, 3],
  ['{ "\\u005f_proto__": {} }', 'the key "__proto__" is not accepted', 1, 3],
];

for (const [text, message, line, column] of BROKEN) {
  Deno.test(`parseJsonc() says line and column of ${JSON.stringify(text)}`, () => {
    const error = assertThrows(() => parseJsonc(text), JsonSyntaxError);
    assertEquals(error.message, message);
    assertEquals(error.position, { line, column });
  });
}

Deno.test("parseJsonc() refuses deep nesting without a stack overflow", () => {
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  parseJsonc(deep(MAX_DEPTH));
  assertThrows(() => parseJsonc(deep(100_000)), JsonSyntaxError, "levels of nesting");
});

Deno.test("parseJsonc() ends with a value or a JsonSyntaxError for any text", () => {
  const pieces = fc.array(
    fc.constantFrom("{", "}", "[", "]", ":", ",", '"', "a", "1", "-", "//", "/*", "*/", "\n", "\\"),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      try {
        parseJsonc(parts.join(""));
      } catch (error) {
        assertInstanceOf(error, JsonSyntaxError);
      }
    }),
  );
});

Deno.test("parseJsonc() accepts what JSON.parse accepts, for any text", () => {
  const unit = fc.constantFrom(...'{}[]:,"\\/0123.eE+-tfnu \n');
  fc.assert(
    // Too short for a key that stands twice.
    fc.property(fc.string({ unit, maxLength: 10 }), (text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return;
      }
      assertEquals(toValue(parseJsonc(text)), value);
    }),
    { numRuns: rounds(2_000) },
  );
});

Deno.test("positionOf() counts each kind of line end once", () => {
  assertEquals(positionOf("a\nb\r\nc\rd", 7), { line: 4, column: 1 });
});

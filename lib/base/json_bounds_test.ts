import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "./errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, requireJsonBounds } from "./json_bounds.ts";

function isRefused(text: string): boolean {
  try {
    requireJsonBounds(text);
    return false;
  } catch (error) {
    assertEquals((error as ServiceError).code, "invalid_request");
    return true;
  }
}

Deno.test("requireJsonBounds() takes exactly the levels and refuses one more", () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"], ['[{"a":[', "]}]"]] as const) {
    const levels = open.length - open.replace(/[[{]/g, "").length;
    const most = Math.floor(MAX_JSON_DEPTH / levels);
    const nested = (times: number) => open.repeat(times) + "1" + close.repeat(times);
    assertEquals(isRefused(nested(most)), false);
    assertEquals(isRefused(nested(most + 1)), true);
  }
  // Beside each other is not inside each other.
  assertEquals(isRefused(`[${Array(1_000).fill("[[]]").join(",")}]`), false);
});

Deno.test("requireJsonBounds() takes about the values and refuses more, whatever they are", () => {
  for (const value of ["0", "[]", "{}", '""', '{"a":1}', "null"]) {
    const list = (count: number) => `[${Array(count).fill(value).join(",")}]`;
    assertEquals(isRefused(list(MAX_JSON_VALUES / 4)), false);
    assertEquals(isRefused(list(MAX_JSON_VALUES)), true);
  }
});

Deno.test("requireJsonBounds() counts nothing inside strings", () => {
  const inside = '[{,"\\\\\\"'.repeat(MAX_JSON_VALUES);
  assertEquals(isRefused(JSON.stringify([inside, inside])), false);
  fc.assert(fc.property(fc.string(), fc.integer({ min: 0, max: 5 }), (text, slashes) => {
    const tricky = text + "\\".repeat(slashes) + '"';
    const deep = "[".repeat(MAX_JSON_DEPTH) + JSON.stringify(tricky) + "]".repeat(MAX_JSON_DEPTH);
    assertEquals(isRefused(deep), false);
    assertEquals(isRefused(`[${deep}]`), true);
  }));
});

Deno.test("requireJsonBounds() lets pass what JSON.parse refuses", () => {
  for (const text of ["", '"', '"\\', '"\\"', "]]]]", "{", "nonsense"]) {
    assertEquals(isRefused(text), false);
    assertThrows(() => JSON.parse(text), SyntaxError);
  }
});

Deno.test("requireJsonBounds() never refuses what is small", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
    assertEquals(isRefused(JSON.stringify(value)), false);
  }));
});

Deno.test("requireJsonBounds() is quick where a parser would fill the memory", () => {
  const text = "[".repeat(90 * 1024 * 1024);
  assertThrows(() => requireJsonBounds(text), ServiceError, "levels");
  assertThrows(
    () => requireJsonBounds(`[${"0,".repeat(40 * 1024 * 1024)}`),
    ServiceError,
    "values",
  );
});

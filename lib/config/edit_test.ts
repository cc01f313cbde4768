import { assertEquals, assertThrows } from "@std/assert";
import { withValue } from "./edit.ts";

Deno.test("withValue() sets, makes sections on the way, and keeps the order", () => {
  const before = { a: { x: 1, y: 2 }, b: 3 };
  const after = withValue(before, ["a", "x"], 9);
  assertEquals(JSON.stringify(after), '{"a":{"x":9,"y":2},"b":3}');
  assertEquals(withValue(before, ["c", "d", "e"], [1]), { ...before, c: { d: { e: [1] } } });
  assertEquals(before.a.x, 1);
});

Deno.test("withValue() takes a key out, and makes nothing for one that is not there", () => {
  assertEquals(withValue({ a: { x: 1 }, b: 2 }, ["a", "x"], undefined), { a: {}, b: 2 });
  assertEquals(withValue({ b: 2 }, ["a", "x"], undefined), { b: 2 });
  assertEquals(withValue({ l: [1, 2, 3] }, ["l", 1], undefined), { l: [1, 3] });
});

Deno.test("withValue() changes an item of a list, and adds none", () => {
  assertEquals(withValue({ l: [1, { a: 2 }] }, ["l", 1, "a"], 3), { l: [1, { a: 3 }] });
  assertThrows(() => withValue({ l: [1] }, ["l", 1], 3), TypeError, "no list with an item 1");
});

Deno.test("withValue() refuses a path through a value", () => {
  assertThrows(() => withValue({ a: "text" }, ["a", "b"], 1), TypeError, 'no section for "b"');
  assertThrows(() => withValue({ a: [] }, ["a", "b"], 1), TypeError, 'no section for "b"');
});

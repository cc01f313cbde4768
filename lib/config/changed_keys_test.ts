import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { changedKeys } from "./changed_keys.ts";
import { withValue } from "./edit.ts";
import { formatPath, valueAt } from "../base/key_path.ts";
import { sameJson } from "./rewrite.ts";

const changed = (before: unknown, after: unknown) => changedKeys(before, after).map(formatPath);

Deno.test("changedKeys() names the innermost values that differ, of sections that come or go too", () => {
  assertEquals(changed({ a: { b: 1, c: [1] } }, { a: { b: 1, c: [2] } }), ["a.c"]);
  assertEquals(changed({}, { a: { b: { c: 1 }, d: "" } }), ["a.b.c", "a.d"]);
  assertEquals(changed({ a: { b: 1 } }, {}), ["a.b"]);
  assertEquals(changed({ a: 1 }, { a: { b: 1 } }), ["a"]);
  assertEquals(changed({ a: { b: 1 } }, { a: 1 }), ["a"]);
  assertEquals(changed({ a: { b: 1 } }, { a: {} }), ["a.b"]);
  assertEquals(changed({}, { a: {} }), ["a"]);
  assertEquals(changed({ a: null }, { a: undefined }), ["a"]);
  assertEquals(changed({ a: 1, b: 2 }, { b: 2, a: 1 }), []);
});

Deno.test("changedKeys() is all that it takes to make one value of the other", () => {
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.integer({ min: 0, max: 2 }),
      fc.constantFrom("", "x"),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("node"), { maxKeys: 3 }),
    ),
  })).node;
  const root = fc.dictionary(fc.constantFrom("a", "b", "c"), value, { maxKeys: 3 });
  fc.assert(fc.property(root, root, (before, after) => {
    const paths = changedKeys(before, after);
    assertEquals(paths.length === 0, sameJson(before, after));
    let made: unknown = before;
    for (const path of paths) made = withValue(made, path, valueAt(after, path));
    for (const path of changedKeys(made, after)) {
      // Only sections without a key may be left over or missing.
      const left = [valueAt(made, path), valueAt(after, path)];
      assertEquals(left.every((each) => each === undefined || sameJson(each, {})), true);
    }
  }));
});

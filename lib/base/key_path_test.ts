import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { formatPath, isWithin, parsePath, valueAt } from "./key_path.ts";

Deno.test("formatPath() quotes what is not a plain name", () => {
  assertEquals(
    formatPath(["providers", "my-own", "headers", "X.Y", "a", 0]),
    'providers.my-own.headers["X.Y"].a[0]',
  );
});

Deno.test("parsePath() is the opposite of formatPath()", () => {
  const segment = fc.oneof(fc.string().filter((text) => text !== "__proto__"), fc.nat());
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1 }), (path) => {
      assertEquals(parsePath(formatPath(path)), path);
    }),
  );
});

for (const text of ["", ".", "a.", "a..b", ".a", "a[", "a[x]", 'a["b]', "a b", "__proto__.x"]) {
  Deno.test(`parsePath() does not take ${JSON.stringify(text)} for a path`, () => {
    assertEquals(parsePath(text), undefined);
  });
}

Deno.test("valueAt() finds own values only", () => {
  assertEquals(valueAt({ a: [{ b: 1 }] }, ["a", 0, "b"]), 1);
  assertEquals(valueAt({ a: 1 }, ["a", "b"]), undefined);
  assertEquals(valueAt({}, ["constructor"]), undefined);
});

Deno.test("isWithin() does not confuse a name with the beginning of another", () => {
  assertEquals(isWithin(["api", "host"], ["api"]), true);
  assertEquals(isWithin(["apis"], ["api"]), false);
  assertEquals(isWithin(["api"], ["api", "host"]), false);
});

import { assertEquals, assertLessOrEqual } from "@std/assert";
import * as fc from "fast-check";
import { editDistance, nearest } from "./nearest.ts";

Deno.test("editDistance() counts insertions, deletions, changes and swaps", () => {
  assertEquals(editDistance("", ""), 0);
  assertEquals(editDistance("", "abc"), 3);
  assertEquals(editDistance("kitten", "sitting"), 3);
  assertEquals(editDistance("vesrion", "version"), 1);
  assertEquals(editDistance("agnet", "agent"), 1);
});

Deno.test("editDistance() is a distance", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(fc.property(word, word, (a, b) => {
    assertEquals(editDistance(a, b), editDistance(b, a));
    assertEquals(editDistance(a, b) === 0, a === b);
    assertLessOrEqual(editDistance(a, b), Math.max(a.length, b.length));
  }));
});

Deno.test("nearest() finds what was meant, and nothing when nothing is near", () => {
  const names = ["agent", "serve", "sessions", "config", "completions"];
  assertEquals(nearest("agnet", names), "agent");
  assertEquals(nearest("Sesions", names), "sessions");
  assertEquals(nearest("comp", names), "completions");
  assertEquals(nearest("frobnicate", names), undefined);
  assertEquals(nearest("", names), undefined);
  assertEquals(nearest("x".repeat(10_000), names), undefined);
});

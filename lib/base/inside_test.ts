import { assertEquals } from "@std/assert";
import { isInside } from "./inside.ts";

Deno.test("isInside() compares whole names", () => {
  assertEquals(isInside("/a/b", "/a", "/"), true);
  assertEquals(isInside("/a", "/a", "/"), true);
  assertEquals(isInside("/ab", "/a", "/"), false);
  assertEquals(isInside("/a\\b", "/a", "/"), false);
  assertEquals(isInside("/a", "/", "/"), true);
});

Deno.test("isInside() takes both separators on Windows", () => {
  assertEquals(isInside("C:\\a\\b", "C:/a", "\\"), true);
  assertEquals(isInside("C:/a/b", "C:\\a", "\\"), true);
  assertEquals(isInside("C:\\ab", "C:/a", "\\"), false);
  assertEquals(isInside("C:\\a", "C:\\", "\\"), true);
});

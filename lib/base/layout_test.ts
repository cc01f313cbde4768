import { assertEquals } from "@std/assert";
import { pathOf } from "./layout.ts";

Deno.test("pathOf() spells the path of a URL as the system does", () => {
  assertEquals(pathOf(new URL("file:///a%20b/c,d/"), "linux"), "/a b/c,d/");
  assertEquals(pathOf(new URL("file:///C:/a%20b/c"), "windows"), "C:\\a b\\c");
});

import { assertEquals } from "@std/assert";
import { fullKey } from "./full_key.ts";

Deno.test("fullKey() takes a name alone for a session of the command line", () => {
  assertEquals(fullKey("default"), "cli:default");
  assertEquals(fullKey("api:default"), "api:default");
});

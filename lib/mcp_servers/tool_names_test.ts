import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { toolNames } from "./tool_names.ts";
import { anyString } from "../../tests/support/any_string.ts";

Deno.test("toolNames() keeps a name that fits", () => {
  assertEquals(toolNames("files", ["read_file", "get-env"]), [
    "mcp__files__read_file",
    "mcp__files__get-env",
  ]);
});

Deno.test("toolNames() gives a name that fits to others, the same whatever stands beside them", () => {
  const long = "x".repeat(100);
  const [dotted, spaced, cut] = toolNames("s", ["a.b", "a b", long]);
  assertNotEquals(dotted, spaced);
  assertEquals(toolNames("s", [long, "a.b"]), [cut, dotted]);
  assertEquals(cut!.length, 64);
});

Deno.test("toolNames() lets no tool take the name of another by being called like it", () => {
  const [mangled] = toolNames("s", ["a.b"]);
  const own = mangled!.slice("mcp__s__".length);
  const [second, first] = toolNames("s", ["a.b", own]);
  assertEquals(first, mangled);
  assertNotEquals(second, mangled);
});

Deno.test("toolNames() makes names within the bounds, no two alike, for any names", () => {
  const servers = fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/);
  const tools = fc.uniqueArray(anyString({ minLength: 1, maxLength: 130 }), {
    maxLength: 40,
  });
  fc.assert(fc.property(servers, tools, (server, tools) => {
    const names = toolNames(server, tools);
    assert(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)));
    assert(names.every((name) => name.startsWith(`mcp__${server}__`)));
    assertEquals(new Set(names).size, tools.length);
  }));
});

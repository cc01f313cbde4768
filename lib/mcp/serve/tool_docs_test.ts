import { assertEquals } from "@std/assert";
import { withToolTable } from "./tool_docs.ts";

Deno.test("docs/mcp-server.md has every tool; deno task generate writes them anew", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/mcp-server.md", import.meta.url));
  assertEquals(page, withToolTable(page));
});

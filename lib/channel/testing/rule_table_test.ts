import { assertEquals, assertThrows } from "@std/assert";
import { withRuleTable } from "./rule_table.ts";

Deno.test("the rules of docs/channels.md are those of the kit; deno task generate writes them anew", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/channels.md", import.meta.url));
  assertEquals(page, withRuleTable(page));
});

Deno.test("withRuleTable() says which marks a page lacks", () => {
  assertThrows(() => withRuleTable("# Channels\n"), Error, "<!-- rules: written by");
});

import { assertEquals } from "@std/assert";
import { COMMANDS } from "./commands.ts";
import { cliPage } from "./generate_docs.ts";

Deno.test("docs/cli.md is what the tables of the commands say; deno task generate writes it anew", async () => {
  const page = await Deno.readTextFile(new URL("../docs/cli.md", import.meta.url));
  assertEquals(page, await cliPage(COMMANDS));
});

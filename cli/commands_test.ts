import { assertEquals, assertMatch } from "@std/assert";
import { COMMANDS } from "./commands.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

Deno.test("COMMANDS has a row for each file of cli/commands, and no other", async () => {
  const files: string[] = [];
  for await (const { name } of Deno.readDir(new URL("commands/", import.meta.url))) {
    if (name.endsWith(".ts") && !name.endsWith("_test.ts")) files.push(name.replace(/\.ts$/, ""));
  }
  assertEquals(COMMANDS.map(({ name }) => name).toSorted(), files.toSorted());
});

for (const { name, summary, load } of COMMANDS) {
  Deno.test(`COMMANDS: ${name} describes itself in a way that parsing and completion can use`, async () => {
    const { default: command } = await load();
    assertMatch(summary, /^[A-Z].*[^.]$/);
    assertMatch(command.description, /\.$/);
    for (const example of command.examples) assertMatch(example, new RegExp(`service ${name}\\b`));
    const options = [...command.options, ...GLOBAL_OPTIONS];
    const spellings = options.flatMap(({ name, alias }) => [name, alias ?? []].flat());
    assertEquals(
      new Set(spellings).size,
      spellings.length,
      `an option is there twice: ${spellings}`,
    );
    for (const { name, alias, value } of options) {
      assertMatch(name, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      assertMatch(alias ?? "x", /^[a-zA-Z]$/);
      assertMatch(value ?? "X", /^[A-Z_]+$/);
    }
    for (const { name } of command.subcommands ?? []) assertMatch(name, /^[a-z][a-z-]*$/);
  });
}

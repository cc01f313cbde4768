import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../lib/base/errors.ts";
import { COMMANDS } from "./commands.ts";
import {
  commandOptions,
  findSubcommand,
  GLOBAL_OPTIONS,
  parseCommand,
  parseHead,
} from "./parse.ts";

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
    const options = [...commandOptions(command), ...GLOBAL_OPTIONS];
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
    for (const { name, summary, options = [] } of command.subcommands ?? []) {
      assertMatch(name, /^[a-z][a-z-]*$/);
      assertMatch(summary, /^[A-Z].*[^.]$/);
      assertEquals(findSubcommand(name, command.subcommands!)?.name, name);
      // A line is read before it is known which subcommand it has: the same name is the same option.
      for (const { name, alias, value, repeatable } of options) {
        const read = commandOptions(command).find((each) => each.name === name)!;
        assertEquals([read.alias, read.value, read.repeatable], [alias, value, repeatable]);
      }
    }
    for (const { summary } of options) assertMatch(summary, /[^.]$/);
    const { defaultSubcommand, subcommands = [] } = command;
    if (defaultSubcommand !== undefined) findSubcommand(defaultSubcommand, subcommands)!.name;
  });

  Deno.test(`COMMANDS: each subcommand of ${name} refuses the options of others`, async () => {
    const { default: command } = await load();
    for (const { name: subcommand, options: own = [] } of command.subcommands ?? []) {
      const taken = [...own, ...command.options].map((option) => option.name);
      for (const { name: option, value } of commandOptions(command)) {
        if (taken.includes(option)) continue;
        const line = [name, subcommand, value === undefined ? `--${option}` : `--${option}=1`];
        const error = assertThrows(
          () => parseCommand(name, command, parseHead(line)),
          ServiceError,
        );
        assertEquals([error.code, error.details.param], ["usage", option]);
        assertStringIncludes(error.message, `service ${name} ${subcommand} takes no --${option}`);
      }
    }
  });
}

Deno.test("COMMANDS: rm takes away what a command of that name can", async () => {
  const found: Record<string, string | undefined> = {};
  for (const { name, load } of COMMANDS) {
    const { default: { subcommands = [] } } = await load();
    if (subcommands.length > 1) found[name] = findSubcommand("rm", subcommands)?.name;
  }
  assertEquals(
    Object.fromEntries(Object.entries(found).filter(([, rm]) => rm !== undefined)),
    {
      sessions: "delete",
      config: "unset",
      projects: "forget",
      secrets: "rm",
      mcp: "remove",
      automations: "delete",
      outbox: "drop",
      blocks: "clear",
      grants: "rm",
      tokens: "revoke",
    },
  );
});

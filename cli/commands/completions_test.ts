import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { COMMANDS } from "../commands.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import completions from "./completions.ts";

const GLOBALS = { lastGood: false, json: false, verbose: false };

Deno.test("completions.run() prints the script of each shell, with every command", async () => {
  for (
    const [shell, first] of [
      ["bash", /^# bash completion/],
      ["zsh", /^#compdef service\n/],
      ["fish", /^# fish completion/],
    ] as const
  ) {
    const { out, stdout } = memoryOutput();
    const invocation = { subcommand: shell, args: [], options: {}, globals: GLOBALS, out };
    assertEquals(await completions.run(invocation), 0);
    assertMatch(stdout.text, first);
    for (const { name } of COMMANDS) assertMatch(stdout.text, new RegExp(`\\b${name}\\b`), shell);
  }
});

Deno.test("completions.run() asks which shell", async () => {
  const { out } = memoryOutput();
  const error = await assertRejects(
    () => completions.run({ args: [], options: {}, globals: GLOBALS, out }),
    ServiceError,
    "bash, zsh, fish",
  );
  assertEquals(error.code, "usage");
});

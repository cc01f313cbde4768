import { assertEquals, assertLessOrEqual } from "@std/assert";
import type { CommandEntry } from "./commands.ts";
import { commandHelp, type HelpLine, overview } from "./help.ts";

function text(lines: HelpLine[]): string {
  return lines.map((line) => line.map((span) => typeof span === "string" ? span : span.text))
    .map((spans) => spans.join("") + "\n").join("");
}

Deno.test("overview() lists the commands and the options of all of them", () => {
  const commands = [
    { name: "agent", summary: "Ask" },
    { name: "sessions", summary: "List" },
  ] as CommandEntry[];
  assertEquals(
    text(overview(commands)),
    `A self-hosted agent: in the terminal, over HTTP, in your chats.

Usage: service <command> [options]

Commands:
  agent     Ask
  sessions  List

Options of every command:
      --config PATH  Configuration file
      --last-good    Start from the last configuration that loaded
      --json         Print JSON
      --verbose      Say more on standard error
  -h, --help         Show help
      --version      Print the version

More about a command: service <command> --help
`,
  );
});

Deno.test("commandHelp() shows arguments, subcommands, options and examples", () => {
  const help = text(commandHelp("things", {
    description: "Words ".repeat(30).trim(),
    examples: ["service things list"],
    subcommands: [{ name: "list", summary: "All" }, { name: "show", args: "KEY", summary: "One" }],
    options: [
      { name: "file", alias: "f", value: "PATH", repeatable: true, summary: "A file" },
      { name: "all", summary: "Everything" },
    ],
  }));
  const [head, ...rest] = help.split("\n\nUsage:");
  for (const line of head!.split("\n")) assertLessOrEqual(line.length, 80);
  assertEquals(
    "Usage:" + rest.join(""),
    `Usage: service things <subcommand> [options]

Subcommands:
  list      All
  show KEY  One

Options:
  -f, --file PATH  A file (repeatable)
      --all        Everything

Options of every command:
      --config PATH  Configuration file
      --last-good    Start from the last configuration that loaded
      --json         Print JSON
      --verbose      Say more on standard error
  -h, --help         Show help
      --version      Print the version

Examples:
  service things list
`,
  );
});

import { assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import type { CommandEntry } from "./commands.ts";
import type { Command } from "./command.ts";
import { commandHelp, type HelpLine, overview, subcommandHelp } from "./help.ts";

function text(lines: HelpLine[]): string {
  return lines.map((line) => line.map((span) => typeof span === "string" ? span : span.text))
    .map((spans) => spans.join("") + "\n").join("");
}

Deno.test("overview() lists the commands in groups, and the global options", () => {
  const commands = [
    { name: "agent", group: "Chat", summary: "Ask" },
    { name: "secrets", group: "Set up", summary: "Store" },
    { name: "sessions", group: "Chat", summary: "List" },
  ] as CommandEntry[];
  assertEquals(
    text(overview(commands)),
    `A self-hosted agent: in the terminal, over HTTP, in your chats.

Usage: service <command> [options]

Chat:
  agent     Ask
  sessions  List

Set up:
  secrets   Store

Global options:
      --config PATH  Configuration file
      --last-good    Start from the last configuration that loaded
      --json         Print JSON
      --verbose      Print more details on standard error
  -h, --help         Show help
  -V, --version      Print the version

More about a command: service <command> --help
`,
  );
});

const THINGS: Omit<Command, "run"> = {
  description: "Words ".repeat(30).trim(),
  examples: ["service things list", "service things show a --file b"],
  defaultSubcommand: "list",
  subcommands: [
    { name: "list", summary: "All" },
    {
      name: "show",
      args: "KEY",
      summary: "One",
      options: [
        { name: "file", alias: "f", value: "PATH", repeatable: true, summary: "A file" },
      ],
    },
  ],
  options: [{ name: "all", summary: "Everything" }],
};

const GLOBAL = `Global options:
      --config PATH  Configuration file
      --last-good    Start from the last configuration that loaded
      --json         Print JSON
      --verbose      Print more details on standard error
  -h, --help         Show help
  -V, --version      Print the version
`;

Deno.test("commandHelp() shows arguments, subcommands, options and examples", () => {
  const [head, ...rest] = text(commandHelp("things", THINGS)).split("\n\nUsage:");
  for (const line of head!.split("\n")) assertLessOrEqual(line.length, 80);
  assertEquals(
    "Usage:" + rest.join(""),
    `Usage: service things [subcommand] [options]

Subcommands:
  list      All (default)
  show KEY  One

Options:
      --all  Everything

${GLOBAL}
Examples:
  service things list
  service things show a --file b

Options of a subcommand: service things <subcommand> --help
`,
  );
});

Deno.test("subcommandHelp() shows that subcommand's arguments, options and examples alone", () => {
  assertEquals(
    text(subcommandHelp("things", THINGS, "show")),
    `One.

Usage: service things show KEY [options]

Options:
  -f, --file PATH  A file (repeatable)
      --all        Everything

${GLOBAL}
Examples:
  service things show a --file b

More: service things --help
`,
  );
});

Deno.test("help fits a terminal of 40 and of 20 columns", () => {
  const entry = { name: "things", group: "Chat", summary: "Words ".repeat(9).trim() };
  const { examples: _, ...things } = THINGS;
  for (const width of [40, 20]) {
    for (
      const lines of [
        overview([entry as CommandEntry], width),
        commandHelp("things", { ...things, examples: [] }, width),
        subcommandHelp("things", { ...things, examples: [] }, "show", width),
      ]
    ) {
      for (const line of text(lines).split("\n")) {
        assertLessOrEqual(line.length, Math.max(width, 24), line);
      }
      if (width === 40) assertStringIncludes(text(lines), "  -h, --help");
    }
  }
});

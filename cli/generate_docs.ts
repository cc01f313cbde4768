/**
 * Writes `docs/cli.md` from the tables of the commands: `deno task generate`.
 *
 * @module
 */

import { markdownTable } from "../lib/base/markdown_table.ts";
import { type Command, EXIT, type OptionSpec } from "./command.ts";
import { type CommandEntry, COMMANDS, GROUPS } from "./commands.ts";
import { optionRow } from "./help.ts";
import { commandOptions, GLOBAL_OPTIONS } from "./parse.ts";
import { wrapText } from "./wrap_text.ts";

const PAGE = new URL("../docs/cli.md", import.meta.url);

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "Done",
  failed: "Failed",
  usage: "Invalid command line",
  config: "Invalid configuration; of `service status`: not running",
  provider: "The model provider failed",
  refused: "An action was refused",
  interrupted: "Interrupted",
};

/** The page as `deno fmt` would have it. */
export async function cliPage(commands: readonly CommandEntry[]): Promise<string> {
  const exits = Object.entries(EXIT_MEANINGS)
    .map(([name, meaning]) => [`${EXIT[name as keyof typeof EXIT]}`, meaning]);
  const sections = [
    "# Command line\n",
    paragraph("Written by `deno task generate` from the tables in `cli/commands/`."),
    markdownTable([["Global option", "Description"], ...GLOBAL_OPTIONS.map(optionCells)]),
    markdownTable([["Exit code", "Meaning"], ...exits]),
  ];
  for (const group of GROUPS) {
    sections.push(`## ${group}\n`);
    for (const entry of commands.filter((each) => each.group === group)) {
      sections.push(...commandSections(entry, (await entry.load()).default));
    }
  }
  return sections.join("\n");
}

function commandSections({ name, aliases = [] }: CommandEntry, command: Command): string[] {
  const { args, description, subcommands = [], defaultSubcommand, examples } = command;
  const also = aliases.length === 0 ? "" : ` Also: \`service ${aliases.join("`, `service ")}\`.`;
  const rows = subcommands.map((each) => [
    `\`${each.args === undefined ? each.name : `${each.name} ${each.args}`}\``,
    each.name === defaultSubcommand ? `${plain(each.summary)} (default)` : plain(each.summary),
  ]);
  return [
    `### service ${name}${args === undefined ? "" : ` ${plain(args)}`}\n`,
    paragraph(plain(description) + also),
    ...rows.length === 0 ? [] : [markdownTable([["Subcommand", "Description"], ...rows])],
    ...optionTable(command),
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\`\n`,
  ];
}

/** Options with their subcommands, each once; one that two subcommands describe differently, twice. */
function optionTable(command: Command): string[] {
  const { options, subcommands = [] } = command;
  const keyOf = (option: OptionSpec) => JSON.stringify(optionCells(option));
  const owned = new Map<string, string[]>(options.map((option) => [keyOf(option), []]));
  for (const { name, options = [] } of subcommands) {
    for (const key of options.map(keyOf)) owned.set(key, [...owned.get(key) ?? [], name]);
  }
  if (owned.size === 0) return [];
  const isShared = commandOptions(command).length === options.length;
  const rows = [...owned].map(([key, owners]) => {
    const [left, right] = JSON.parse(key);
    return isShared ? [left, right] : [left, owners.join(", ") || "all", right];
  });
  const head = isShared ? ["Option", "Description"] : ["Option", "Subcommand", "Description"];
  return [markdownTable([head, ...rows])];
}

function optionCells(option: OptionSpec): string[] {
  const [left, right] = optionRow(option);
  return [`\`${left.trim()}\``, plain(right)];
}

/** Text that Markdown shows as it is; an underscore within a word means nothing to it. */
function plain(text: string): string {
  return text.replace(/[\\`*<>|[\]]|(?<!\w)_|_(?!\w)/g, "\\$&");
}

function paragraph(text: string): string {
  return wrapText(text, 100).join("\n") + "\n";
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await cliPage(COMMANDS));

/**
 * Help texts, made from the tables.
 *
 * @module
 */

import type { Command, OptionSpec } from "./command.ts";
import { type CommandEntry, GROUPS } from "./commands.ts";
import { displayWidth } from "./display_width.ts";
import type { Span } from "./output.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";
import { wrapText } from "./wrap_text.ts";

/** A line of help. */
export type HelpLine = (string | Span)[];

/** Columns that a summary needs to be read beside its name; with fewer it stands below. */
const READABLE = 24;

/** What `service --help` prints, in lines of at most so many columns. */
export function overview(commands: readonly CommandEntry[], width = 80): HelpLine[] {
  const widest = Math.max(...commands.map(({ name }) => name.length));
  return [
    ...paragraph("A self-hosted agent: in the terminal, over HTTP, in your chats.", width),
    ...usage("service <command> [options]", width),
    ...GROUPS.flatMap((group) => {
      const rows = commands.filter((each) => each.group === group);
      return section(group, rows.map(({ name, summary }) => [name.padEnd(widest), summary]), width);
    }),
    ...section("Global options", GLOBAL_OPTIONS.map(optionRow), width),
    [],
    ...paragraph("More about a command: service <command> --help", width),
  ];
}

/** What `service <name> --help` prints. */
export function commandHelp(
  name: string,
  command: Omit<Command, "run">,
  width = 80,
): HelpLine[] {
  const { args, description, examples, subcommands = [], defaultSubcommand } = command;
  const words = ["service", name];
  if (subcommands.length > 0) {
    words.push(defaultSubcommand === undefined ? "<subcommand>" : "[subcommand]");
  }
  if (args !== undefined) words.push(args);
  const rows = subcommands.map((each): [string, string] => [
    each.args === undefined ? each.name : `${each.name} ${each.args}`,
    each.name === defaultSubcommand ? `${each.summary} (default)` : each.summary,
  ]);
  return [
    ...paragraph(description, width),
    ...usage(`${words.join(" ")} [options]`, width),
    ...section("Subcommands", rows, width),
    ...section("Options", command.options.map(optionRow), width),
    ...section("Global options", GLOBAL_OPTIONS.map(optionRow), width),
    ...exampleLines(examples),
    ...subcommands.length === 0
      ? []
      : [[], ...paragraph(`Options of a subcommand: service ${name} <subcommand> --help`, width)],
  ];
}

/** What `service <name> <subcommand> --help` prints: its own arguments and options alone. */
export function subcommandHelp(
  name: string,
  { options, subcommands = [], examples }: Omit<Command, "run">,
  subcommand: string,
  width = 80,
): HelpLine[] {
  const { args, summary, options: own = [] } = subcommands.find((each) =>
    each.name === subcommand
  )!;
  const line = `service ${name} ${subcommand}`;
  return [
    ...paragraph(`${summary}.`, width),
    ...usage(`${args === undefined ? line : `${line} ${args}`} [options]`, width),
    ...section("Options", [...own, ...options].map(optionRow), width),
    ...section("Global options", GLOBAL_OPTIONS.map(optionRow), width),
    ...exampleLines(examples.filter((example) => `${example} `.includes(`${line} `))),
    [],
    ...paragraph(`More: service ${name} --help`, width),
  ];
}

/** An option as help and the reference page show it. */
export function optionRow({ name, alias, value, repeatable, summary }: OptionSpec): [
  string,
  string,
] {
  return [
    `${alias === undefined ? "    " : `-${alias}, `}--${name}` +
    (value === undefined ? "" : ` ${value}`),
    repeatable ? `${summary} (repeatable)` : summary,
  ];
}

function usage(line: string, width: number): HelpLine[] {
  const [first, ...rest] = wrapText(`Usage: ${line}`, width);
  return [
    [],
    [{ text: "Usage:", style: "bold" }, first!.slice("Usage:".length)],
    ...rest.map((
      each,
    ) => [each]),
  ];
}

function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  width: number,
): HelpLine[] {
  if (rows.length === 0) return [];
  const left = Math.max(...rows.map(([name]) => displayWidth(name)));
  const indent = left + 4;
  const below = width - indent < READABLE;
  return [
    [],
    [{ text: `${title}:`, style: "bold" }],
    ...rows.flatMap(([name, summary]): HelpLine[] => {
      if (below) return [[`  ${name.trimEnd()}`], ...indented(summary, 6, width)];
      const [first, ...rest] = indented(summary, indent, width);
      return [[`  ${name.padEnd(left)}  ${first!.join("").trimStart()}`], ...rest];
    }),
  ];
}

function exampleLines(examples: readonly string[]): HelpLine[] {
  if (examples.length === 0) return [];
  return [[], [{ text: "Examples:", style: "bold" }], ...examples.map((line) => [`  ${line}`])];
}

function indented(text: string, indent: number, width: number): string[][] {
  return wrapText(text, Math.max(10, width - indent)).map((line) => [" ".repeat(indent) + line]);
}

function paragraph(text: string, width: number): HelpLine[] {
  return wrapText(text, width).map((line) => [line]);
}

/**
 * Help texts, made from the tables.
 *
 * @module
 */

import type { Command, OptionSpec } from "./command.ts";
import type { CommandEntry } from "./commands.ts";
import type { Span } from "./output.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

/** A line of help. */
export type HelpLine = (string | Span)[];

/** What `service --help` says. */
export function overview(commands: readonly CommandEntry[]): HelpLine[] {
  return [
    ["A self-hosted agent: in the terminal, over HTTP, in your chats."],
    [],
    [heading("Usage:"), " service <command> [options]"],
    [],
    [heading("Commands:")],
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    [],
    [heading("Options of every command:")],
    ...optionLines(GLOBAL_OPTIONS),
    [],
    ["More about a command: service <command> --help"],
  ];
}

/** What `service <name> --help` says. */
export function commandHelp(
  name: string,
  { args, description, examples, options, subcommands }: Omit<Command, "run">,
): HelpLine[] {
  const usage = ["service", name];
  if (subcommands !== undefined) usage.push("<subcommand>");
  if (args !== undefined) usage.push(args);
  usage.push("[options]");
  const lines: HelpLine[] = [...wrap(description, 80), [], [
    heading("Usage:"),
    " " + usage.join(" "),
  ]];
  if (subcommands !== undefined) {
    lines.push([], [heading("Subcommands:")]);
    lines.push(...columns(subcommands.map((each) => [
      each.args === undefined ? each.name : `${each.name} ${each.args}`,
      each.summary,
    ])));
  }
  if (options.length > 0) lines.push([], [heading("Options:")], ...optionLines(options));
  lines.push([], [heading("Options of every command:")], ...optionLines(GLOBAL_OPTIONS));
  if (examples.length > 0) {
    lines.push([], [heading("Examples:")], ...examples.map((line) => [`  ${line}`]));
  }
  return lines;
}

function heading(text: string): Span {
  return { text, style: "bold" };
}

function optionLines(options: readonly OptionSpec[]): HelpLine[] {
  return columns(options.map(({ name, alias, value, repeatable, summary }) => [
    `${alias === undefined ? "    " : `-${alias}, `}--${name}` +
    (value === undefined ? "" : ` ${value}`),
    repeatable ? `${summary} (repeatable)` : summary,
  ]));
}

function columns(rows: readonly (readonly [string, string])[]): HelpLine[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => [`  ${left.padEnd(width)}  ${right}`]);
}

function wrap(text: string, width: number): HelpLine[] {
  const lines: HelpLine[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push([line]);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, [line]];
}

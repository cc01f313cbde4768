/**
 * The completion script for fish 3 and later.
 *
 * @module
 */

import type { OptionSpec } from "../command.ts";
import { GLOBAL_OPTIONS } from "../parse.ts";
import { type ShellCommand, takesPath } from "./shell_tables.ts";

/** The script: one `complete` line for each word. */
export function fishScript(commands: readonly ShellCommand[]): string {
  const none = "__fish_use_subcommand";
  return [
    "# fish completion for service; put it into ~/.config/fish/completions/service.fish",
    "complete -c service -f",
    ...commands.map(({ name, summary }) => word(none, name, summary)),
    ...GLOBAL_OPTIONS.map((option) => optionLine(option)),
    ...commands.flatMap(branch),
    "",
  ].join("\n");
}

function branch({ name, subcommands, shared }: ShellCommand): string[] {
  const inside = `__fish_seen_subcommand_from ${name}`;
  const names = subcommands.map((each) => each.name).join(" ");
  return [
    ...subcommands.map((each) =>
      word(`${inside}; and not __fish_seen_subcommand_from ${names}`, each.name, each.summary)
    ),
    ...shared.map((option) => optionLine(option, inside)),
    ...subcommands.flatMap(({ name, options = [] }) =>
      options.map((option) =>
        optionLine(option, `${inside}; and __fish_seen_subcommand_from ${name}`)
      )
    ),
  ];
}

function word(condition: string, name: string, summary: string): string {
  return `complete -c service -n ${quote(condition)} -a ${name} -d ${quote(summary)}`;
}

function optionLine(option: OptionSpec, condition?: string): string {
  const { name, alias, value, summary } = option;
  return [
    "complete -c service",
    ...(condition === undefined ? [] : [`-n ${quote(condition)}`]),
    ...(alias === undefined ? [] : [`-s ${alias}`]),
    `-l ${name}`,
    // -r: needs a value; -F: which is a file; -x: which is not.
    ...(value === undefined ? [] : [takesPath(option) ? "-r -F" : "-x"]),
    `-d ${quote(summary)}`,
  ].join(" ");
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

/**
 * What a completion script needs, gathered from the tables of the commands.
 *
 * @module
 */

import type { OptionSpec, SubcommandSpec } from "../command.ts";
import type { CommandEntry } from "../commands.ts";
import { commandOptions, GLOBAL_OPTIONS } from "../parse.ts";

/** A command as a shell completes it. */
export interface ShellCommand {
  name: string;
  summary: string;
  /** Each with its own options alone. */
  subcommands: readonly SubcommandSpec[];
  /** Its options that every subcommand takes. */
  shared: readonly OptionSpec[];
  /** Its options and those of its subcommands, then the global ones. */
  options: readonly OptionSpec[];
}

/** Loads every command and gathers its options. */
export async function loadShellCommands(
  commands: readonly CommandEntry[],
): Promise<ShellCommand[]> {
  return await Promise.all(commands.map(async ({ name, summary, load }) => {
    const { default: command } = await load();
    return {
      name,
      summary,
      subcommands: command.subcommands ?? [],
      shared: command.options,
      options: [...commandOptions(command), ...GLOBAL_OPTIONS],
    };
  }));
}

/** Whether the option's value is a path, which a shell can complete. */
export function takesPath({ value }: OptionSpec): boolean {
  return value !== undefined && /PATH|FILE|DIR|FOLDER/.test(value);
}

/** `--name`, and `-n` if it has a letter. */
export function spellings({ name, alias }: OptionSpec): string[] {
  return alias === undefined ? [`--${name}`] : [`--${name}`, `-${alias}`];
}

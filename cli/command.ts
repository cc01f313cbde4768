/**
 * What a command is. The table in `commands.ts` names them all and loads one; each lives in
 * `commands/<name>.ts` and exports its {@linkcode Command} as default.
 *
 * @module
 */

import type { Output } from "./output.ts";

/** Exit codes. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  config: 3,
  provider: 4,
  refused: 5,
  interrupted: 130,
} as const;

/** One of {@linkcode EXIT}. */
export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** An option of a command: one table drives parsing, help and completions. */
export interface OptionSpec {
  /** Long name without dashes, kebab-case. */
  name: string;
  /** One letter. */
  alias?: string;
  /** Without one it is a flag. In the help: `--file PATH`. */
  value?: string;
  repeatable?: boolean;
  summary: string;
}

/** A part of a command, such as `config get`. */
export interface SubcommandSpec {
  name: string;
  /** Positional arguments as in the help, such as `KEY VALUE`. */
  args?: string;
  summary: string;
  /** Its own options, beside those of the command: no other subcommand takes them. */
  options?: readonly OptionSpec[];
}

/** What the user typed, parsed. */
export interface Invocation {
  /** The subcommand, if the command has some and one was given or is the default. */
  subcommand?: string;
  /** Positional arguments after it. */
  args: string[];
  /** By long name: true for a flag, text, or texts for a repeatable one. */
  options: Record<string, string | boolean | string[] | undefined>;
  globals: Globals;
  out: Output;
}

/** Options that every command has. */
export interface Globals {
  /** `--config`. */
  config?: string;
  /** `--last-good`: start from the last configuration that loaded. */
  lastGood: boolean;
  json: boolean;
  verbose: boolean;
}

/** A command. `run` throws a ServiceError, which becomes a message and an exit code. */
export interface Command {
  /** Positional arguments as in the help. */
  args?: string;
  /** A paragraph for `-h`. */
  description: string;
  /** Lines for `-h`, each a command line to try. */
  examples: readonly string[];
  /** Options of every subcommand, or of a command without any. */
  options: readonly OptionSpec[];
  subcommands?: readonly SubcommandSpec[];
  /** The subcommand that runs when none is given. */
  defaultSubcommand?: string;
  /**
   * Where a value is to be given instead: somebody may type a secret where none belongs, so what is
   * wrong on the line is not repeated.
   */
  hidesTyped?: string;
  run(invocation: Invocation): Promise<ExitCode>;
}

/**
 * The program: a thin start that loads no more than the command at hand needs.
 *
 * @module
 */

import { COMMANDS } from "./commands.ts";
import { dispatch } from "./dispatch.ts";
import { processOutput } from "./output.ts";

/** Runs a command line of this program and resolves with its exit code. */
export function main(args: readonly string[]): Promise<number> {
  return dispatch(args, { commands: COMMANDS, out: processOutput() });
}

if (import.meta.main) Deno.exit(await main(Deno.args));

/**
 * The program: a thin start that loads no more than the command at hand needs.
 *
 * @module
 */

import { CHILD_ARGUMENT } from "../lib/executor/command.ts";
import { COMMANDS } from "./commands.ts";
import { dispatch } from "./dispatch.ts";
import { processOutput, TYPED_AS } from "./output.ts";

/** Runs a command line of this program and resolves with its exit code. */
export function main(args: readonly string[]): Promise<number> {
  return dispatch(args, { commands: COMMANDS, out: processOutput() });
}

if (import.meta.main) {
  if (Deno.args[0] === CHILD_ARGUMENT) {
    // The compiled binary starts itself to run one action of a tool.
    const { runAsChild } = await import("../lib/executor/child.ts");
    await runAsChild();
  }
  if (Deno.build.standalone) await sayTypedAs();
  Deno.exit(await main(Deno.args));
}

/** Other installations have a launcher, which has said it. */
async function sayTypedAs(): Promise<void> {
  if (Deno.env.get(TYPED_AS) !== undefined) return;
  const [{ fileTypedAs }, { isProgram }] = await Promise.all([
    import("./installation/typed_as.ts"),
    import("../lib/base/is_program.ts"),
  ]);
  const typed = fileTypedAs(Deno.execPath(), {
    env: (name) => Deno.env.get(name),
    isProgram,
    realPath: Deno.realPathSync,
    os: Deno.build.os,
  });
  Deno.env.set(TYPED_AS, typed);
}

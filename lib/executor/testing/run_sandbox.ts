/**
 * Runs bubblewrap with what `commandSandbox()` gives, as the executor does; for tests.
 *
 * @module
 */

import { programPath } from "../../../tests/support/needs.ts";
import type { CommandSandbox } from "../command_sandbox.ts";
import { closeInherited } from "../inherited.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "../seccomp_filter.ts";

/** How a sandbox ended. */
export interface SandboxRun {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs it to its end, with an empty environment. */
export async function runSandbox(
  { open, args }: Pick<CommandSandbox, "open" | "args">,
): Promise<SandboxRun> {
  const folder = await Deno.makeTempDir();
  try {
    const filter = await writeSeccompFilter(folder);
    const shell = [
      "/bin/sh",
      "-c",
      open + EXEC_FILTERED,
      filter,
      programPath("bubblewrap"),
      ...args,
    ];
    const [program, ...rest] = [...await closeInherited(), ...shell];
    const { code, stdout, stderr } = await new Deno.Command(program!, {
      args: rest,
      clearEnv: true,
    }).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

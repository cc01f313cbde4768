/**
 * What GET /ready says of the processes that actions run in.
 *
 * @module
 */

import type { Commands } from "../executor/commands.ts";
import type { Executor } from "../executor/executor.ts";

/** One finding for GET /ready. */
export interface Check {
  ok: boolean;
  detail: string;
}

/** With `test` the sandbox of commands is tried out, else nothing is started and it says so. */
export async function checkChildren(
  { executor, commands }: {
    executor: Pick<Executor, "status">;
    commands: Pick<Commands, "mode">;
  },
  { test }: { test: boolean },
): Promise<Record<string, Check>> {
  const { confined, reason } = await executor.status();
  const detail = confined
    ? `children run in bubblewrap (${reason})`
    : `children run without a sandbox: ${reason}`;
  const sandbox = { ok: true, detail };
  const untried = { ok: true, detail: "the sandbox of commands has not been tried out yet" };
  return { sandbox, commands: test ? await checkCommands(commands) : untried };
}

/** Off is a safe state, and so no reason to call the service unready. */
async function checkCommands(commands: Pick<Commands, "mode">): Promise<Check> {
  const how = await commands.mode();
  switch (how.mode) {
    case "sandboxed":
      return { ok: true, detail: "commands run in a sandbox that was tried out" };
    case "unconfined":
      return { ok: true, detail: `warning: commands run WITHOUT a sandbox: ${how.reason}` };
    case "off":
      return { ok: true, detail: `commands are off: ${how.reason}` };
  }
}

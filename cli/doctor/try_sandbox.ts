/**
 * Tries out the sandbox of commands in this process, apart from any service that runs.
 *
 * @module
 */

import { createCommands } from "../../lib/executor/commands.ts";
import type { SandboxReport } from "../../lib/executor/test_sandbox.ts";
import type { Config } from "../../lib/config/schema.ts";

/** What the sandbox shows; nothing of it is left. */
export async function trySandbox(
  { agent, executor }: Pick<Config, "agent" | "executor">,
): Promise<SandboxReport> {
  const scratchDir = await Deno.realPath(await Deno.makeTempDir());
  const silent = () => {};
  const commands = createCommands({
    config: executor,
    workspace: await Deno.realPath(agent.workspace).catch(() => agent.workspace),
    own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
    scratchDir,
    onTested: () => Promise.resolve(),
    log: { debug: silent, info: silent, warning: silent, error: silent },
  });
  try {
    return await commands.report();
  } finally {
    await commands.shutdown();
    await Deno.remove(scratchDir, { recursive: true });
  }
}

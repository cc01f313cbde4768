/**
 * Takes a home for this process: its folders, its lock, and the folder that the agent works in.
 *
 * @module
 */

import type { HomePaths } from "../config/paths.ts";
import { makePrivateDir } from "../config/private_dir.ts";
import { ServiceError } from "../errors.ts";
import { acquireHome } from "./home_lock.ts";

/** The lock of a home whose folders are there. Throws `config_invalid` when it cannot be used. */
export async function takeHome(paths: HomePaths): ReturnType<typeof acquireHome> {
  try {
    await makeFolders(paths);
    return await acquireHome(paths);
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError(
      "config_invalid",
      `Cannot use the home "${paths.home}" (SERVICE_HOME): ${reason}; ` +
        "expected a folder that this user can write",
      { param: "SERVICE_HOME" },
      { cause },
    );
  }
}

async function makeFolders(paths: HomePaths): Promise<void> {
  await Deno.mkdir(paths.home, { recursive: true, mode: 0o700 });
  const { dataDir, auditDir, keysDir, runDir, socketDir } = paths;
  for (const dir of new Set([dataDir, auditDir, keysDir, runDir, socketDir])) {
    await makePrivateDir(dir);
  }
}

/** Makes the workspace; its real path. Throws `config_invalid` when it cannot be there. */
export async function makeWorkspace(path: string): Promise<string> {
  try {
    await Deno.mkdir(path, { recursive: true });
    return await Deno.realPath(path);
  } catch (cause) {
    throw new ServiceError(
      "config_invalid",
      `agent.workspace: cannot make the folder "${path}"`,
      { param: "agent.workspace" },
      { cause },
    );
  }
}

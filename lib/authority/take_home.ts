/**
 * Takes a home for this process: its folders, its lock, and the folder that the agent works in.
 *
 * @module
 */

import type { HomePaths } from "../config/paths.ts";
import { makePrivateDir } from "../base/private_dir.ts";
import { ServiceError } from "../base/errors.ts";
import { isInside } from "../base/inside.ts";
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
    // Names the folder that may not be looked into, before something in it is missed.
    for await (const _ of Deno.readDir(dir)) break;
  }
}

/**
 * Makes the workspace; its real path. A new one is for its owner alone, and so is every one that lies in
 * the home. Throws `config_invalid` when it cannot be there.
 */
export async function makeWorkspace(path: string, home: string): Promise<string> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    const real = await Deno.realPath(path);
    if (isInside(real, await Deno.realPath(home))) await closeToOthers(real);
    return real;
  } catch (cause) {
    throw new ServiceError(
      "config_invalid",
      `agent.workspace: cannot make the folder "${path}"`,
      { param: "agent.workspace" },
      { cause },
    );
  }
}

async function closeToOthers(folder: string): Promise<void> {
  const { mode, uid } = await Deno.lstat(folder);
  const isOpen = Deno.build.os !== "windows" && ((mode ?? 0) & 0o077) !== 0;
  if (isOpen && uid === Deno.uid()) await Deno.chmod(folder, 0o700);
}

/**
 * Whether the home is free or its service answers, and what a process that ended left behind.
 *
 * @module
 */

import type { HomePaths } from "../../lib/config/paths.ts";
import type { Finding } from "./check.ts";

/** Tries the lock and the socket; leaves both as they are. */
export async function checkLock(
  { lockFile, socket, runDir }: Pick<HomePaths, "lockFile" | "socket" | "runDir">,
  isRunning: boolean,
): Promise<Finding> {
  const heldBy = await holderOf(lockFile);
  if (heldBy !== undefined) {
    return isRunning ? { status: "ok", detail: `held by process ${heldBy}` } : {
      status: "fail",
      detail: `process ${heldBy} holds the lock of this home, but doesn't answer`,
      fix: `Wait for it to start or end, or end it: kill ${heldBy}`,
    };
  }
  const left = await Deno.lstat(socket).catch(() => undefined);
  if (left === undefined) return { status: "ok", detail: "the home is free" };
  if (!left.isSocket) {
    return {
      status: "fail",
      detail: `${socket} is in the way: expected a socket or nothing`,
      fix: `Move it away: mv '${socket}' '${socket}.old'`,
    };
  }
  return {
    status: "warn",
    detail: `${socket} was left by a service that ended; the next start removes it`,
    fix: "Remove it with: service doctor --fix",
    async repair() {
      const { acquireHome } = await import("../../lib/authority/home_lock.ts");
      const lock = await acquireHome({ runDir, lockFile });
      // A service came in between, and the socket is its own.
      if ("heldBy" in lock) return undefined;
      try {
        await Deno.remove(socket);
      } finally {
        lock.release();
      }
      return `Removed ${socket}`;
    },
  };
}

/** The process that holds a lock, `?` where the file doesn't say; undefined for a lock that is free. */
async function holderOf(lockFile: string): Promise<string | undefined> {
  const file = await Deno.open(lockFile, { read: true, write: true }).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  const { lockHolder, unlock } = await import("../../lib/authority/home_lock.ts");
  if (await file.tryLock(true)) {
    unlock(file);
    return undefined;
  }
  file.close();
  return String(await lockHolder(lockFile) ?? "?");
}

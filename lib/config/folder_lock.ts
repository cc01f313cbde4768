/**
 * Keeps other processes of this program from replacing a file while one of them looks at it and then
 * replaces it.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

const WAIT_MS = 5_000;

/**
 * Runs work under a lock on a folder, which leaves no file behind and is free when its holder dies. On
 * a system that locks no folders the work just runs. Rejects with `overloaded` when the lock cannot be
 * had.
 */
export async function withFolderLock<T>(dir: string, work: () => Promise<T>): Promise<T> {
  if (Deno.build.os === "windows") return await work();
  using folder = await Deno.open(dir);
  const giveUpAt = performance.now() + WAIT_MS;
  for (let delayMs = 1; !await tryLock(folder); delayMs = Math.min(delayMs * 2, 25)) {
    if (performance.now() > giveUpAt) {
      throw new ServiceError("overloaded", `Another process has held "${dir}" for 5 s`);
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  return await work();
}

/** Some file systems know no locks; there the check before the replacement is all there is. */
async function tryLock(folder: Deno.FsFile): Promise<boolean> {
  try {
    return await folder.tryLock(true);
  } catch {
    return true;
  }
}

/**
 * One process owns a home at a time. The lock is the operating system's on
 * `run/lock`, so that it is free the moment its holder dies, however it dies.
 *
 * @module
 */

/** A home that is ours until `release`, or until the process ends. */
export interface HomeLock {
  release(): void;
}

/**
 * Takes the home, or says which process has it. The number in the file is for messages only.
 * Makes the folder, mode 0700.
 */
export async function acquireHome(
  { runDir, lockFile }: { runDir: string; lockFile: string },
): Promise<HomeLock | { heldBy: number | undefined }> {
  await Deno.mkdir(runDir, { recursive: true, mode: 0o700 });
  const file = await Deno.open(lockFile, { read: true, write: true, create: true, mode: 0o600 });
  if (!await file.tryLock(true)) {
    file.close();
    return { heldBy: await lockHolder(lockFile) };
  }
  await file.truncate();
  await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
  return {
    release: () => unlock(file),
  };
}

/** Gives a lock back, and closes its file. */
export function unlock(file: Deno.FsFile): void {
  // A child that is just being started has the file too, and would keep the lock beyond the close. Windows
  // gives it back with the close.
  if (Deno.build.os !== "windows") file.unlockSync();
  file.close();
}

/** The process that wrote itself into a lock. Undefined where none did; Windows lets nobody read a held one. */
export async function lockHolder(lockFile: string): Promise<number | undefined> {
  const text = await Deno.readTextFile(lockFile).catch(() => "");
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) ? pid : undefined;
}

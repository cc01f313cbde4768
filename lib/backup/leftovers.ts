/**
 * Temporary files of backups. Each is locked by the process that writes it, so that the next backup
 * tells what a killed one left from what is being written now.
 *
 * @module
 */

/** Makes a file of mode 0600 that isn't there yet, and locks it. Removes the leftovers of others. */
export function openTemporary(path: string): { file: Deno.FsFile; temporary: string } {
  const slash = path.lastIndexOf("/");
  const folder = path.slice(0, slash) || "/";
  const name = path.slice(slash + 1);
  for (const entry of [...Deno.readDirSync(folder)]) {
    const rest = entry.name.startsWith(`${name}.`) ? entry.name.slice(name.length) : "";
    if (entry.isFile && /^\.[0-9a-f]{8}\.tmp$/.test(rest)) {
      removeUnlocked(`${folder}/${entry.name}`, `${folder}/${entry.name}`);
    }
  }
  const temporary = `${path}.${randomHex()}.tmp`;
  const file = Deno.openSync(temporary, { read: true, write: true, createNew: true, mode: 0o600 });
  file.tryLockSync(true);
  return { file, temporary };
}

/** Makes a folder `<prefix><hex>` that is removed in the end. Removes the leftovers of others. */
export function openTemporaryFolder(parent: string, prefix: string): Disposable & { path: string } {
  for (const { name, isDirectory } of [...Deno.readDirSync(parent)]) {
    const isOurs = name.startsWith(prefix) && /^[0-9a-f]{8}$/.test(name.slice(prefix.length));
    if (isDirectory && isOurs) removeUnlocked(`${parent}/${name}`, `${parent}/${name}/lock`);
  }
  const path = `${parent}/${prefix}${randomHex()}`;
  Deno.mkdirSync(path, { mode: 0o700 });
  const lock = Deno.openSync(`${path}/lock`, { write: true, createNew: true, mode: 0o600 });
  lock.tryLockSync(true);
  return {
    path,
    [Symbol.dispose]() {
      lock.close();
      Deno.removeSync(path, { recursive: true });
    },
  };
}

function removeUnlocked(path: string, lockFile: string): void {
  try {
    using lock = Deno.openSync(lockFile, { write: true, create: lockFile !== path });
    if (lock.tryLockSync(true)) Deno.removeSync(path, { recursive: true });
  } catch {
    // Another user's, or just gone: it isn't in the way.
  }
}

function randomHex(): string {
  return crypto.randomUUID().slice(0, 8);
}

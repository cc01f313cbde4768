/**
 * Backups by age and size: those in a folder that are named after their time, and the copies that a
 * migration keeps.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Removable, RetentionStore } from "../contract/retention.ts";

/** As `service backup` names a file when it is told none. */
const BACKUP_NAME = /^service-backup-\d{8}T\d{6}Z\.tar\.gz$/;

/** A database as it was before a migration. */
const COPY_NAME = /(^|\/)[^/]+\.(db|sqlite)\.v\d+$/;

/** Where they are. */
export interface StoredBackupsOptions {
  /** Absolute; empty: no folder. */
  folder: () => string;
  /** Folder of the databases, beside which copies are kept. */
  dataDir: string;
}

/** The newest backup of the folder is never listed. `name` is a path. */
export function storedBackups({ folder, dataDir }: StoredBackupsOptions): RetentionStore {
  const all = async () => {
    const found = [...await backupsIn(folder()), ...await copiesIn(dataDir)];
    return found.sort((a, b) => a.at - b.at);
  };
  return {
    async usedBytes() {
      return (await all()).reduce((sum, { bytes }) => sum + bytes, 0);
    },
    async page() {
      const found = await all();
      const newest = found.findLast(({ name }) => !COPY_NAME.test(name));
      return { items: found.filter((each) => each !== newest) };
    },
    async remove(items) {
      const there = new Map((await all()).map((each) => [each.name, each]));
      const removed: Removable[] = [];
      for (const item of items) {
        if (there.get(item.name)?.at !== item.at) continue;
        await Deno.remove(item.name);
        removed.push(item);
      }
      return removed;
    },
  };
}

/** Files that only have such a name are left alone. */
async function backupsIn(folder: string): Promise<Removable[]> {
  if (folder === "") return [];
  const { readHead } = await import("./read_archive.ts");
  const found: Removable[] = [];
  for (const { name, isFile } of await entriesOf(folder)) {
    const path = `${folder}/${name}`;
    if (!isFile || !BACKUP_NAME.test(name)) continue;
    const head = await readHead(path).catch(() => undefined);
    if (head === undefined) continue;
    const { size: bytes } = await Deno.stat(path);
    found.push({ name: path, bytes, at: Date.parse(head.createdAt) });
  }
  return found;
}

/** Of the databases of the journal and of the channels: `<file>.v<version>`. */
async function copiesIn(dataDir: string): Promise<Removable[]> {
  const folders = [dataDir];
  const channels = await entriesOf(`${dataDir}/channels`).catch(() => []);
  for (const { name, isDirectory } of channels) {
    if (isDirectory) folders.push(`${dataDir}/channels/${name}`);
  }
  const found: Removable[] = [];
  for (const folder of folders) {
    for (const { name, isFile } of await entriesOf(folder)) {
      if (!isFile || !COPY_NAME.test(name)) continue;
      const { size: bytes, mtime } = await Deno.stat(`${folder}/${name}`);
      found.push({ name: `${folder}/${name}`, bytes, at: mtime?.getTime() ?? 0 });
    }
  }
  return found;
}

async function entriesOf(folder: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(folder));
  } catch (cause) {
    const { message } = cause as Error;
    throw new ServiceError("internal", `Cannot list "${folder}": ${message}`, {}, { cause });
  }
}

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

/** Where they are. */
export interface StoredBackupsOptions {
  /** Absolute; empty: no folder. */
  folder: () => string;
  /** The journal's file, beside which copies are kept. */
  database: string;
}

/** The newest backup of the folder is never listed. `name` is a path. */
export function storedBackups({ folder, database }: StoredBackupsOptions): RetentionStore {
  const all = async () => {
    const found = [...await backupsIn(folder()), ...await copiesOf(database)];
    return found.sort((a, b) => a.at - b.at);
  };
  return {
    async usedBytes() {
      return (await all()).reduce((sum, { bytes }) => sum + bytes, 0);
    },
    async page() {
      const found = await all();
      const newest = found.findLast(({ name }) => !name.startsWith(database));
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

async function copiesOf(database: string): Promise<Removable[]> {
  const slash = database.lastIndexOf("/");
  const [folder, file] = [database.slice(0, slash), database.slice(slash + 1)];
  const found: Removable[] = [];
  for (const { name } of await entriesOf(folder)) {
    if (!name.startsWith(`${file}.v`) || !/^\d+$/.test(name.slice(file.length + 2))) continue;
    const { size: bytes, mtime } = await Deno.stat(`${folder}/${name}`);
    found.push({ name: `${folder}/${name}`, bytes, at: mtime?.getTime() ?? 0 });
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

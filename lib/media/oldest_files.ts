/**
 * The files of the folder that were unused the longest, some at a time: however many there are, only a
 * page of them is in memory.
 *
 * @module
 */

import type { Removable, RemovablePage } from "../contract/retention.ts";
import type { Disk } from "./disk.ts";

/** Files of a page. The folder is read anew for each, so a page is large. */
const PAGE_FILES = 10_000;

/** The page after a cursor, of those that may go; it may hold few, or none, and still name a next one. */
export async function oldestFiles(
  disk: Pick<Disk, "names" | "stat">,
  after: string | undefined,
  mayGo: (name: string) => boolean,
  pageFiles = PAGE_FILES,
): Promise<RemovablePage> {
  const [from, fromName] = cursorOf(after);
  let oldest: Removable[] = [];
  let isCut = false;
  for await (const name of disk.names()) {
    const info = await disk.stat(name);
    // Gone since it was listed, or on an earlier page.
    if (info === undefined || compare({ ...info, name }, { at: from, name: fromName }) <= 0) {
      continue;
    }
    oldest.push({ name, ...info });
    if (oldest.length < 2 * pageFiles) continue;
    oldest = oldest.sort(compare).slice(0, pageFiles);
    isCut = true;
  }
  oldest.sort(compare);
  isCut ||= oldest.length > pageFiles;
  const page = oldest.slice(0, pageFiles);
  const items = page.filter(({ name }) => mayGo(name));
  const last = page.at(-1);
  return isCut ? { items, after: `${last!.at}:${last!.name}` } : { items };
}

/** Bytes of all files. */
export async function usedBytes(disk: Pick<Disk, "names" | "stat">): Promise<number> {
  let sum = 0;
  for await (const name of disk.names()) sum += (await disk.stat(name))?.bytes ?? 0;
  return sum;
}

function cursorOf(after = "-1:"): [at: number, name: string] {
  const colon = after.indexOf(":");
  return [Number(after.slice(0, colon)), after.slice(colon + 1)];
}

function compare(a: Pick<Removable, "at" | "name">, b: Pick<Removable, "at" | "name">): number {
  return a.at - b.at || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/**
 * What lies in folders, read again only where something has changed: a workspace is looked through
 * before and after each command.
 *
 * A folder that keeps its times, device and number has the names that it had, as the kernel sets its
 * ctime and no program can. One that changed a moment ago may change again within the same tick of that
 * clock, so it is not remembered yet.
 *
 * @module
 */

/** Milliseconds after which another change shows in a folder's times; some file systems count by 2 s. */
const SETTLED_MS = 2_500;
/** Folders that are remembered. */
const MAX_FOLDERS = 500_000;

/** What of a folder is kept. */
export type KeepEntries = (folder: string, entries: Deno.DirEntry[]) => Deno.DirEntry[];

/** Lists folders. */
export class FolderListings {
  readonly #keep: KeepEntries;
  readonly #known = new Map<string, { stamp: string; entries: readonly Deno.DirEntry[] }>();

  constructor(keep: KeepEntries) {
    this.#keep = keep;
  }

  /** The kept entries. Rejects as `Deno.readDir` does, and with what `goOn` throws, which is called now and then. */
  async list(folder: string, goOn?: () => void): Promise<readonly Deno.DirEntry[]> {
    const info = await Deno.lstat(folder);
    const times = [info.ctime, info.mtime].map((time) => time?.getTime() ?? Infinity);
    const stamp = [info.dev, info.ino, ...times].join(":");
    const known = this.#known.get(folder);
    if (known?.stamp === stamp) return known.entries;
    const isSettled = Math.max(...times) < Date.now() - SETTLED_MS;
    const all: Deno.DirEntry[] = [];
    for await (const entry of Deno.readDir(folder)) {
      all.push(entry);
      if (all.length % 1_000 === 0) goOn?.();
    }
    const entries = this.#keep(folder, all);
    this.#known.delete(folder);
    if (this.#known.size >= MAX_FOLDERS) this.#known.clear();
    if (isSettled) this.#known.set(folder, { stamp, entries });
    return entries;
  }
}

import { type Disk, openDisk } from "./disk.ts";
import { oldestFiles, usedBytes } from "./oldest_files.ts";
import type { MediaStore } from "./types.ts";
import type { Removable } from "../contract/retention.ts";

/** What {@linkcode openMedia} is told. */
export interface OpenMediaOptions {
  /** The folder, made with the first file. Nothing else may write in it. */
  dir: string;
  /** Whether a session on record refers to the file (`Journal.hasFile`). */
  isReferenced: (sha256: string) => boolean;
  /** Whether a session that retention may not take refers to it (`Journal.needsFile`). */
  isNeeded: (sha256: string) => boolean;
  /** Where the files are. Default: the folder. */
  disk?: Disk;
  /** SHA-256 in lower-case hex. Default: Web Crypto, which does it beside the event loop. */
  hash?: (bytes: Uint8Array) => Promise<string>;
}

/** A file that is held, or that something is being done with. */
interface Entry {
  /** Those who hold it, from before its bytes are there until after they let go. */
  holders: number;
  /** It is on the disk, for as long as somebody holds it. */
  kept: boolean;
  /** Steps that are under way or wait for their turn. */
  steps: number;
  /** The last of them, settled or not; never rejects. */
  last: Promise<unknown>;
}

/**
 * Opens the media folder. Steps about one file come one after another, those about different files
 * at once. A file is removed only in such a step, when nobody holds it and no session refers to it,
 * and a holder counts from before the first step: so a file that is wanted is never removed, and one
 * that is not is never left, whoever comes between.
 *
 * The one who accepts a turn holds its files until the journal has them on record, and lets go then,
 * whether it was accepted or not. `hold` needs the bytes unchanged until it resolves.
 *
 * Every failure of the folder is an `internal` without its path. Needs read and write permission for
 * `dir`, and read permission for the folder above.
 */
export function openMedia(
  { dir, isReferenced, isNeeded, disk = openDisk(dir), hash = sha256Of }: OpenMediaOptions,
): MediaStore {
  const { entryOf, inTurn } = createEntries();

  /** Whether there was one to remove. */
  function removeUnlessWanted(sha256: string): Promise<boolean> {
    return inTurn(sha256, async (entry) => {
      if (entry.holders > 0 || isReferenced(sha256)) return false;
      entry.kept = false;
      return await disk.remove(sha256);
    });
  }

  /** Those of the names that are nobody's. One that cannot be removed does not keep the others. */
  async function removeAll(names: Iterable<string> | AsyncIterable<string>): Promise<number> {
    let removed = 0;
    const failures: unknown[] = [];
    for await (const name of names) {
      if (!isHash(name)) continue;
      try {
        if (await removeUnlessWanted(name)) removed++;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return removed;
  }

  /** Whether it was as it was listed and nothing needed it. */
  function removeUnneeded({ name, at }: Removable): Promise<boolean> {
    return inTurn(name, async (entry) => {
      if (entry.holders > 0 || isNeeded(name)) return false;
      if ((await disk.stat(name))?.at !== at) return false;
      return await disk.remove(name);
    });
  }

  async function read(sha256: string): Promise<Uint8Array | undefined> {
    if (!isHash(sha256)) return undefined;
    const bytes = await disk.read(sha256);
    return bytes && await hash(bytes) === sha256 ? bytes : undefined;
  }

  return {
    read,
    async hold(bytes) {
      const sha256 = await hash(bytes);
      entryOf(sha256).holders++;
      let released: Promise<void> | undefined;
      const release = () =>
        released ??= (async () => {
          entryOf(sha256).holders--;
          await removeUnlessWanted(sha256);
        })();
      try {
        await inTurn(sha256, async (entry) => {
          if (entry.kept) return;
          // One from before may be damaged, or its name not on the disk yet.
          if (await read(sha256) === undefined) await disk.write(sha256, bytes);
          else await disk.settle(sha256);
          entry.kept = true;
        });
      } catch (error) {
        // The first failure is the one to tell; a file that is left is one for `sweep`.
        await release().catch(() => {});
        throw error;
      }
      return { sha256, bytes: bytes.length, release };
    },
    async drop(sha256s) {
      await removeAll(sha256s);
    },
    async sweep() {
      const unfinished = await disk.removeUnfinished();
      return unfinished + await removeAll(disk.names());
    },
    retention: {
      usedBytes: () => usedBytes(disk),
      page: (after) => oldestFiles(disk, after, (name) => isHash(name) && !isNeeded(name)),
      async remove(items) {
        const removed: Removable[] = [];
        for (const item of items) if (await removeUnneeded(item)) removed.push(item);
        return removed;
      },
    },
  };
}

/** What is known of files while something is done with them. */
function createEntries() {
  const entries = new Map<string, Entry>();

  function entryOf(sha256: string): Entry {
    let entry = entries.get(sha256);
    if (entry === undefined) {
      entry = { holders: 0, kept: false, steps: 0, last: Promise.resolve() };
      entries.set(sha256, entry);
    }
    return entry;
  }

  /** Does a step about a file once those before it are done. */
  function inTurn<T>(sha256: string, step: (entry: Entry) => Promise<T>): Promise<T> {
    const entry = entryOf(sha256);
    entry.steps++;
    const result = entry.last.then(() => step(entry)).finally(() => {
      entry.steps--;
      if (entry.steps === 0 && entry.holders === 0) entries.delete(sha256);
    });
    entry.last = result.catch(() => {});
    return result;
  }

  return { entryOf, inTurn };
}

/** Also says that the text is a safe name of a file. */
function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return new Uint8Array(digest).toHex();
}

/**
 * Files that a command must not make, held by empty ones while it runs: a mount needs something to
 * stand on. They go when the last command of the workspace has ended; after a crash an empty file stays.
 *
 * @module
 */

import { basename, join } from "@std/path";

interface Held {
  holders: number;
  /** Those that were made, by their identity. */
  made: { path: string; ino: number | null; dev: number }[];
}

/** Places that are held, until disposed. */
export interface HeldPlaces extends Disposable {
  /** Names of those that stand on an empty file of ours. */
  readonly empty: readonly string[];
}

/** Holds places in folders. */
export class Placeholders {
  readonly #names: readonly string[];
  readonly #folders = new Map<string, Held>();

  /** Names in a folder that are held. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Makes what is not there; disposing removes it again if nobody else holds it or has written to it. */
  hold(folder: string): HeldPlaces {
    const held = this.#folders.get(folder) ?? { holders: 0, made: [] };
    this.#folders.set(folder, held);
    held.holders++;
    for (const name of this.#names) {
      const path = join(folder, name);
      try {
        using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
        const { ino, dev } = file.statSync();
        held.made.push({ path, ino, dev });
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists)) {
          this.#release(folder, held);
          throw error;
        }
      }
    }
    return {
      empty: held.made.map(({ path }) => basename(path)),
      [Symbol.dispose]: () => this.#release(folder, held),
    };
  }

  #release(folder: string, held: Held): void {
    if (--held.holders > 0) return;
    this.#folders.delete(folder);
    for (const { path, ino, dev } of held.made) {
      try {
        const now = Deno.lstatSync(path);
        if (now.ino === ino && now.dev === dev && now.size === 0) Deno.removeSync(path);
      } catch {
        // Somebody removed it, which was to be done.
      }
    }
  }
}

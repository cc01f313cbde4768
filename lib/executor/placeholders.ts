/**
 * Files and folders that a command must not make, held by harmless ones while it runs: a mount needs
 * something to stand on. They go when the last command of the workspace has ended; after a crash empty
 * ones stay.
 *
 * @module
 */

import { join } from "@std/path";

/** What stands in a place: a file of that text, or an empty folder. */
export interface Placeholder {
  name: string;
  content: string | "folder";
}

interface Held {
  holders: number;
  /** Those that were made, by their identity. */
  made: (Placeholder & { path: string; ino: number | null; dev: number })[];
}

/** Places that are held, until disposed. */
export interface HeldPlaces extends Disposable {
  /** Names of those that stand on something of ours. */
  readonly made: readonly string[];
}

/** Holds places in folders. */
export class Placeholders {
  readonly #folders = new Map<string, Held>();

  /** Makes what is not there; disposing removes it again if nobody else holds it or has written to it. */
  hold(folder: string, places: readonly Placeholder[]): HeldPlaces {
    const held = this.#folders.get(folder) ?? { holders: 0, made: [] };
    this.#folders.set(folder, held);
    held.holders++;
    try {
      for (const place of places) {
        const path = join(folder, place.name);
        if (make(path, place)) {
          const { ino, dev } = Deno.lstatSync(path);
          held.made.push({ ...place, path, ino, dev });
        }
      }
    } catch (error) {
      this.#release(folder, held);
      throw error;
    }
    return {
      made: held.made.map(({ name }) => name),
      [Symbol.dispose]: () => this.#release(folder, held),
    };
  }

  #release(folder: string, held: Held): void {
    if (--held.holders > 0) return;
    this.#folders.delete(folder);
    for (const { path, ino, dev, content } of held.made) {
      try {
        const now = Deno.lstatSync(path);
        const isOurs = now.ino === ino && now.dev === dev;
        // A folder with something in it cannot be removed.
        if (isOurs && (now.isDirectory || now.size === content.length)) Deno.removeSync(path);
      } catch {
        // Somebody removed it, which was to be done.
      }
    }
  }
}

/** False when something else is there already. */
function make(path: string, { content }: Placeholder): boolean {
  try {
    if (content === "folder") Deno.mkdirSync(path, { mode: 0o755 });
    else Deno.writeTextFileSync(path, content, { createNew: true, mode: 0o600 });
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return content !== "" && content !== "folder" && isText(path, content);
  }
}

/** What a crash left: nobody else writes that. */
function isText(path: string, text: string): boolean {
  const { isFile, size } = Deno.lstatSync(path);
  return isFile && size === text.length && Deno.readTextFileSync(path) === text;
}

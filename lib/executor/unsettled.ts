/**
 * Commands whose end has not been looked at yet, on the disk: when the service is killed, the next one
 * sees what was there when they began.
 *
 * @module
 */

import { join } from "@std/path";
import type { Before } from "./left_behind.ts";

const FILE = /^unsettled-[0-9a-f-]{36}\.json$/;
/** Milliseconds that a command can have: what came later into the workspace is not its own. */
const MAX_COMMAND_MS = 15 * 60_000;

/** Remembers them in a folder of our own. */
export class Unsettled {
  readonly #dir: string;
  readonly #files = new Map<Before, string>();
  #left: Promise<Before[]> | undefined;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Before it starts. */
  async add(before: Before): Promise<void> {
    const path = join(this.#dir, `unsettled-${crypto.randomUUID()}.json`);
    this.#files.set(before, path);
    const text = JSON.stringify({ ...before, until: Date.now() + MAX_COMMAND_MS });
    await Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 });
  }

  /** What it left has been looked at. */
  async remove(before: Before): Promise<void> {
    const path = this.#files.get(before);
    this.#files.delete(before);
    if (path !== undefined) await Deno.remove(path).catch(() => {});
  }

  /** Those that were added and not removed. */
  all(): Before[] {
    return [...this.#files.keys()];
  }

  /** Those of an earlier process; each until it is removed. */
  async left(): Promise<Before[]> {
    const found = await (this.#left ??= this.#read());
    return found.filter((before) => this.#files.has(before));
  }

  async #read(): Promise<Before[]> {
    const found: Before[] = [];
    for (const { name } of await Array.fromAsync(Deno.readDir(this.#dir)).catch(() => [])) {
      const path = join(this.#dir, name);
      if (!FILE.test(name) || [...this.#files.values()].includes(path)) continue;
      try {
        const before: Before = JSON.parse(await Deno.readTextFile(path));
        found.push(before);
        this.#files.set(before, path);
      } catch {
        // It was cut off while it was written, before its command began.
        await Deno.remove(path).catch(() => {});
      }
    }
    return found;
  }
}

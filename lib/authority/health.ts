/**
 * Health of what the authority holds, for GET /ready: the sandbox, the audit, and free space on the
 * disk.
 *
 * @module
 */

import { toErrorData } from "../base/errors.ts";
import type { Checks } from "./protocol.ts";

/** What {@linkcode Health} looks at. */
export interface HealthDeps {
  /** Rejects when the audit cannot be written. */
  probeAudit: () => Promise<void>;
  /** Folders that the service writes to. */
  folders: readonly string[];
  /** Free bytes below which a folder has too few; 0: any number is enough. */
  minFreeBytes: number;
}

const MIB = 1024 * 1024;

/** What is known of the authority's health. */
export class Health {
  readonly #deps: HealthDeps;
  #checks: Checks = {};

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  /** As it was found last. */
  get checks(): Checks {
    return this.#checks;
  }

  /** Takes in what others have found. */
  add(checks: Checks): Checks {
    return this.#checks = { ...this.#checks, ...checks };
  }

  /** Looks for free space; whether that changed whether there is enough. */
  async measureStorage(): Promise<boolean> {
    const before = this.#checks.storage?.ok;
    const storage = await this.#checkStorage();
    this.add({ storage });
    return storage.ok !== before;
  }

  /** Looks at everything that can be tried at any time. */
  async probe(): Promise<Checks> {
    const [audit] = await Promise.all([this.#checkAudit(), this.measureStorage()]);
    return this.add({ audit });
  }

  async #checkAudit(): Promise<Checks[string]> {
    try {
      await this.#deps.probeAudit();
      return { ok: true, detail: "writable" };
    } catch (error) {
      return { ok: false, detail: toErrorData(error).message };
    }
  }

  async #checkStorage(): Promise<Checks[string]> {
    const { folders, minFreeBytes } = this.#deps;
    let least = Infinity;
    for (const folder of folders) {
      let free: number;
      try {
        free = await freeBytes(folder);
      } catch (error) {
        return { ok: false, detail: `Cannot look at "${folder}": ${toErrorData(error).message}` };
      }
      if (free < minFreeBytes) {
        return {
          ok: false,
          detail: `Not enough free disk space for new work: ${Math.floor(free / MIB)} MiB in ` +
            `"${folder}", need ${minFreeBytes / MIB} MiB (storage.minFreeMiB)`,
        };
      }
      least = Math.min(least, free);
    }
    return { ok: true, detail: `${Math.floor(least / MIB)} MiB free` };
  }
}

/** Every start asks: by itself node:fs loads 4 ms sooner than its promises, or than by an import. */
function freeBytes(folder: string): Promise<number> {
  const { statfs } = process.getBuiltinModule("node:fs");
  return new Promise((resolve, reject) =>
    statfs(
      folder,
      (error, stats) => error === null ? resolve(stats.bavail * stats.bsize) : reject(error),
    )
  );
}

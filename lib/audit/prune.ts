/**
 * Removes the oldest closed files of an audit, as `audit.keepFiles` says. What is removed stands in the
 * record before it goes, so that a file that was pruned and one that was taken away are told apart.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import type { FileAudit } from "./file_audit.ts";
import { closedName, listClosed } from "./files.ts";
import { readTail } from "./tail.ts";

/** Files that are removed between two looks at whether to stop. */
const BATCH_FILES = 16;

/** What a pruner works on. */
export interface PrunerDeps {
  dir: string;
  /** Closed files that stay; 0: all. */
  keepFiles: number;
  audit: Pick<FileAudit, "append" | "checkpoint">;
  log: Log;
}

/** Makes a pruner; `stop` waits for what is being removed. */
export function createPruner(deps: PrunerDeps): { start(): void; stop(): Promise<void> } {
  const { dir, keepFiles, log } = deps;
  let work: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        const isMore = await prune(deps);
        again ||= isMore;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.error("Cannot remove the oldest file of the audit", { dir, reason });
      }
    } while (again && !stopped);
    work = undefined;
  }

  return {
    start() {
      if (keepFiles === 0 || stopped) return;
      if (work === undefined) work = run();
      else again = true;
    },
    async stop() {
      stopped = true;
      await work;
    },
  };
}

/** Removes a batch; true when there is more to remove. */
async function prune({ dir, keepFiles, audit, log }: PrunerDeps): Promise<boolean> {
  const closed = await listClosed(dir);
  const excess = closed.slice(0, Math.max(0, closed.length - keepFiles));
  for (const first of excess.slice(0, BATCH_FILES)) {
    const file = closedName(first);
    const { seq: last, hash: head } = await readEndOf(`${dir}/${file}`);
    await audit.append("log.pruned", { file, first, last, head });
    await audit.checkpoint();
    await Deno.remove(`${dir}/${file}`);
    log.info("Removed the oldest file of the audit", { file, first, last });
  }
  return excess.length > BATCH_FILES;
}

async function readEndOf(path: string): Promise<{ seq: number; hash: string }> {
  using file = await Deno.open(path, { read: true });
  return await readTail(file);
}

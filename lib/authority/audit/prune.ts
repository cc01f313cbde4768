/**
 * Removes the oldest closed files of an audit, as `audit.keepFiles` says. What is removed stands in the
 * record before it goes, so that a file that was pruned and one that was taken away are told apart.
 *
 * @module
 */

import type { Log } from "../../log.ts";
import type { FileAudit } from "./file_audit.ts";
import { closedName, listClosed } from "./files.ts";
import { readTail } from "./tail.ts";

/** What a pruner works on. */
export interface PrunerDeps {
  dir: string;
  /** Closed files that stay; 0: all. */
  keepFiles: number;
  audit: Pick<FileAudit, "append" | "checkpoint">;
  log: Log;
}

/** Files that one rotation or start removes, so that none of them takes long. */
const MAX_AT_ONCE = 16;

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
        await prune(deps);
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

async function prune({ dir, keepFiles, audit, log }: PrunerDeps): Promise<void> {
  const closed = await listClosed(dir);
  const tooMany = Math.min(MAX_AT_ONCE, Math.max(0, closed.length - keepFiles));
  for (const first of closed.slice(0, tooMany)) {
    const file = closedName(first);
    const { seq: last, hash: head } = await readEndOf(`${dir}/${file}`);
    await audit.append("log.pruned", { file, first, last, head });
    await audit.checkpoint();
    await Deno.remove(`${dir}/${file}`);
    log.info("Removed the oldest file of the audit", { file, first, last });
  }
}

async function readEndOf(path: string): Promise<{ seq: number; hash: string }> {
  using file = await Deno.open(path, { read: true });
  return await readTail(file);
}

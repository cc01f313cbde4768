/**
 * Removes the oldest closed files of an audit log, as `audit.keepFiles` and `retention.audit` say. What is removed
 * stands in the log, signed, before it goes, so that a file that was pruned and one that was taken away are
 * told apart.
 *
 * @module
 */

import { InOrder } from "../base/in_order.ts";
import type { Log } from "../base/log.ts";
import type { Removable, RetentionStore } from "../contract/retention.ts";
import type { FileAudit } from "./file_audit.ts";
import { closedName, firstOf, listClosed, logBytes, openIfAny } from "./files.ts";
import { readFirst, readTail } from "./tail.ts";

/** Files that are removed between two looks at whether to stop, and files of a page. */
const BATCH_FILES = 16;

/** What a pruner works on. */
export interface PrunerDeps {
  dir: string;
  /** Closed files that stay; 0: all. */
  keepFiles: number;
  audit: Pick<FileAudit, "append" | "checkpoint" | "closeFile" | "path">;
  now: () => number;
  log: Log;
}

/** What removes the oldest files. */
export interface Pruner {
  /** Removes what is beyond `keepFiles`, some time. */
  start(): void;
  /** The closed files. `at` is the time of a file's last record. */
  retention: RetentionStore;
  /** Waits for what is being removed. */
  stop(): Promise<void>;
}

/** Makes a pruner. */
export function createPruner(deps: PrunerDeps): Pruner {
  const { dir, keepFiles, audit, now, log } = deps;
  /** One file at a time, so that none goes before one that is older. */
  const order = new InOrder();
  const inTurn = <T>(step: () => Promise<T>) => order.run("", step);
  let work: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        const closed = await listClosed(dir);
        const excess = closed.slice(0, Math.max(0, closed.length - keepFiles));
        for (const first of excess.slice(0, BATCH_FILES)) {
          await inTurn(() => removeOldest(deps, first, "audit.keepFiles"));
        }
        again ||= excess.length > BATCH_FILES;
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
    retention: {
      usedBytes: () => logBytes(dir),
      page: (after) => pageOf(dir, after),
      async remove(items) {
        const removed: Removable[] = [];
        for (const item of items) {
          const isGone = await inTurn(() => removeOldest(deps, firstOf(item.name)!, "retention"));
          if (!isGone) break;
          removed.push(item);
        }
        return removed;
      },
      async split(afterMs) {
        using file = await openIfAny(audit.path);
        const first = file && await readFirst(file);
        if (first !== undefined && first.ts < now() - afterMs) await audit.closeFile();
      },
    },
    async stop() {
      stopped = true;
      await work;
    },
  };
}

/** Whether it was the oldest. */
async function removeOldest(
  { dir, audit, log }: PrunerDeps,
  first: number,
  by: "audit.keepFiles" | "retention",
): Promise<boolean> {
  if ((await listClosed(dir))[0] !== first) return false;
  const file = closedName(first);
  const { seq: last, hash: head } = await endOf(`${dir}/${file}`);
  await audit.append("log.pruned", { file, first, last, head, by });
  await audit.checkpoint();
  await Deno.remove(`${dir}/${file}`);
  log.info("Removed the oldest file of the audit log", { file, first, last });
  return true;
}

async function pageOf(dir: string, after = "0"): Promise<{ items: Removable[]; after?: string }> {
  const closed = (await listClosed(dir)).filter((first) => first > Number(after));
  const items: Removable[] = [];
  for (const first of closed.slice(0, BATCH_FILES)) {
    const name = closedName(first);
    const { size: bytes, ts: at } = await endOf(`${dir}/${name}`);
    items.push({ name, bytes, at });
  }
  return closed.length <= BATCH_FILES ? { items } : { items, after: `${closed[BATCH_FILES - 1]}` };
}

async function endOf(path: string) {
  using file = await Deno.open(path, { read: true });
  return await readTail(file);
}

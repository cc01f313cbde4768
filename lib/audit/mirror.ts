/**
 * A second place for checkpoints, outside of the home: whoever puts an older state of the whole home
 * back does not reach it.
 *
 * What goes wrong there never holds up a record: lines wait in a bounded queue of their own.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** Takes checkpoints. */
export interface CheckpointMirror {
  add(checkpoint: Checkpoint): void;
  /** Waits for what was added, `maxMs` at most. */
  close(maxMs: number): Promise<void>;
}

/** Checkpoints that wait for a slow place; the oldest of more are dropped, for a later one says more. */
const MAX_WAITING = 256;

/** Appends to the file `path`; none where it is empty. */
export function createMirror(path: string, log: Log): CheckpointMirror {
  if (path === "") return { add: () => {}, close: () => Promise.resolve() };
  const waiting: string[] = [];
  let writing: Promise<void> | undefined;
  let lastFault: string | undefined;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.splice(0).join("");
      try {
        await append(path, text);
        lastFault = undefined;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        // Once a fault, not once a checkpoint.
        if (reason !== lastFault) {
          log.error("Cannot write the audit's mirror", { "audit.mirror": path, reason });
        }
        lastFault = reason;
      }
    }
    writing = undefined;
  }

  return {
    add(checkpoint) {
      waiting.push(canonicalJson(checkpoint) + "\n");
      if (waiting.length > MAX_WAITING) waiting.shift();
      writing ??= write();
    },
    async close(maxMs) {
      if (writing === undefined) return;
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, maxMs);
      await Promise.race([writing, late.promise]);
      clearTimeout(timer);
    },
  };
}

async function append(path: string, text: string): Promise<void> {
  using file = await Deno.open(path, { append: true, create: true, mode: 0o600 });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  await file.sync().catch(() => {});
}

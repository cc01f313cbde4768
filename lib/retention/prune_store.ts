/**
 * Removes what is over the limits of one kind of data, the oldest first.
 *
 * @module
 */

import type { Removable, RetentionStore } from "../contract/retention.ts";

/** The most that is kept; 0: any. */
export interface Limits {
  maxAgeMs: number;
  maxBytes: number;
}

/** How it is done. */
export interface PruneOptions {
  /** Milliseconds since 1970. */
  now: number;
  dryRun: boolean;
  /** Told of what is about to be removed. When it rejects, nothing more is. */
  announce: (items: readonly Removable[]) => Promise<void>;
  /** Told of what was removed, or would be. */
  onRemoved: (items: readonly Removable[]) => void;
  signal?: AbortSignal;
}

/** Things that are announced and removed together. */
const BATCH = 50;

/** Something that goes as a whole is closed early enough to go a tenth of the age later than it should. */
const SPLIT_PART = 0.1;

/** Resolves when nothing more is over the limits, or can go. */
export async function pruneStore(
  store: RetentionStore,
  { maxAgeMs, maxBytes }: Limits,
  { now, dryRun, announce, onRemoved, signal }: PruneOptions,
): Promise<void> {
  if (maxAgeMs > 0 && !dryRun) await store.split?.(maxAgeMs * SPLIT_PART);
  const excess = maxBytes > 0 ? await store.usedBytes() - maxBytes : 0;
  let batch: Removable[] = [];
  let freed = 0;

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const [items, removed] = [batch, dryRun ? batch : await removeAll(batch)];
    // Of those that came to be needed meanwhile no room came.
    freed += bytesOf(removed) - bytesOf(items);
    batch = [];
    onRemoved(removed);
  }

  async function removeAll(items: readonly Removable[]): Promise<readonly Removable[]> {
    await announce(items);
    return await store.remove(items);
  }

  for await (const item of itemsOf(store)) {
    signal?.throwIfAborted();
    const isOld = maxAgeMs > 0 && item.at < now - maxAgeMs;
    const isExcess = freed < excess;
    if (!isOld && !isExcess) break;
    batch.push(item);
    freed += item.bytes;
    if (batch.length === BATCH) await flush();
  }
  await flush();
}

/** Bytes of all of them. */
export function bytesOf(items: readonly Removable[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function* itemsOf(store: RetentionStore): AsyncGenerator<Removable> {
  let after: string | undefined;
  do {
    const page = await store.page(after);
    yield* page.items;
    after = page.after;
  } while (after !== undefined);
}

/**
 * A store of a test, in memory.
 *
 * @module
 */

import type { Removable, RetentionStore } from "../../contract/retention.ts";

/** What is in it, and what something needs. */
export interface MemoryStore extends RetentionStore {
  items: Removable[];
  /** Never listed and never removed. */
  needed: Set<string>;
  /** Called before something is removed. */
  onRemove: () => void;
  /** Ages that it was split at. */
  splits: number[];
}

/** Things of 10 bytes each, last used at these times; pages of three. */
export function memoryStore(times: readonly number[]): MemoryStore {
  const store: MemoryStore = {
    items: times.map((at) => ({ name: `at ${at}`, bytes: 10, at })),
    needed: new Set(),
    onRemove: () => {},
    splits: [],
    usedBytes: () => Promise.resolve(store.items.reduce((sum, { bytes }) => sum + bytes, 0)),
    page(after = "-Infinity") {
      const rest = store.items.filter(({ at }) => at > Number(after)).sort((a, b) => a.at - b.at);
      const page = rest.slice(0, 3);
      const items = page.filter(({ name }) => !store.needed.has(name));
      return Promise.resolve(
        rest.length <= 3 ? { items } : { items, after: `${page.at(-1)!.at}` },
      );
    },
    split: (afterMs) => Promise.resolve(void store.splits.push(afterMs)),
    remove(items) {
      store.onRemove();
      const removed = items.filter(({ name }) => !store.needed.has(name));
      const names = new Set(removed.map(({ name }) => name));
      store.items = store.items.filter(({ name }) => !names.has(name));
      return Promise.resolve(removed);
    },
  };
  return store;
}

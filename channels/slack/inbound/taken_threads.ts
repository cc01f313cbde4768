/**
 * Threads that the app takes part in: what is written there is heard without its name, and looked for
 * after a time away.
 *
 * @module
 */

import type { Memory } from "../../../lib/channel/platform/memory.ts";

/** Threads that are known, the newest. */
const MAX_THREADS = 1_000;

const KIND = "threads";
const NAME = "taken";

export class TakenThreads {
  readonly #memory: Memory;
  /** Chat ids, the one that was used last at the end. */
  readonly #chats: Set<string>;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#chats = new Set(memory.get<string[]>(KIND, NAME) ?? []);
  }

  has(chatId: string): boolean {
    return this.#chats.has(chatId);
  }

  /** The app has written there, or was addressed; nothing for what is no thread. */
  add(chatId: string): void {
    if (!chatId.includes(":")) return;
    const isNew = !this.#chats.delete(chatId);
    this.#chats.add(chatId);
    if (this.#chats.size > MAX_THREADS) this.#chats.delete(this.#chats.values().next().value!);
    // The order alone is not worth a write.
    if (isNew) this.#memory.set(KIND, NAME, [...this.#chats]);
  }

  /** The newest, the newest first. */
  recent(count: number): string[] {
    return [...this.#chats].slice(-count).reverse();
  }
}

/**
 * Signs that an answer is being written, which platforms forget after some seconds.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** What the signs are shown with. */
export interface TypingDeps {
  clock: Pick<Clock, "after">;
  /** The platform forgets a sign after a little more than this, milliseconds. */
  everyMs: number;
  /** Shows it. What rejects is not tried again before the next time. */
  show: (chatId: string) => Promise<unknown>;
  /** Takes it back, where the platform does not by itself when a message comes. */
  hide?: (chatId: string) => Promise<unknown>;
}

const MAX_MS = 10 * 60_000;

/** Turns of a chat that are at work. */
interface Signs {
  turns: number;
  leftMs: number;
  isShowing: boolean;
  cancel?: () => void;
}

export class Typing {
  readonly #deps: TypingDeps;
  readonly #chats = new Map<string, Signs>();
  #isClosed = false;

  constructor(deps: TypingDeps) {
    this.#deps = deps;
  }

  /** A turn of the chat has begun. */
  begin(chatId: string): void {
    // What was handed on while the channel was ending.
    if (this.#isClosed) return;
    const signs = this.#chats.get(chatId);
    if (signs !== undefined) {
      signs.turns += 1;
      signs.leftMs = MAX_MS;
      return;
    }
    const first: Signs = { turns: 1, leftMs: MAX_MS, isShowing: false };
    this.#chats.set(chatId, first);
    this.#show(chatId, first);
  }

  /** A turn of the chat has ended; nothing where none is known, as after a restart. */
  end(chatId: string): void {
    const signs = this.#chats.get(chatId);
    if (signs === undefined || --signs.turns > 0) return;
    this.#forget(chatId, signs);
    void this.#deps.hide?.(chatId).catch(() => {});
  }

  /** Shows nothing any more. */
  close(): void {
    this.#isClosed = true;
    for (const [chatId, signs] of this.#chats) this.#forget(chatId, signs);
  }

  #forget(chatId: string, signs: Signs): void {
    signs.cancel?.();
    this.#chats.delete(chatId);
  }

  #show(chatId: string, signs: Signs): void {
    const { clock, everyMs, show } = this.#deps;
    // A platform that is slow is not asked twice at a time.
    if (!signs.isShowing) {
      signs.isShowing = true;
      void show(chatId).catch(() => {}).finally(() => signs.isShowing = false);
    }
    signs.leftMs -= everyMs;
    if (signs.leftMs <= 0) return this.#forget(chatId, signs);
    signs.cancel = clock.after(everyMs, () => this.#show(chatId, signs));
  }
}

/**
 * Pictures that were sent together come as messages of their own, one behind the other. They are gathered
 * for a moment, on the disk, and then wait as one message.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { HeardMessage } from "./heard.ts";

/** How long it waits for the next of an album, milliseconds. */
export const ALBUM_MS = 1_000;

/** Messages of an album (Bot API, sendMediaGroup). */
const MAX_MESSAGES = 10;

/** Albums that are gathered at a time; the oldest is given as it is then. */
const MAX_OPEN = 100;

/** Kinds of memory. */
const GATHERED = "album";
const OPEN = "albums";
const KNOWN = "of_album";

/** What it works with. */
export interface AlbumsDeps {
  memory: Memory;
  clock: Pick<Clock, "after">;
  /** Resolves when the album is on the disk as one message. */
  publish: (messages: HeardMessage[]) => Promise<void>;
  onFault: (error: unknown) => void;
}

export class Albums {
  readonly #deps: AlbumsDeps;
  /** Ends the wait of each that is open. */
  readonly #open = new Map<string, () => void>();
  readonly #publishing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(deps: AlbumsDeps) {
    this.#deps = deps;
  }

  /** Goes on with what a process before this one has gathered. */
  restore(): void {
    for (const key of this.#deps.memory.get<string[]>(OPEN, "all") ?? []) this.#wait(key);
  }

  /** Takes a message of an album; it is on the disk when this returns. */
  add(message: HeardMessage): void {
    const { memory } = this.#deps;
    const key = `${message.chatId} ${message.albumId}`;
    // It was in an album that is published: Telegram gives it once more.
    if (memory.get(KNOWN, `${message.chatId} ${message.messageId}`) !== undefined) return;
    const gathered = memory.get<HeardMessage[]>(GATHERED, key) ?? [];
    if (gathered.some(({ messageId }) => messageId === message.messageId)) return;
    const messages = [...gathered, message].toSorted((one, other) =>
      one.messageId - other.messageId
    );
    memory.set(GATHERED, key, messages);
    if (messages.length >= MAX_MESSAGES) return this.#publish(key);
    this.#wait(key);
    if (this.#open.size > MAX_OPEN) this.#publish(this.#open.keys().next().value!);
  }

  /** What is gathered stays for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#open.values()) cancel();
    await Promise.all(this.#publishing);
  }

  #wait(key: string): void {
    this.#open.get(key)?.();
    const isNew = !this.#open.has(key);
    const publish = () => this.#publish(key);
    // Behind the end it only has to be known to the next start.
    this.#open.set(key, this.#isClosed ? () => {} : this.#deps.clock.after(ALBUM_MS, publish));
    if (isNew) this.#keepOpen();
  }

  #keepOpen(): void {
    this.#deps.memory.set(OPEN, "all", [...this.#open.keys()]);
  }

  #publish(key: string): void {
    this.#open.get(key)?.();
    const publishing = this.#hand(key).catch((error) => {
      if (this.#isClosed) return;
      this.#deps.onFault(error);
      this.#wait(key);
    }).finally(() => this.#publishing.delete(publishing));
    this.#publishing.add(publishing);
  }

  async #hand(key: string): Promise<void> {
    const { memory, publish } = this.#deps;
    const messages = memory.get<HeardMessage[]>(GATHERED, key) ?? [];
    if (messages.length > 0) await publish(messages);
    // In this order: what a crash leaves is published again, and known by its id.
    for (const { chatId, messageId } of messages) memory.set(KNOWN, `${chatId} ${messageId}`, true);
    const behind = (memory.get<HeardMessage[]>(GATHERED, key) ?? [])
      .filter(({ messageId }) => !messages.some((one) => one.messageId === messageId));
    if (behind.length > 0) {
      memory.set(GATHERED, key, behind);
      return this.#wait(key);
    }
    memory.delete(GATHERED, key);
    this.#open.delete(key);
    if (!this.#isClosed) this.#keepOpen();
  }
}

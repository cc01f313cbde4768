/**
 * Messages on their way from a worker to the service: so many without an answer, of one chat fewer, so
 * that a chat that has too much to do leaves room for the others. What waits goes on in its order, one
 * chat after the other.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { MAX_PUBLISHING } from "./protocol.ts";

/** Messages of one chat that may be without an answer. */
export const MAX_PUBLISHING_PER_CHAT = 16;

/** Characters that may wait in a worker, counted with {@linkcode MESSAGE_CHARS} for each message. */
const MAX_WAITING_CHARS = 64 * 1024 * 1024;
const MESSAGE_CHARS = 1_024;

interface Waiting {
  chars: number;
  go: () => void;
}

export class PublishQueue {
  /** Chats that have something waiting; whose turn it is stands first. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #under = new Map<string, number>();
  #total = 0;
  #chars = 0;

  /** Messages without an answer. */
  get underWay(): number {
    return this.#total;
  }

  /**
   * Runs when there is room, and gives what it came to. Rejects at once with `queue_full` when too much
   * waits already, which is so only where a runtime does not wait for its messages to be taken.
   */
  async run<T>(
    { chat, chars }: { chat: string; chars: number },
    publish: () => Promise<T>,
  ): Promise<T> {
    await this.#enter(chat, chars + MESSAGE_CHARS);
    try {
      return await publish();
    } finally {
      this.#leave(chat);
    }
  }

  #enter(chat: string, chars: number): Promise<void> | void {
    const queue = this.#waiting.get(chat);
    if (queue === undefined && this.#hasRoom(chat)) return this.#take(chat);
    if (this.#chars + chars > MAX_WAITING_CHARS) {
      throw new ServiceError(
        "queue_full",
        "Too many messages of this channel wait to be taken: wait for publish before the next one",
      );
    }
    return new Promise<void>((go) => {
      this.#chars += chars;
      if (queue === undefined) this.#waiting.set(chat, [{ chars, go }]);
      else queue.push({ chars, go });
    });
  }

  #leave(chat: string): void {
    this.#total -= 1;
    const under = this.#under.get(chat)! - 1;
    if (under === 0) this.#under.delete(chat);
    else this.#under.set(chat, under);
    while (this.#total < MAX_PUBLISHING && this.#next());
  }

  /** Lets one go on. At most a few chats have no room, so the search is short. */
  #next(): boolean {
    for (const [chat, queue] of this.#waiting) {
      if (!this.#hasRoom(chat)) continue;
      const { chars, go } = queue.shift()!;
      this.#chars -= chars;
      // To the end of the line, where it has more.
      this.#waiting.delete(chat);
      if (queue.length > 0) this.#waiting.set(chat, queue);
      this.#take(chat);
      go();
      return true;
    }
    return false;
  }

  #hasRoom(chat: string): boolean {
    return this.#total < MAX_PUBLISHING &&
      (this.#under.get(chat) ?? 0) < MAX_PUBLISHING_PER_CHAT;
  }

  #take(chat: string): void {
    this.#total += 1;
    this.#under.set(chat, (this.#under.get(chat) ?? 0) + 1);
  }
}

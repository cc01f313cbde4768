/**
 * Requests that are held open: their message waits to be taken, or they wait for an answer. So many in
 * all, of one chat fewer: a chat that has too much to do must not hold every connection.
 *
 * @module
 */

/** Fewer than the connections that the port takes, so that there is always one to say no on. */
export const MAX_HELD = 192;

/** Of one chat. */
export const MAX_HELD_PER_CHAT = 32;

export class HeldRequests {
  readonly #byChat = new Map<string, number>();
  #total = 0;

  /** Holds one; the returned function lets it go. In words why not, where there are too many. */
  hold(chatId: string): (() => void) | { status: 429 | 503; message: string } {
    const held = this.#byChat.get(chatId) ?? 0;
    if (held >= MAX_HELD_PER_CHAT) {
      return { status: 429, message: "Too many messages of this chat wait" };
    }
    if (this.#total >= MAX_HELD) return { status: 503, message: "Too many requests at once" };
    this.#total += 1;
    this.#byChat.set(chatId, held + 1);
    return () => {
      this.#total -= 1;
      const left = this.#byChat.get(chatId)! - 1;
      if (left === 0) this.#byChat.delete(chatId);
      else this.#byChat.set(chatId, left);
    };
  }
}

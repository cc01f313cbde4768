/**
 * Whether those who opened turns in a chat are still there (decisions E3): gone means that no connection
 * that may write was in the chat for 60 s.
 *
 * @module
 */

import type { Clock } from "../agent/clock.ts";
import type { Turns } from "../agent/turns.ts";

/** How long a chat may be without a connection before its people count as gone. */
const GONE_MS = 60_000;

/** Turns of a chat that are remembered before those that have ended are looked for. */
const TURNS_UNCHECKED = 16;

/** What presence needs. */
export interface ChatPresenceDeps {
  turns: Pick<Turns, "find">;
  clock: Clock;
}

interface Chat {
  connections: number;
  present: boolean;
  /** Turns that were opened in it and may not have ended; absent until one is. */
  turnIds?: Set<string>;
  cancelTimer?: () => void;
}

/** Tells the turns of chats whether their requesters are there. Keeps nothing of a chat that is idle. */
export class ChatPresence {
  readonly #deps: ChatPresenceDeps;
  readonly #chats = new Map<string, Chat>();

  constructor(deps: ChatPresenceDeps) {
    this.#deps = deps;
  }

  /** Chats that something is kept of. */
  get size(): number {
    return this.#chats.size;
  }

  /** A connection is in the chat, until the returned function is called. */
  join(key: string): () => void {
    const chat = this.#chat(key);
    chat.connections++;
    this.#stopTimer(chat);
    this.#setPresent(chat, true);
    let joined = true;
    return () => {
      if (!joined) return;
      joined = false;
      if (--chat.connections === 0) this.#wait(key, chat);
    };
  }

  /** Somebody has opened a turn in the chat: then he is there, for now at least. */
  opened(key: string, turnId: string): void {
    const chat = this.#chat(key);
    chat.turnIds ??= new Set();
    if (chat.turnIds.size >= TURNS_UNCHECKED) this.#forgetEnded(chat);
    chat.turnIds.add(turnId);
    this.#setPresent(chat, true);
    if (chat.connections === 0) this.#wait(key, chat);
  }

  #chat(key: string): Chat {
    let chat = this.#chats.get(key);
    if (chat === undefined) {
      chat = { connections: 0, present: true };
      this.#chats.set(key, chat);
    }
    return chat;
  }

  /** Nobody is in the chat: its turns are told when that has lasted, until all have ended. */
  #wait(key: string, chat: Chat): void {
    this.#stopTimer(chat);
    this.#forgetEnded(chat);
    if (chat.turnIds === undefined || chat.turnIds.size === 0) {
      this.#chats.delete(key);
      return;
    }
    chat.cancelTimer = this.#deps.clock.after(GONE_MS, () => {
      this.#setPresent(chat, false);
      this.#wait(key, chat);
    });
  }

  #stopTimer(chat: Chat): void {
    chat.cancelTimer?.();
    chat.cancelTimer = undefined;
  }

  #setPresent(chat: Chat, present: boolean): void {
    if (chat.present === present) return;
    chat.present = present;
    for (const id of chat.turnIds ?? []) this.#deps.turns.find(id)?.setPresent(present);
  }

  #forgetEnded(chat: Chat): void {
    for (const id of chat.turnIds ?? []) {
      const turn = this.#deps.turns.find(id)?.turn;
      if (turn === undefined || turn.endedAt !== undefined) chat.turnIds!.delete(id);
    }
  }
}

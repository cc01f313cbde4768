/**
 * Whether those who opened turns in a chat are still there: gone means that no connection
 * that may write was in the chat for 60 s. Turns of before a restart are told in the same way.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { AgentTurns } from "../../agent/agent_turns.ts";
import type { TurnHandle } from "../../contract/turns.ts";
import { CHAT_CHANNEL } from "../../contract/chat_session.ts";

/** How long a chat may be without a connection before its people count as gone. */
const GONE_MS = 60_000;

/** What presence needs. */
export interface ChatPresenceDeps {
  turns: Pick<AgentTurns, "open">;
  clock: Clock;
}

interface Chat {
  connections: number;
  present: boolean;
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
    this.#setPresent(key, chat, true);
    let joined = true;
    return () => {
      if (!joined) return;
      joined = false;
      if (--chat.connections === 0) this.#wait(key, chat);
    };
  }

  /** Somebody has written in the chat: its people are there, for now at least. */
  wrote(key: string): void {
    const chat = this.#chat(key);
    this.#setPresent(key, chat, true);
    if (chat.connections === 0) this.#wait(key, chat);
  }

  #chat(key: string): Chat {
    let chat = this.#chats.get(key);
    if (chat === undefined) {
      chat = { connections: 0, present: false };
      this.#chats.set(key, chat);
    }
    return chat;
  }

  /** Nobody is in the chat: its turns are told when that has lasted, until all have ended. */
  #wait(key: string, chat: Chat): void {
    this.#stopTimer(chat);
    if (this.#turns(key).length === 0) {
      this.#chats.delete(key);
      return;
    }
    chat.cancelTimer = this.#deps.clock.after(GONE_MS, () => {
      this.#setPresent(key, chat, false);
      this.#wait(key, chat);
    });
  }

  #stopTimer(chat: Chat): void {
    chat.cancelTimer?.();
    chat.cancelTimer = undefined;
  }

  #setPresent(key: string, chat: Chat, present: boolean): void {
    if (chat.present === present) return;
    chat.present = present;
    for (const turn of this.#turns(key)) turn.setPresent(present);
  }

  #turns(key: string): TurnHandle[] {
    return this.#deps.turns.open(key).filter(({ turn }) => turn.channel === CHAT_CHANNEL);
  }
}

/**
 * One connection's place in one chat: replays what the client has not seen, then follows. It is nothing
 * but a number and a wait; a chat in which nothing happens costs no timer.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import type { StoredEvent } from "../../../lib/contract/events.ts";
import type { ChatHead, ChatPlace, Chats } from "../../../lib/contract/chats.ts";
import type { Connection } from "../socket/connection.ts";
import { ChatFrames, type FrameSource } from "./chat_frames.ts";

/** What a cursor works with. */
export interface ChatCursorDeps {
  chats: Pick<Chats, "whenMade" | "follow" | "head">;
  connection: Pick<Connection, "send" | "whenDrained">;
  source: FrameSource;
}

/** Events before the client's number that are looked at first for the begin of a stretch. */
const FIRST_LOOK_BACK = 64;

/** Events of a replay that are read before others have their turn. */
const EVENTS_AT_ONCE = 512;

export class ChatCursor {
  readonly #deps: ChatCursorDeps;
  readonly #place: ChatPlace;
  /** What it waits in. */
  #wait: { return(): unknown } | undefined;
  #isStopped = false;

  constructor(deps: ChatCursorDeps, place: ChatPlace) {
    this.#deps = deps;
    this.#place = place;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Sends nothing any more, and waits for nothing. */
  stop(): void {
    this.#isStopped = true;
    void this.#wait?.return();
  }

  /** Calls when the chat is there, which may be now, unless it is stopped before. */
  whenThere(call: () => void): void {
    this.#wait = this.#deps.chats.whenMade(this.#place, call);
    if (this.#wait === undefined) call();
  }

  /**
   * Sends the frames of the chat behind a number until the chat is deleted, the service stops, or it is
   * stopped; resolves with where it was then. A replay waits for the client, and what is live does not: a
   * client that cannot keep up then is closed by its connection.
   */
  async run(afterSeq: number): Promise<ChatHead> {
    const { chats, connection, source } = this.#deps;
    const place = this.#place;
    const { epoch } = chats.head(place);
    let lookBack = source.streaming ? 0 : FIRST_LOOK_BACK;
    let isLive = false;
    let replayed = 0;
    /** The chat's end when it was last asked for. */
    let head = 0;
    again: for (;;) {
      const from = Math.max(0, afterSeq - lookBack);
      const frames = new ChatFrames(source, place.chatId, afterSeq);
      let isWhole = from === 0 || from === afterSeq;
      let seq = afterSeq;
      const events = chats.follow(place, { afterSeq: from });
      this.#wait = events;
      for await (const stored of events) {
        // A long replay of what is not shown waits for no client, and would hold up all others.
        if (!isLive && ++replayed % EVENTS_AT_ONCE === 0) await setImmediate();
        if (this.#isStopped) return { seq, epoch };
        if (stored.seq <= afterSeq) {
          isWhole ||= isOutsideStretches(stored);
          frames.push(stored);
          if (stored.seq === afterSeq && !isWhole) {
            lookBack *= 4;
            continue again;
          }
          continue;
        }
        const frame = frames.push(stored);
        seq = stored.seq;
        if (frame !== undefined) connection.send(frame);
        if (isLive) continue;
        if (seq >= head) ({ seq: head } = chats.head(place));
        if (seq >= head) {
          isLive = true;
          continue;
        }
        await connection.whenDrained();
        if (this.#isStopped) return { seq, epoch };
      }
      return { seq, epoch };
    }
  }
}

/** Whether no stretch of an answer can reach over this event: a chat has one turn at a time. */
function isOutsideStretches({ event }: StoredEvent): boolean {
  return event.type === "turn_start" || event.type === "turn_end";
}

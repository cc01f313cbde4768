/**
 * The chats of one connection: which it follows, and what is at work in each.
 *
 * @module
 */

import type { ChatHead, ChatPlace, Chats } from "../../../lib/contract/chats.ts";
import { ServiceError } from "../../../lib/base/errors.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { ServerFrame } from "../../../lib/contract/wire/frames.ts";
import type { Connection } from "../socket/connection.ts";
import { OutFrame } from "../socket/out_frame.ts";
import { ChatCursor } from "./chat_cursor.ts";
import type { FrameSource } from "./chat_frames.ts";
import { may } from "./may.ts";
import type { Resumable, ResumeTickets } from "./resume_tickets.ts";

/** Chats that a connection follows at once; an error frame beyond. */
export const MAX_CHATS = 256;

/** What the chats of a connection work with. */
export interface FollowedChatsDeps {
  chats: Pick<Chats, "whenMade" | "follow" | "head" | "join">;
  connection: Pick<Connection, "peer" | "send" | "whenDrained" | "close">;
  source: FrameSource;
  tickets: ResumeTickets;
  log: Pick<Log, "error">;
}

/** A chat that is followed. */
interface Followed {
  /** The number after which it was followed first: whoever may not read receives nothing before. */
  fromSeq: number;
  cursor: ChatCursor;
  leave: (() => void) | undefined;
  /** What was sent to it and is not accepted yet, one after the other. */
  work: Promise<void> | undefined;
}

export class FollowedChats {
  readonly #deps: FollowedChatsDeps;
  readonly #followed = new Map<string, Followed>();
  #ended = false;

  constructor(deps: FollowedChatsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#followed.size;
  }

  has(chatId: string): boolean {
    return this.#followed.has(chatId);
  }

  /** The number after which the connection may see the chat, whoever may not read; undefined: not at all. */
  fromSeq(chatId: string): number | undefined {
    return this.#followed.get(chatId)?.fromSeq;
  }

  /** Throws when another chat would be too many. */
  requireRoom(): void {
    if (this.#followed.size < MAX_CHATS) return;
    throw new ServiceError(
      "invalid_request",
      `This connection follows ${MAX_CHATS} chats, and cannot follow more: open another one`,
    );
  }

  /**
   * Follows a chat behind a number; one that is followed begins again there. Throws when it is one too many.
   * `fromSeq`: that of an earlier connection, for which this one goes on.
   */
  follow(chatId: string, afterSeq: number, fromSeq = afterSeq): void {
    if (this.#ended) return;
    let followed = this.#followed.get(chatId);
    if (followed === undefined) {
      this.requireRoom();
      const { chats, connection } = this.#deps;
      followed = {
        fromSeq,
        cursor: this.#cursor(chatId),
        leave: may(connection.peer, "chat") ? chats.join(this.place(chatId)) : undefined,
        work: undefined,
      };
      this.#followed.set(chatId, followed);
    } else {
      followed.cursor.stop();
      followed.cursor = this.#cursor(chatId);
    }
    this.#run(chatId, afterSeq, followed.cursor);
  }

  /**
   * Does things in a chat one after the other; resolves when this one is done. What fails is told where
   * it is done. Things of a chat that is not followed are not ordered.
   */
  inOrder(chatId: string, run: () => Promise<void>): Promise<void> {
    const followed = this.#followed.get(chatId);
    if (followed === undefined) return run();
    const work = followed.work === undefined ? run() : followed.work.then(run, run);
    followed.work = work;
    const done = () => {
      if (followed.work === work) followed.work = undefined;
    };
    work.then(done, done);
    return work;
  }

  /** Where a chat is for this connection's person. */
  place(chatId: string): ChatPlace {
    const { workspaceKey } = this.#deps.connection.peer;
    return workspaceKey === undefined ? { chatId } : { chatId, workspaceKey };
  }

  /** What a ticket for a chat is for, as the chat is now. */
  resumable(chatId: string): Resumable {
    const { chats, connection: { peer: { tokenId } } } = this.#deps;
    const place = this.place(chatId);
    const { epoch } = chats.head(place);
    return { ...place, epoch, ...tokenId !== undefined && { tokenId } };
  }

  /** By which a later connection goes on in a chat; nothing for whoever may read, who needs none. */
  ticket(chatId: string, fromSeq = this.fromSeq(chatId)): { resume?: string } {
    const { connection: { peer }, tickets } = this.#deps;
    if (fromSeq === undefined || may(peer, "read")) return {};
    return { resume: tickets.issue(this.resumable(chatId), fromSeq) };
  }

  /** Says where a chat is, and so that it is followed; `fromSeq` as for {@linkcode FollowedChats.follow}. */
  sayAttached(chatId: string, { sourceChatId, fromSeq }: {
    sourceChatId?: string;
    fromSeq?: number;
  } = {}): void {
    const { seq, epoch } = this.#deps.chats.head(this.place(chatId));
    this.#say({
      event: "attached",
      chat_id: chatId,
      epoch,
      last_seq: seq,
      ...this.ticket(chatId, fromSeq),
      ...sourceChatId !== undefined && { source_chat_id: sourceChatId },
    });
  }

  /** Follows a chat no longer. What was sent to it goes on. */
  leave(chatId: string): void {
    const followed = this.#followed.get(chatId);
    this.#followed.delete(chatId);
    followed?.cursor.stop();
    followed?.leave?.();
  }

  /** Leaves all chats. */
  end(): void {
    this.#ended = true;
    for (const chatId of this.#followed.keys()) this.leave(chatId);
  }

  #cursor(chatId: string): ChatCursor {
    return new ChatCursor(this.#deps, this.place(chatId));
  }

  #run(chatId: string, afterSeq: number, cursor: ChatCursor): void {
    try {
      cursor.whenThere(() =>
        cursor.run(afterSeq)
          .then((seen) => this.#goOn(chatId, seen, cursor))
          .catch((error) => this.#fail(chatId, error, cursor))
      );
    } catch (error) {
      this.#fail(chatId, error, cursor);
    }
  }

  #fail(chatId: string, error: unknown, cursor: ChatCursor): void {
    if (cursor.isStopped) return;
    this.#deps.log.error("A chat could not be followed", {
      chat_id: chatId,
      reason: error instanceof Error ? error.message : String(error),
    });
    // Or it would show a gap.
    this.#deps.connection.close(1011, "Internal error: reconnect and resume");
  }

  /** A cursor has ended by itself. */
  #goOn(chatId: string, seen: ChatHead, cursor: ChatCursor): void {
    if (cursor.isStopped) return;
    const now = this.#deps.chats.head(this.place(chatId));
    // It ended and is what it was: the service stops, and the connection with it.
    if (now.seq >= seen.seq && now.epoch === seen.epoch) return;
    this.#say({
      event: "session_updated",
      chat_id: chatId,
      scope: "deleted",
      model_preset: null,
    });
    this.#followed.get(chatId)!.fromSeq = 0;
    this.sayAttached(chatId);
    this.#run(chatId, 0, cursor);
  }

  #say(frame: ServerFrame): void {
    this.#deps.connection.send(new OutFrame(frame));
  }
}

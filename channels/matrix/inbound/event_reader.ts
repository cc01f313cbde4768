/**
 * Which events of a room are for the agent, and what they say.
 *
 * @module
 */

import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { chatIdOf } from "../chat_id.ts";
import type { Rooms } from "../sync/rooms.ts";
import type { MatrixEvent } from "../sync/sync_answer.ts";
import { isAddressed, type OwnNames, withoutName } from "./addressing.ts";
import type { ForeignWriters } from "./foreign_writers.ts";
import type { Heard } from "./heard.ts";
import { type ReadMessage, readMessage } from "./read_message.ts";

/** What events are read with. */
export interface EventReaderDeps {
  api: Pick<MatrixApi, "event">;
  me: OwnNames;
  rooms: Rooms;
  memory: Pick<Memory, "get" | "set">;
  foreign: ForeignWriters;
  respond: "mention" | "all";
  threads: "follow" | "always";
  isAllowed: (userId: string) => boolean;
  /** Somebody who may write has done so in an encrypted room. */
  onEncrypted: (roomId: string) => void;
  /** The answer to an approval that a reaction is, if it is one. */
  readReaction: (roomId: string, event: MatrixEvent) => Heard | undefined;
}

/** Senders of events that are remembered. */
const MAX_SENDERS = 1_000;

/** See the module. */
export class EventReader {
  readonly #deps: EventReaderDeps;
  /** Whether events that somebody replied to are ours. */
  readonly #ours = new Map<string, boolean>();

  constructor(deps: EventReaderDeps) {
    this.#deps = deps;
  }

  /** `isLive`: it has just happened. Undefined for what is not for the agent. Never rejects. */
  async read(roomId: string, event: MatrixEvent, isLive: boolean): Promise<Heard | undefined> {
    const { me, rooms, foreign, isAllowed, onEncrypted, readReaction } = this.#deps;
    const isSaid = event.type === "m.room.message" || event.type === "m.room.encrypted";
    if (event.sender === me.userId) {
      if (isLive && isSaid) foreign.saw(event);
      return undefined;
    }
    if (event.type === "m.room.encrypted") rooms.markEncrypted(roomId);
    if (!isAllowed(event.sender)) return undefined;
    if (event.type === "m.reaction") return readReaction(roomId, event);
    if (!isSaid) return undefined;
    // What is not encrypted there could not be answered either.
    if (rooms.isEncrypted(roomId)) return void onEncrypted(roomId);
    return await this.#readMessage(roomId, event);
  }

  async #readMessage(roomId: string, event: MatrixEvent): Promise<Heard | undefined> {
    const { me, rooms, memory, threads } = this.#deps;
    const senderName = rooms.nameOf(roomId, event.sender);
    const message = readMessage(event, senderName);
    if (message === undefined) return undefined;
    const isShared = !rooms.isDirect(roomId);
    if (isShared && !await this.#isForUs(roomId, message)) return undefined;
    const content = withoutName(message.text, me).trim();
    if (content === "" && message.file === undefined) return undefined;
    let { threadId } = message;
    if (isShared && threads === "always" && threadId === undefined) {
      threadId = event.eventId;
      memory.set("thread", threadId, true);
    }
    const chatId = chatIdOf({ roomId, threadId });
    if (chatId === undefined) return undefined;
    return {
      kind: "message",
      roomId,
      chatId,
      eventId: event.eventId,
      senderId: event.sender,
      senderName,
      content,
      isShared,
      ...threadId !== undefined && { threadId },
      ...event.sentAt !== undefined && { sentAt: event.sentAt },
      ...message.file !== undefined && { file: message.file },
    };
  }

  async #isForUs(roomId: string, message: ReadMessage): Promise<boolean> {
    const { respond, me, memory } = this.#deps;
    if (respond === "all" || isAddressed(message, me)) return true;
    const { replyTo, threadId } = message;
    if (threadId !== undefined && memory.get("thread", threadId) === true) return true;
    for (const eventId of [replyTo, threadId]) {
      if (eventId !== undefined && await this.#isOurs(roomId, eventId)) return true;
    }
    return false;
  }

  /** Whether the account has written an event. */
  async #isOurs(roomId: string, eventId: string): Promise<boolean> {
    const { api, me, foreign } = this.#deps;
    if (foreign.isOwn(eventId)) return true;
    const known = this.#ours.get(eventId);
    if (known !== undefined) return known;
    let isOurs: boolean;
    try {
      isOurs = (await api.event(roomId, eventId)).sender === me.userId;
    } catch {
      // Nobody can say; the next reply to it asks again.
      return false;
    }
    this.#ours.set(eventId, isOurs);
    if (this.#ours.size > MAX_SENDERS) this.#ours.delete(this.#ours.keys().next().value!);
    return isOurs;
  }
}

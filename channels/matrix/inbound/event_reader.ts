/**
 * Which events of a room are for the agent, and what they say.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { mentionOf, type PlatformSession, Tries } from "../../../lib/channel/platform/mod.ts";
import { isPassing, matrixFault } from "../api/matrix_faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { chatIdOf } from "../chat_id.ts";
import type { RoomEncryption } from "../crypto/room_encryption.ts";
import type { Rooms } from "../sync/rooms.ts";
import type { MatrixEvent } from "../sync/sync_answer.ts";
import { isAddressed, type OwnNames, withoutName } from "./addressing.ts";
import type { ForeignWriters } from "./foreign_writers.ts";
import type { MatrixItem } from "./heard.ts";
import { type ReadMessage, readMessage } from "./read_message.ts";

/** What events are read with. */
export interface EventReaderDeps {
  api: Pick<MatrixApi, "event">;
  me: OwnNames;
  rooms: Rooms;
  encryption: Pick<RoomEncryption, "isReadable" | "redacted">;
  session: Pick<PlatformSession<MatrixItem>, "memory" | "isAllowed">;
  foreign: ForeignWriters;
  respond: "mention" | "all";
  threads: "follow" | "always";
  /** Whether `allowFrom` lists somebody. */
  isListed: (userId: string) => boolean;
  /** Takes a reaction for the answer to an approval, if it is one. */
  onReaction: (roomId: string, event: MatrixEvent) => Promise<void>;
}

/** What is remembered of a message that was heard, by its room and event. */
interface Known {
  /** Event by which it was heard: itself, or an edit of it. */
  by: string;
  senderId: string;
  chatId: string;
}

const HEARD = "heard";

/** Events of which it is remembered who wrote them. */
const MAX_KNOWN = 10_000;

/** Events that the server is asked for in one round, so that no flood of replies holds up other chats. */
const MAX_LOOKUPS = 100;

/** People that a message names, whose names are looked for in it. */
const MAX_MENTIONS = 20;

/** Failures of one of those, before it counts as somebody else's. */
const LOOKUP_TRIES = 4;

export class EventReader {
  readonly #deps: EventReaderDeps;
  readonly #senders = new Map<string, string>();
  #lookups = 0;
  readonly #tries = new Tries(LOOKUP_TRIES);

  constructor(deps: EventReaderDeps) {
    this.#deps = deps;
  }

  /** An answer of the server is about to be read. */
  beginRound(): void {
    this.#lookups = 0;
  }

  /**
   * In clear text, where that can be had. `isLive`: it has just happened. Undefined for what is not for the agent. Rejects as the SDK does where
   * the server has to be asked and cannot be: the same event may be given again.
   */
  async read(
    roomId: string,
    event: MatrixEvent,
    isLive: boolean,
  ): Promise<MatrixItem | undefined> {
    const { me, rooms, encryption, foreign, session, isListed, onReaction } = this.#deps;
    const { eventId, sender } = event;
    const isReadable = encryption.isReadable || !rooms.isEncrypted(roomId);
    const isMessage = event.type === "m.room.message";
    const isEncrypted = event.type === "m.room.encrypted";
    if (isMessage) this.#know(eventId, sender);
    if (event.type === "m.room.redaction") return this.#readRedaction(roomId, event);
    if (sender === me.userId) {
      if (isLive && (isMessage || isEncrypted)) foreign.saw(event);
      return undefined;
    }
    if (!isListed(sender)) {
      const directChatId = chatIdOf({ roomId });
      const isDirect = isMessage && rooms.isDirect(roomId) && isReadable;
      if (isDirect && directChatId !== undefined) {
        const senderName = rooms.nameOf(roomId, sender);
        session.isAllowed({ senderId: sender, senderName, directChatId });
      }
      return undefined;
    }
    if (event.type === "m.reaction") return void await onReaction(roomId, event);
    if (!isMessage && !isEncrypted) return undefined;
    // What is not encrypted there could not be answered either.
    if (isMessage && isReadable) return await this.#readMessage(roomId, event);
    // It waits for its key.
    if (encryption.isReadable) return undefined;
    const isTold = session.memory.get("told_encrypted", roomId) === true;
    return isTold ? undefined : { task: "tell_encrypted", roomId };
  }

  async #readMessage(roomId: string, event: MatrixEvent): Promise<MatrixItem | undefined> {
    const { me, rooms, session: { memory }, threads } = this.#deps;
    const { sender: senderId } = event;
    const senderName = rooms.nameOf(roomId, senderId);
    const message = readMessage(event, senderName);
    if (message === undefined) return undefined;
    const { edits } = message;
    const known = edits === undefined ? undefined : this.#known(roomId, edits, event.eventId);
    const isShared = !rooms.isDirect(roomId);
    if (isShared && known === undefined && !await this.#isForUs(roomId, message)) return undefined;
    const author = known?.senderId ?? (edits && await this.#senderOf(roomId, edits));
    if (author !== undefined && author !== senderId) return undefined;
    // The new text of what was not heard is that message: the service knows one that it has had.
    const first = author === undefined ? event.eventId : edits!;
    const content = this.#withMentions(roomId, message, withoutName(message.text, me)).trim();
    const isNothing = content === "" && message.file === undefined;
    if (isNothing && known === undefined) return undefined;
    let { threadId } = message;
    if (isShared && known === undefined && threads === "always" && threadId === undefined) {
      threadId = first;
      memory.set("thread", threadId, true);
    }
    const chatId = known?.chatId ?? chatIdOf({ roomId, threadId });
    if (chatId === undefined) return undefined;
    if (known === undefined) {
      memory.set(HEARD, `${roomId} ${first}`, { by: event.eventId, senderId, chatId });
    }
    return {
      ...{ roomId, chatId, senderId, senderName, content, isShared },
      ...known === undefined ? { eventId: first } : { eventId: event.eventId, replaces: first },
      ...threadId !== undefined && { threadId },
      ...event.sentAt !== undefined && { sentAt: event.sentAt },
      ...message.file !== undefined && { file: message.file },
    };
  }

  /** What was heard before, and not by the same event in a round that failed. */
  #known(roomId: string, eventId: string, by: string): Known | undefined {
    const known = this.#deps.session.memory.get<Known>(HEARD, `${roomId} ${eventId}`);
    return known?.by === by ? undefined : known;
  }

  /** A moderator's counts as well: servers tell of none that its sender may not do. */
  #readRedaction(roomId: string, event: MatrixEvent): MatrixItem | undefined {
    const { rooms, encryption } = this.#deps;
    const { eventId, redacts = "", sentAt } = event;
    // One that waits for its key is not heard when that comes.
    encryption.redacted(roomId, redacts);
    const known = this.#known(roomId, redacts, eventId);
    if (known === undefined) return undefined;
    const { senderId, chatId } = known;
    return {
      ...{ roomId, chatId, eventId, replaces: redacts, sentAt, content: "", isShared: false },
      ...{ senderId, senderName: rooms.nameOf(roomId, senderId) },
    };
  }

  /** Clients write names that people have chosen themselves into the text, and a name may be a host's. */
  #withMentions(roomId: string, { mentions = [] }: ReadMessage, text: string): string {
    const { me, rooms } = this.#deps;
    const ids = mentions.slice(0, MAX_MENTIONS).filter((id) => id !== me.userId);
    return ids.flatMap((id) => rooms.nameOf(roomId, id).split(" "))
      .filter((word) => /[./]/.test(word))
      .reduce((said, word) => said.replaceAll(word, mentionOf(word)).replaceAll("@@", "@"), text);
  }

  async #isForUs(roomId: string, message: ReadMessage): Promise<boolean> {
    const { respond, me, session: { memory } } = this.#deps;
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
    const { me, foreign } = this.#deps;
    return foreign.isOwn(eventId) || await this.#senderOf(roomId, eventId) === me.userId;
  }

  /** Who has written an event; undefined where nobody can say: the next that names it asks again. */
  async #senderOf(roomId: string, eventId: string): Promise<string | undefined> {
    const known = this.#senders.get(eventId);
    if (known !== undefined) return known;
    this.#lookups += 1;
    if (this.#lookups > MAX_LOOKUPS) return undefined;
    try {
      const sender = String((await this.#deps.api.event(roomId, eventId)).sender);
      this.#know(eventId, sender);
      return sender;
    } catch (error) {
      const fault = matrixFault(error);
      if (fault instanceof PermanentDeliveryError) return undefined;
      if (isPassing(fault) && this.#tries.isLast(eventId)) return undefined;
      throw error;
    }
  }

  #know(eventId: string, sender: string): void {
    this.#senders.set(eventId, sender);
    if (this.#senders.size > MAX_KNOWN) this.#senders.delete(this.#senders.keys().next().value!);
  }
}

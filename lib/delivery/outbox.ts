/**
 * The service's side of messages for chats on other channels. Those for chats of this service are said
 * in them, in the transaction that notes them as sent; others are put on record until a channel
 * delivers them. Whoever sends one is told whether its channel is there.
 *
 * @module
 */

import { join } from "@std/path";
import type { OutFile } from "../contract/messages.ts";
import { CHAT_CHANNEL, chatOfSession, sessionKeyOf } from "../contract/chat_session.ts";
import { ServiceError } from "../base/errors.ts";
import type { Journal, OutboxMessage } from "../contract/journal.ts";
import { CHAT_ID } from "../contract/wire/frames.ts";
import type { HeldFile, MediaStore } from "../media/types.ts";
import type { AllowedMessage, Enqueued } from "../contract/ports.ts";

/** Rows that are read at once. */
const PAGE = 256;

/** What the outbox works with. */
export interface OutboxDeps {
  journal: Pick<Journal, "append" | "enqueue" | "outbox" | "requestKeyOf" | "say" | "turn"> & {
    deliveries: Pick<Journal["deliveries"], "counts">;
  };
  /** Whether a channel, or an instance, of this name runs. */
  isEnabled: (channel: string) => boolean;
  /** Where files of messages are kept; absent: none can be sent. */
  media?: Pick<MediaStore, "hold"> & { readonly dir: string };
  /** `Deliveries.wake`: a message for a chat of another channel is on record. */
  wake?: (runtimeName: string, chatId: string) => void;
}

/** The outbox. Its promises reject with what the journal rejects with, `overloaded` too. */
export interface Outbox {
  /**
   * A chat of the channel `websocket` is one of the workspace that the sending turn is in. Without a
   * turn, or in one of an automation, it may be `<owner>.<chat_id>`, as in the key of its session.
   * Throws `invalid_request` for one that is neither.
   */
  enqueue(message: OutboxMessage): Promise<Enqueued>;
  /** Keeps the files of a message that the gate has allowed, and queues it or puts them beside the answer. */
  send(message: AllowedMessage): Promise<Enqueued>;
  /**
   * Says what waits for chats because their channel was not enabled; to be called when it is. Resolves
   * with how many there were. After a crash in here, the rest goes on waiting, and none is said twice.
   */
  sayWaiting(): Promise<number>;
}

/** Makes the outbox. */
export function createOutbox(
  { journal, isEnabled, media, wake = () => {} }: OutboxDeps,
): Outbox {
  /** The session's key of the chat that a message is for. */
  function keyOf({ chatId, turnId }: OutboxMessage): string {
    const turn = turnId === undefined ? undefined : journal.turn(turnId);
    // An automation sends where whoever made it said, or granted exactly; a model anywhere else names
    // chats of its own workspace alone.
    const isFree = turn === undefined || turn.automation !== undefined;
    const key = `${CHAT_CHANNEL}:${chatId}`;
    if (isFree ? chatOfSession(key) === undefined : !CHAT_ID.test(chatId)) {
      throw new ServiceError(
        "invalid_request",
        `Cannot send to the chat ${JSON.stringify(chatId.slice(0, 300))} of ${CHAT_CHANNEL}: ` +
          "its id must be 1 to 64 of A-Z a-z 0-9 _ : -",
        { param: "chat_id" },
      );
    }
    const owner = turn && chatOfSession(turn.sessionKey)?.owner;
    return owner === undefined ? key : sessionKeyOf({ chatId, owner });
  }

  async function addToAnswer(turnId: string, files: readonly OutFile[]): Promise<Enqueued> {
    const replyTo = journal.requestKeyOf(turnId);
    const event = { type: "files" as const, files, ...replyTo !== undefined && { replyTo } };
    await journal.append(turnId, [event], "full");
    return { repeated: false, channelEnabled: true };
  }

  const outbox: Outbox = {
    async send({ files = [], withAnswer, ...message }) {
      const { turnId } = message;
      const held: HeldFile[] = [];
      try {
        const kept: OutFile[] = [];
        for (const { name, bytes } of files) {
          if (media === undefined) {
            throw new ServiceError("not_enabled", "No files can be kept here");
          }
          const file = await media.hold(bytes);
          held.push(file);
          kept.push({ name, path: join(media.dir, file.sha256) });
        }
        if (withAnswer && turnId !== undefined) return await addToAnswer(turnId, kept);
        return await outbox.enqueue({ ...message, ...kept.length > 0 && { media: kept } });
      } finally {
        // What is on record refers to them by now; one that cannot be let go is one for the next start.
        await Promise.allSettled(held.map((file) => file.release()));
      }
    },
    async enqueue(message) {
      if (message.channel !== CHAT_CHANNEL) {
        const added = await journal.enqueue(message);
        if (added) wake(message.channel, message.chatId);
        return { repeated: !added, channelEnabled: isEnabled(message.channel) };
      }
      const sessionKey = keyOf(message);
      const { id, turnId, content: text, media } = message;
      if (isEnabled(CHAT_CHANNEL)) {
        const said = await journal.say({ id, turnId, sessionKey, text, media });
        return { repeated: !said, channelEnabled: true };
      }
      const chatId = sessionKey.slice(CHAT_CHANNEL.length + 1);
      const added = await journal.enqueue({ ...message, chatId });
      return { repeated: !added, channelEnabled: isEnabled(CHAT_CHANNEL) };
    },
    async sayWaiting() {
      let said = 0;
      // Most often none does, and there may be many rows of others.
      if (journal.deliveries.counts(CHAT_CHANNEL).waiting === 0) return said;
      for (let after = 0;;) {
        const rows = journal.outbox(after, PAGE);
        for (const { id, turnId, channel, chatId, content, media, state } of rows) {
          const sessionKey = `${CHAT_CHANNEL}:${chatId}`;
          const isWaiting = channel === CHAT_CHANNEL && state === "pending";
          if (!isWaiting || chatOfSession(sessionKey) === undefined) continue;
          if (await journal.say({ id, turnId, sessionKey, text: content, media })) said++;
        }
        if (rows.length < PAGE) return said;
        after = rows.at(-1)!.rowid;
      }
    },
  };
  return outbox;
}

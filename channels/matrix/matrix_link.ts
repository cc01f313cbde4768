/**
 * What works while the channel is logged in: everything that reads from the homeserver and writes to it,
 * put together.
 *
 * @module
 */

import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import type { EditedStreams } from "../../lib/channel/platform/edited_streams.ts";
import type { Intake } from "../../lib/channel/platform/intake.ts";
import type { Memory } from "../../lib/channel/platform/memory.ts";
import type { StatusNotes } from "../../lib/channel/platform/status_notes.ts";
import { Typing } from "../../lib/channel/platform/typing.ts";
import type { MatrixSession } from "./api/session.ts";
import { placeOf } from "./chat_id.ts";
import { EventReader } from "./inbound/event_reader.ts";
import { ForeignWriters } from "./inbound/foreign_writers.ts";
import type { Heard } from "./inbound/heard.ts";
import { Approvals } from "./outbound/approvals.ts";
import { createStreams } from "./outbound/streams.ts";
import { EncryptionNotes } from "./outbound/encryption_notes.ts";
import { MessageSender } from "./outbound/message_sender.ts";
import { createProgressNotes } from "./outbound/progress_notes.ts";
import { RoomWriter } from "./outbound/room_writer.ts";
import { Transactions } from "./outbound/transactions.ts";
import type { MatrixConfig } from "./settings.ts";
import { Invites } from "./sync/invites.ts";
import { Rooms } from "./sync/rooms.ts";
import { SyncLoop } from "./sync/sync_loop.ts";
import { textContent } from "./text/message_content.ts";
import { wordsOf } from "./words.ts";

/** What a link is made of. */
export interface MatrixLinkDeps {
  session: MatrixSession;
  displayName: string | undefined;
  config: MatrixConfig;
  host: Pick<ChannelHost, "clock" | "log">;
  memory: Memory;
  intake: Intake<Heard>;
  isAllowed: (userId: string) => boolean;
  signal: AbortSignal;
}

/** How long a server shows a sign, and how often it is renewed, milliseconds. */
const TYPING_MS = 30_000;
const TYPING_EVERY_MS = 22_000;

/** Between two edits of a note, milliseconds; fewer than of an answer, which is worth more. */
const NOTE_EVERY_MS = 2_000;

export interface MatrixLink {
  session: MatrixSession;
  rooms: Rooms;
  foreign: ForeignWriters;
  loop: SyncLoop;
  sender: MessageSender;
  approvals: Approvals;
  notes: StatusNotes<unknown>;
  streams: EditedStreams<unknown>;
  typing: Typing;
  /** Shows that a message was heard. Never rejects: it is a sign and no more. */
  acknowledge(heard: Heard, isNew: boolean): Promise<void>;
  /** Says something of the channel's own about a message, once. Never rejects. */
  tell(heard: Heard, text: string): Promise<void>;
  close(): Promise<void>;
}

export function createMatrixLink(deps: MatrixLinkDeps): MatrixLink {
  const { session, displayName, config, host, memory, intake, isAllowed, signal } = deps;
  const { clock, log } = host;
  const { api, userId } = session;
  const words = wordsOf(config.language);
  const rooms = new Rooms();
  const foreign = new ForeignWriters();
  const transactions = new Transactions(memory);
  const writer = new RoomWriter({ api, rooms, foreign });
  const sender = new MessageSender({ api, writer, transactions, words });
  const approvals = new Approvals({
    sender,
    writer,
    transactions,
    memory,
    words,
    now: () => clock.now(),
    log,
  });
  const everyMs = Math.min(config.editEveryMs, NOTE_EVERY_MS);
  const notes = createProgressNotes({ writer, transactions, memory, words, clock, everyMs });
  const streams = createStreams({ writer, transactions, clock, everyMs: config.editEveryMs });
  const encryption = new EncryptionNotes({ api, foreign, transactions, memory, words, log });
  const inviters = config.inviteFrom ?? [];
  const invites = new Invites({
    api,
    me: userId,
    isWelcome: inviters.length === 0
      ? isAllowed
      : (id) => inviters.includes("*") || inviters.includes(id),
    log,
    clock,
    signal,
  });
  const reader = new EventReader({
    api,
    me: { userId, displayName },
    rooms,
    memory,
    foreign,
    respond: config.respond,
    threads: config.threads,
    isAllowed,
    onEncrypted: (roomId) => encryption.tell(roomId),
    readReaction: (roomId, event) => approvals.readReaction(roomId, event),
  });
  const showTyping = (chatId: string, timeoutMs: number) =>
    api.typing(placeOf(chatId)?.roomId ?? chatId, userId, timeoutMs);
  const typing = new Typing({
    clock,
    everyMs: TYPING_EVERY_MS,
    show: (chatId) => showTyping(chatId, TYPING_MS),
    hide: (chatId) => showTyping(chatId, 0),
  });
  const reaction = config.ackReaction.trim();

  return {
    session,
    rooms,
    foreign,
    loop: new SyncLoop({
      api,
      me: userId,
      rooms,
      invites,
      reader,
      intake,
      log,
      now: () => clock.now(),
    }),
    sender,
    approvals,
    notes,
    streams,
    typing,
    async acknowledge({ roomId, eventId, threadId, kind, chatId }, isNew) {
      const isTurn = kind === "message" && isNew;
      // Before anything is waited for: the end of a short turn may be here by then.
      if (isTurn) typing.begin(chatId);
      const isThread = threadId !== undefined && threadId !== eventId;
      await api.markRead(roomId, eventId, isThread ? threadId : undefined).catch(() => {});
      if (!isTurn) return;
      if (reaction === "" || reaction === "-") return;
      const txnId = await transactions.idOf("ack", eventId);
      await writer.react(roomId, eventId, reaction, txnId).catch(() => {});
    },
    async tell({ roomId, eventId, chatId }, text) {
      const threadId = placeOf(chatId)?.threadId;
      const event = textContent(text, "m.notice", threadId === undefined ? {} : { threadId });
      const txnId = await transactions.idOf("tell", eventId);
      await writer.send(roomId, "m.room.message", event, txnId).catch((error) =>
        log.warning("A note on a file was not sent", {
          room: roomId,
          reason: error instanceof Error ? error.message : String(error),
        })
      );
    },
    async close() {
      typing.close();
      streams.close();
      await notes.close();
      await Promise.all([invites.settled(), approvals.settled(), encryption.settled()]);
    },
  };
}

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
  host: Pick<ChannelHost, "clock" | "log" | "meet">;
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

export class MatrixLink {
  readonly session: MatrixSession;
  readonly rooms: Rooms;
  readonly foreign = new ForeignWriters();
  readonly loop: SyncLoop;
  readonly sender: MessageSender;
  readonly approvals: Approvals;
  readonly notes: StatusNotes<unknown>;
  readonly streams: EditedStreams<unknown>;
  readonly typing: Typing;
  readonly #deps: MatrixLinkDeps;
  readonly #transactions: Transactions;
  readonly #writer: RoomWriter;
  readonly #encryption: EncryptionNotes;
  readonly #invites: Invites;

  constructor(deps: MatrixLinkDeps) {
    const { session, config, host: { clock, log }, memory, intake } = deps;
    const { api, userId: me } = session;
    const { foreign } = this;
    const words = wordsOf(config.language);
    const now = () => clock.now();
    this.#deps = deps;
    this.session = session;
    const rooms = this.rooms = new Rooms();
    const transactions = this.#transactions = new Transactions(memory);
    const writer = this.#writer = new RoomWriter({ api, rooms, foreign });
    const sender = this.sender = new MessageSender({ api, writer, transactions, words });
    this.approvals = new Approvals({ sender, writer, transactions, memory, words, now, log });
    const { editEveryMs } = config;
    const everyMs = Math.min(editEveryMs, NOTE_EVERY_MS);
    this.notes = createProgressNotes({ writer, transactions, memory, words, clock, everyMs });
    this.streams = createStreams({ writer, transactions, clock, everyMs: editEveryMs });
    this.#encryption = new EncryptionNotes({ api, foreign, transactions, memory, words, log });
    const invites = this.#invites = this.#openInvites();
    const reader = this.#openReader();
    this.loop = new SyncLoop({ api, me, rooms, invites, reader, intake, log, now });
    const show = (chatId: string, timeoutMs: number) =>
      api.typing(placeOf(chatId)?.roomId ?? chatId, me, timeoutMs);
    this.typing = new Typing({
      clock,
      everyMs: TYPING_EVERY_MS,
      show: (chatId) => show(chatId, TYPING_MS),
      hide: (chatId) => show(chatId, 0),
    });
  }

  #openInvites(): Invites {
    const { session: { api, userId: me }, config, host, isAllowed, signal } = this.#deps;
    const { clock, log } = host;
    const inviters = config.inviteFrom ?? [];
    const isWelcome = inviters.length === 0
      ? isAllowed
      : (id: string) => inviters.includes("*") || inviters.includes(id);
    return new Invites({ api, me, isWelcome, log, clock, signal });
  }

  #openReader(): EventReader {
    const { session: { api, userId }, displayName, config, host, memory, isAllowed } = this.#deps;
    const { respond, threads } = config;
    const { rooms, foreign } = this;
    return new EventReader({
      ...{ api, me: { userId, displayName }, rooms, memory, foreign, respond, threads, isAllowed },
      meet: (stranger) => host.meet(stranger),
      onEncrypted: (roomId) => this.#encryption.tell(roomId),
      readReaction: (roomId, event) => this.approvals.readReaction(roomId, event),
    });
  }

  /** Shows that a message was heard. Never rejects: it is a sign and no more. */
  async acknowledge(heard: Heard, isNew: boolean): Promise<void> {
    const { roomId, eventId, threadId, kind, chatId } = heard;
    const { session: { api }, config } = this.#deps;
    const isTurn = kind === "message" && isNew;
    // Before anything is waited for: the end of a short turn may be here by then.
    if (isTurn) this.typing.begin(chatId);
    const isThread = threadId !== undefined && threadId !== eventId;
    await api.markRead(roomId, eventId, isThread ? threadId : undefined).catch(() => {});
    const reaction = config.ackReaction.trim();
    if (!isTurn || reaction === "" || reaction === "-") return;
    const txnId = await this.#transactions.idOf("ack", eventId);
    await this.#writer.react(roomId, eventId, reaction, txnId).catch(() => {});
  }

  /** Says something of the channel's own about a message, once. Never rejects. */
  async tell({ roomId, eventId, chatId }: Heard, text: string): Promise<void> {
    const threadId = placeOf(chatId)?.threadId;
    const event = textContent(text, "m.notice", threadId === undefined ? {} : { threadId });
    const txnId = await this.#transactions.idOf("tell", eventId);
    await this.#writer.send(roomId, "m.room.message", event, txnId).catch((error) =>
      this.#deps.host.log.warning("A note on a file was not sent", {
        room: roomId,
        reason: error instanceof Error ? error.message : String(error),
      })
    );
  }

  async close(): Promise<void> {
    this.typing.close();
    this.streams.close();
    await this.notes.close();
    const working = [this.#invites, this.approvals, this.#encryption];
    await Promise.all(working.map((each) => each.settled()));
  }
}

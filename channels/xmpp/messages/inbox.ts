/**
 * What comes in over a connection, on its way to the disk: as it is said, and out of archives.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import type { Intake } from "../../../lib/channel/platform/intake.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import { sleep } from "../../../lib/channel/platform/sleep.ts";
import type { Log } from "../../../lib/base/log.ts";
import { writeCursor } from "../archive/archive_cursor.ts";
import { catchUp, MAX_PAGES, PAGE_MESSAGES } from "../archive/catch_up.ts";
import { type ArchivedMessage, MessageArchive } from "../archive/message_archive.ts";
import { bareJid } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { StanzaError } from "../client/stanza_error.ts";
import type { XmlElement } from "../client/xmpp_library.ts";
import type { XmppSession } from "../client/xmpp_session.ts";
import type { Room } from "../rooms/room.ts";
import type { HeardMessage } from "./heard_message.ts";
import { archiveIdOf, hasForgedId, usable } from "./message_ids.ts";
import { type ArchivedAt, authorOf, readMessage } from "./read_message.ts";

/** What it works with. */
export interface InboxDeps {
  session: XmppSession;
  intake: Pick<Intake<HeardMessage>, "add" | "cursor">;
  memory: Pick<Memory, "get" | "set">;
  /** Whether the server of the account has an archive, and whether ids in it are the server's alone. */
  hasArchive: boolean;
  keepsIds: boolean;
  room: (jid: string) => Room | undefined;
  /** A message to the account itself, of whomever. */
  onDirect: (message: XmlElement) => void;
  respond: "mention" | "all";
  ignored: ReadonlySet<string>;
  isAllowed: (senderId: string) => boolean;
  /** Is told of somebody who wrote to the account alone and may not. */
  meet: ChannelHost["meet"];
  clock: Clock;
  log: Pick<Log, "info" | "warning">;
}

/** Messages of others after which it is kept how far an archive was read. */
const MAX_UNKEPT = 200;

const AGAIN_MS = 60_000;

const MAX_HELD = 1_000;

/** Of the archive of the account. */
export const ACCOUNT = "account";

/** Under which it is remembered what was heard, for corrections of it. */
const HEARD = "heard";

export class Inbox {
  readonly #deps: InboxDeps;
  readonly #archive: MessageArchive;
  /** Archives that were read up to now: what is said moves them on. */
  readonly #current = new Set<string>();
  readonly #cursors = new Map<string, string>();
  /** Archives that are being read; true where they have to be read once more behind that. */
  readonly #reading = new Map<string, boolean>();
  /** Messages that the server had kept, each to be told whether its archive has it. */
  readonly #held = new Map<string, (isArchived: boolean) => void>();
  readonly #ending = new AbortController();
  #pending = 0;
  #unkept = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: InboxDeps) {
    this.#deps = deps;
    this.#archive = new MessageArchive(deps.session);
  }

  /** Writes that are under way, each of which waits for those before it; behind them more may be read. */
  get writing(): Promise<void> {
    return this.#writing;
  }

  /** Takes a message; resolves when it is on the disk, undefined where there is nothing to keep. */
  take(message: XmlElement): Promise<void> | undefined {
    if (this.#archive.take(message)) return undefined;
    const { session } = this.#deps;
    const room = message.attrs.type === "groupchat"
      ? this.#deps.room(bareJid(message.attrs.from ?? ""))
      : undefined;
    this.#moveOn(message, room);
    const heard = this.#hear(message);
    if (heard === undefined) return this.#unkept >= MAX_UNKEPT ? this.#add([]) : undefined;
    const by = room?.jid ?? session.bareJid;
    const hasArchive = room === undefined ? this.#deps.hasArchive : room.has(NS.archive);
    if (hasArchive && hasForgedId(message, by)) {
      // Which is the archive's, the archive knows.
      return void this.catchUp(room);
    }
    // Kept for us while we were away, most often in the archive too, with an id there.
    const isStored = room === undefined && hasArchive && archiveIdOf(message, by) === undefined &&
      message.getChild("delay", NS.delay) !== undefined;
    return isStored && !this.#current.has(ACCOUNT) ? this.#hold(heard) : this.#add([heard]);
  }

  /** Reads what was said while we were away. Never rejects. */
  async catchUp(room?: Room): Promise<void> {
    if (room === undefined ? !this.#deps.hasArchive : !room.has(NS.archive)) return;
    const name = archiveOf(room);
    // What is said now is behind a gap, until that is read.
    this.#current.delete(name);
    const isReading = this.#reading.has(name);
    this.#reading.set(name, isReading);
    if (isReading) return;
    do {
      this.#reading.set(name, false);
      await this.#read(room, name);
    } while (this.#reading.get(name) === true && !this.#ending.signal.aborted);
    this.#reading.delete(name);
  }

  async #read(room: Room | undefined, name: string): Promise<void> {
    const { intake, session, clock, log } = this.#deps;
    const { signal } = this.#ending;
    const chat = room?.jid ?? ACCOUNT;
    try {
      const isWhole = await catchUp({
        archive: this.#archive,
        room: room?.jid,
        stored: intake.cursor(name),
        now: () => clock.now(),
        take: (messages, cursor) => {
          signal.throwIfAborted();
          // It goes further than what is remembered of before.
          this.#cursors.delete(name);
          return intake.add(this.#heardOf(messages, room).map(entryOf), { [name]: cursor });
        },
      });
      this.#current.add(name);
      if (room === undefined) this.#release();
      if (isWhole) return;
      const read = MAX_PAGES * PAGE_MESSAGES;
      log.warning("More was said while the channel was away than is read", { chat, read });
    } catch (error) {
      if (signal.aborted || session.isOver) return;
      const reason = error instanceof Error ? error.message : String(error);
      log.warning("An archive cannot be read", { chat, reason });
      const isRefused = error instanceof StanzaError && error.kind !== "wait";
      if (!isRefused) {
        return void sleep(AGAIN_MS, clock, signal).then(() => {
          if (!signal.aborted && room?.isIn !== false) void this.catchUp(room);
        });
      }
      // It says nothing of them: they are taken as they came.
      if (room === undefined) this.#release();
    }
  }

  /** Keeps how far archives were read. */
  async close(): Promise<void> {
    this.#ending.abort();
    // What still waits for the disk is read again; nothing waits for that.
    if (this.#cursors.size > 0 && this.#pending === 0) await this.#add([]).catch(() => {});
  }

  /** What a message says to us, remembered for corrections of it; undefined for what is not to be heard. */
  #hear(message: XmlElement, archived?: ArchivedAt): HeardMessage | undefined {
    const { session: { jid }, memory, clock, isAllowed, meet, onDirect } = this.#deps;
    if (message.attrs.type !== "groupchat") onDirect(message);
    const earlier = (author: string, id: string) => memory.get<string>(HEARD, nameOf(author, id));
    const context = { ...this.#deps, jid, heard: earlier, now: clock.now() };
    const heard = readMessage(message, context, archived);
    if (heard === undefined) return undefined;
    if (archived !== undefined) this.#forget(heard);
    if (isAllowed(heard.senderId)) {
      this.#remember(heard);
      return heard;
    }
    if (!heard.isRoom && archived === undefined) meet(heard);
    return undefined;
  }

  /** By the id that its author gave it, and by that of its room, which retractions name (XEP-0424). */
  #remember(heard: HeardMessage): void {
    // The agent does not have it.
    if (heard.isEncrypted) return;
    const { id, replyId, replaces = heard.messageId } = heard;
    for (const name of new Set([usable(id), usable(replyId)])) {
      if (name !== undefined) this.#deps.memory.set(HEARD, nameOf(authorOf(heard), name), replaces);
    }
  }

  #heardOf(messages: readonly ArchivedMessage[], room: Room | undefined): HeardMessage[] {
    return messages.flatMap(({ message, id, sentAt }) => {
      const { type, from = "" } = message.attrs;
      // What was said in a room has an id of its own in the archive of the account.
      if ((type === "groupchat") !== (room !== undefined)) return [];
      if (room !== undefined && bareJid(from) !== room.jid) return [];
      return this.#hear(message, { id, sentAt }) ?? [];
    });
  }

  /** Waits until the archive has said whether it has the message; resolves when it is on the disk. */
  #hold(heard: HeardMessage): Promise<void> {
    if (this.#held.size >= MAX_HELD) return this.#add([heard]);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#forget(heard);
    this.#held.set(keyOf(heard), resolve);
    return promise.then((isArchived) => isArchived ? undefined : this.#add([heard]));
  }

  /** The archive has it. */
  #forget(heard: HeardMessage): void {
    const key = keyOf(heard);
    this.#held.get(key)?.(true);
    this.#held.delete(key);
  }

  /** What the archive does not have is kept as it came. */
  #release(): void {
    for (const tell of this.#held.values()) tell(false);
    this.#held.clear();
  }

  /** Remembers up to where an archive is known now. */
  #moveOn(message: XmlElement, room: Room | undefined): void {
    const name = archiveOf(room);
    if (!this.#current.has(name)) return;
    const by = room?.jid ?? this.#deps.session.bareJid;
    const id = archiveIdOf(message, by);
    if (id === undefined) return;
    this.#cursors.set(name, writeCursor({ id, at: this.#deps.clock.now() }));
    this.#unkept += 1;
  }

  async #add(heard: readonly HeardMessage[]): Promise<void> {
    const cursors = Object.fromEntries(this.#cursors);
    this.#cursors.clear();
    this.#unkept = 0;
    this.#pending += 1;
    // How far it was read is kept behind all that was said until there. What could not be kept is read
    // again out of the archive, so that nothing behind it may be.
    const writing = this.#writing.then(() => this.#deps.intake.add(heard.map(entryOf), cursors));
    this.#writing = writing;
    writing.catch(() => {});
    try {
      await writing;
    } finally {
      this.#pending -= 1;
    }
  }
}

/** By which the same message is known in two places. */
function keyOf({ from, id, content }: HeardMessage): string {
  return JSON.stringify([from, id, content]);
}

function archiveOf(room: Room | undefined): string {
  return room === undefined ? ACCOUNT : `room:${room.jid}`;
}

function nameOf(author: string, id: string): string {
  return JSON.stringify([author, id]);
}

function entryOf(heard: HeardMessage): { lane: string; id: string; data: HeardMessage } {
  return { lane: heard.chatId, id: heard.messageId, data: heard };
}

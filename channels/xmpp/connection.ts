/**
 * A connection with all that lives as long as it: rooms, archives, and who is a bot.
 *
 * @module
 */

import type { PlatformSession } from "../../lib/channel/platform/mod.ts";
import { accountFeatures } from "./client/discover.ts";
import { bareJid, isUnder } from "./client/jid.ts";
import { ownCaps, ownInfo } from "./client/own_abilities.ts";
import { xml, type XmlElement } from "./client/xmpp_library.ts";
import { XmppSession } from "./client/xmpp_session.ts";
import { findUpload, type UploadService } from "./files/upload.ts";
import { Bots } from "./messages/bots.ts";
import type { HeardMessage } from "./messages/heard_message.ts";
import { ACCOUNT, Inbox } from "./messages/inbox.ts";
import { readInvitation } from "./messages/read_message.ts";
import { Room } from "./rooms/room.ts";
import type { WantedRoom, XmppSettings } from "./settings.ts";

/** What it works with. */
export interface ConnectionDeps {
  settings: XmppSettings;
  caCerts: readonly string[];
  platform: PlatformSession<HeardMessage>;
  /** Whether `allowFrom` lists somebody. */
  isListed: (senderId: string) => boolean;
  onChange: () => void;
}

/** Rooms that people have invited us to, at most. */
const MAX_INVITED = 50;

export class Connection {
  readonly session: XmppSession;
  readonly bots: Bots;
  readonly #deps: ConnectionDeps;
  readonly #inbox: Inbox;
  readonly #rooms = new Map<string, Room>();
  #upload: Promise<UploadService | undefined> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    deps: ConnectionDeps,
    session: XmppSession,
    features: { hasArchive: boolean; keepsIds: boolean },
  ) {
    this.#deps = deps;
    this.session = session;
    this.bots = new Bots(session);
    const { settings, isListed, platform } = deps;
    const { receive: add, cursor, memory, host: { clock, log } } = platform;
    for (const wanted of settings.rooms) this.#makeRoom(wanted, true);
    for (const wanted of this.#invited()) this.#makeRoom(wanted, false);
    this.#inbox = new Inbox({
      ...{ session, memory, clock, log, ...features },
      intake: { add, cursor },
      isAllowed: isListed,
      meet: ({ senderId, senderName, chatId: directChatId }) =>
        void platform.isAllowed({ senderId, senderName, directChatId }),
      room: (jid) => this.room(jid),
      onDirect: (message) => this.#takeInvitation(message),
      respond: settings.respond,
      ignored: new Set(settings.ignore.map((one) => one.toLowerCase())),
    });
  }

  /** Logs in, says that we are there, and reads what was said meanwhile. Rejects as a session does. */
  static async open(deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
    const { settings: { jid, password, host, port, tls }, caCerts, platform } = deps;
    let connection: Connection | undefined;
    const session = await XmppSession.open({
      address: { host, port, tls, domain: jid.domain, caCerts },
      login: { ...jid, password },
      clock: platform.host.clock,
      room: () => connection && connection.#inbox.writing,
      onStanza: (stanza) => connection && connection.#take(stanza),
      info: ownInfo,
    }, signal);
    try {
      const features = await accountFeatures(session);
      signal.throwIfAborted();
      connection = new Connection(deps, session, features);
      // The first start begins with this moment, before anybody sees that we are there.
      if (platform.cursor(ACCOUNT) === undefined) await connection.#inbox.catchUp();
      session.post(xml("presence", {}, ownCaps()));
      // What is said to us from now on comes over this connection.
      await session.ping();
      signal.throwIfAborted();
    } catch (error) {
      await session.close();
      throw error;
    }
    void connection.#inbox.catchUp();
    for (const room of connection.#rooms.values()) void room.join();
    return connection;
  }

  /** One that we are in, or want to be. */
  room(jid: string): Room | undefined {
    return this.#rooms.get(jid);
  }

  /** Where the server takes files, if anywhere; looked for once. */
  upload(): Promise<UploadService | undefined> {
    return this.#upload ??= findUpload(this.session, this.#deps.settings.jid.domain)
      .catch((error) => {
        this.#upload = undefined;
        throw error;
      });
  }

  /** Who we are, and in which rooms, or why not, for people. */
  describe(): string {
    const rooms = [...this.#rooms.values()];
    const inside = rooms.filter(({ isIn }) => isIn).map((room) =>
      room.nick === room.wantedNick ? room.jid : `${room.jid} as ${room.nick}`
    );
    const places = [
      ...inside.length > 0 ? [`in ${inside.join(", ")}`] : [],
      ...rooms.flatMap(({ jid, isIn, problem }) => isIn ? [] : `not in ${jid}: ${problem}`),
    ];
    return `${this.session.bareJid}${places.length > 0 ? `, ${places.join("; ")}` : ""}`;
  }

  /** Ends it, with a word where that can be. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** What the server answers until then counts: how far an archive was read. */
  async #close(): Promise<void> {
    for (const room of this.#rooms.values()) room.close(!this.session.isOver);
    await this.session.close();
    await this.#inbox.close();
  }

  /** Takes a message or presence; resolves when it is on the disk. */
  #take(stanza: XmlElement): Promise<void> | undefined {
    if (stanza.name === "message") return this.#inbox.take(stanza);
    const { from = "", type } = stanza.attrs;
    const bare = bareJid(from);
    if (type === "unavailable") this.bots.forget(from);
    const room = this.room(bare);
    if (room !== undefined) return void room.takePresence(stanza);
    if (type !== "subscribe" || bare === this.session.bareJid) return;
    // Who may not write need not see whether we are there.
    const answer = this.#deps.isListed(bare) ? "subscribed" : "unsubscribed";
    this.session.post(xml("presence", { to: bare, type: answer }));
  }

  /** What a room says of addresses counts where the operator has named it, or its server is ours. */
  #makeRoom(wanted: WantedRoom, isNamed: boolean): Room {
    const known = this.room(wanted.jid);
    if (known !== undefined) return known;
    const { settings, platform } = this.#deps;
    const host = wanted.jid.slice(wanted.jid.indexOf("@") + 1);
    const room = new Room(wanted, {
      session: this.session,
      clock: platform.host.clock,
      isBelieved: isNamed || isUnder(host, settings.jid.domain),
      onChange: () => this.#roomsChanged(),
      onJoined: (room) => void this.#inbox.catchUp(room),
    });
    this.#rooms.set(wanted.jid, room);
    return room;
  }

  /** Those that we were invited to and have not been sent away from. */
  #invited(): WantedRoom[] {
    return this.#deps.platform.memory.get<WantedRoom[]>("invited", "rooms") ?? [];
  }

  #roomsChanged(): void {
    const invited = this.#invited();
    const left = invited.filter(({ jid }) => this.room(jid)?.isFinal !== true);
    if (left.length < invited.length) this.#deps.platform.memory.set("invited", "rooms", left);
    this.#deps.onChange();
  }

  #takeInvitation(message: XmlElement): void {
    const { settings: { inviteFrom, nick }, platform: { memory, host: { log } } } = this.#deps;
    const invitation = readInvitation(message, this.session.jid);
    if (invitation === undefined) return;
    const { room, by, password } = invitation;
    if (!inviteFrom.includes(by)) {
      return log.info("An invitation to a room was left alone", { room, by });
    }
    if (this.room(room) !== undefined) return;
    const invited = this.#invited();
    if (invited.length >= MAX_INVITED) {
      return log.warning("An invitation to a room was left alone: there are too many", { room });
    }
    const wanted: WantedRoom = { jid: room, nick, ...password !== undefined && { password } };
    memory.set("invited", "rooms", [...invited, wanted]);
    void this.#makeRoom(wanted, false).join();
  }
}

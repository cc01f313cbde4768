/**
 * A connection with all that lives as long as it: rooms, archives, and who is a bot.
 *
 * @module
 */

import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import type { Clock } from "../../lib/base/clock.ts";
import type { Memory } from "../../lib/channel/platform/memory.ts";
import type { Log } from "../../lib/base/log.ts";
import type { WantedRoom, XmppSettings } from "./settings.ts";
import { bareJid } from "./client/jid.ts";
import { NS } from "./client/namespaces.ts";
import type { OwnAbilities } from "./client/own_abilities.ts";
import { xml, type XmlElement } from "./client/xmpp_library.ts";
import { XmppSession } from "./client/xmpp_session.ts";
import { StanzaError } from "./client/stanza_error.ts";
import { Bots } from "./messages/bots.ts";
import { Inbox, type InboxDeps } from "./messages/inbox.ts";
import { accountFeatures } from "./client/account_features.ts";
import { readInvitation } from "./messages/read_message.ts";
import { Rooms } from "./rooms/rooms.ts";

/** What it works with. */
export interface ConnectionDeps {
  settings: XmppSettings;
  caCerts: readonly string[];
  abilities: OwnAbilities;
  intake: InboxDeps["intake"];
  memory: Memory;
  isAllowed: (senderId: string) => boolean;
  /** Is told of somebody who wrote to the account alone and may not. */
  meet: ChannelHost["meet"];
  clock: Clock;
  log: Pick<Log, "info" | "warning">;
  onChange: () => void;
}

/** Rooms that people have invited us to, at most. */
const MAX_INVITED = 50;

export class Connection {
  readonly session: XmppSession;
  readonly rooms: Rooms;
  readonly bots: Bots;
  readonly #deps: ConnectionDeps;
  readonly #inbox: Inbox;
  #closing: Promise<void> | undefined;

  private constructor(
    deps: ConnectionDeps,
    session: XmppSession,
    features: { hasArchive: boolean; keepsIds: boolean },
  ) {
    this.#deps = deps;
    this.session = session;
    const { settings, abilities, clock } = deps;
    this.bots = new Bots(session);
    this.rooms = new Rooms({
      session,
      wanted: settings.rooms,
      invited: invitedRooms(deps.memory),
      domain: settings.jid.domain,
      caps: abilities.caps,
      clock,
      onChange: () => this.#roomsChanged(),
      onJoined: (room) => void this.#inbox.catchUp(room),
    });
    this.#inbox = new Inbox({
      ...deps,
      session,
      ...features,
      room: (jid) => this.rooms.get(jid),
      onDirect: (message) => this.#takeInvitation(message),
      respond: settings.respond,
      ignored: new Set(settings.ignore.map((one) => one.toLowerCase())),
    });
  }

  /** Logs in, says that we are there, and reads what was said meanwhile. Rejects as a session does. */
  static async open(deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
    const { settings: { jid, password, host, port, tls }, caCerts, abilities, clock } = deps;
    let connection: Connection | undefined;
    const session = await XmppSession.open({
      address: { host, port, tls, domain: jid.domain, caCerts },
      login: { local: jid.local, domain: jid.domain, resource: jid.resource, password },
      clock,
      room: () => connection?.room(),
      onStanza: (stanza) => connection?.take(stanza),
      info: abilities.info,
    }, signal);
    try {
      const features = await accountFeatures(session);
      signal.throwIfAborted();
      connection = new Connection(deps, session, features);
      await connection.#inbox.begin();
      await connection.#appear();
      signal.throwIfAborted();
    } catch (error) {
      connection?.rooms.close();
      await session.close();
      throw error;
    }
    connection.#begin();
    return connection;
  }

  /** To be waited for before more is read. */
  room(): Promise<void> | undefined {
    return this.#inbox.room();
  }

  /** Takes a message or presence; resolves when it is on the disk. */
  take(stanza: XmlElement): Promise<void> | undefined {
    if (stanza.name === "presence") return void this.#takePresence(stanza);
    const { from = "", type, id = "" } = stanza.attrs;
    const room = type === "groupchat" ? this.rooms.get(bareJid(from)) : undefined;
    if (room !== undefined && from === `${room.jid}/${room.nick}`) room.takeEcho(id);
    return this.#inbox.take(stanza);
  }

  /** Ends it, with a word where that can be. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** What the server answers until then counts: how far an archive was read. */
  async #close(): Promise<void> {
    this.rooms.close(!this.session.isOver);
    await this.session.close();
    await this.#inbox.close();
  }

  /** Resolves when what is said to us from now on comes over this connection. */
  async #appear(): Promise<void> {
    this.session.post(xml("presence", {}, this.#deps.abilities.caps()));
    const ping = this.session.request("get", undefined, xml("ping", { xmlns: NS.ping }));
    await ping.catch((error) => {
      if (!(error instanceof StanzaError)) throw error;
    });
  }

  #begin(): void {
    void this.#inbox.catchUp();
    this.rooms.join();
  }

  #roomsChanged(): void {
    const { memory } = this.#deps;
    const invited = invitedRooms(memory);
    const left = invited.filter(({ jid }) => this.rooms.get(jid)?.isFinal !== true);
    if (left.length < invited.length) memory.set("invited", "rooms", left);
    this.#deps.onChange();
  }

  #takePresence(presence: XmlElement): void {
    const { from = "", type } = presence.attrs;
    const bare = bareJid(from);
    if (type === "unavailable") this.bots.forget(from);
    if (this.rooms.takePresence(presence, bare)) return;
    if (type !== "subscribe" || bare === this.session.bareJid) return;
    // Who may not write need not see whether we are there.
    const answer = this.#deps.isAllowed(bare) ? "subscribed" : "unsubscribed";
    this.session.post(xml("presence", { to: bare, type: answer }));
  }

  #takeInvitation(message: XmlElement): void {
    const { settings: { inviteFrom, nick }, memory, log } = this.#deps;
    const invitation = readInvitation(message, this.session.jid);
    if (invitation === undefined) return;
    const { room, by, password } = invitation;
    if (!inviteFrom.includes(by)) {
      return log.info("An invitation to a room was left alone", { room, by });
    }
    if (this.rooms.get(room) !== undefined) return;
    if (invitedRooms(memory).length >= MAX_INVITED) {
      return log.warning("An invitation to a room was left alone: there are too many", { room });
    }
    const wanted: WantedRoom = { jid: room, nick, ...password !== undefined && { password } };
    memory.set("invited", "rooms", [...invitedRooms(memory), wanted]);
    this.rooms.add(wanted);
  }
}

/** Those that we were invited to and have not been sent away from. */
function invitedRooms(memory: Memory): WantedRoom[] {
  return memory.get<WantedRoom[]>("invited", "rooms") ?? [];
}

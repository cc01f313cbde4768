/**
 * A room, as one connection is in it (XEP-0045).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { WantedRoom } from "../settings.ts";
import { bareJid, resourceOf } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { StanzaError } from "../client/stanza_error.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { XmppSession } from "../client/xmpp_session.ts";
import { Echoes } from "./echoes.ts";
import type { Occupant } from "./occupant.ts";
import { exitReason, joinProblem } from "./room_problem.ts";

/** What a room works with. */
export interface RoomDeps {
  session: Pick<XmppSession, "request" | "post" | "bareJid">;
  clock: Clock;
  /** What says what we can do, for presences. */
  caps: () => XmlElement;
  /** Whether what the room says of addresses counts. */
  isBelieved: boolean;
  onChange: () => void;
  onJoined: (room: Room) => void;
}

/** First wait before it is tried again, and the longest, milliseconds. */
const AGAIN_MS = 30_000;
const MAX_AGAIN_MS = 10 * 60_000;

/** Who was in it for so long was wanted there. */
const STEADY_MS = 10 * 60_000;

/** Nobody says in all this time how the room takes us. */
const JOIN_TIMEOUT_MS = 60_000;

/** A room that says nothing for so long is asked whether we are in it (XEP-0410). */
const SILENCE_MS = 10 * 60_000;

const MAX_OCCUPANTS = 20_000;

/** Nicks that are tried where ours is in use. */
const MAX_NICKS = 5;

export class Room {
  readonly jid: string;
  readonly echoes: Echoes;
  readonly #deps: RoomDeps;
  readonly #wanted: WantedRoom;
  readonly #occupants = new Map<string, Occupant>();
  #features: ReadonlySet<string> = new Set();
  #nick: string;
  #isIn = false;
  #isOver = false;
  #isFinal = false;
  #failures = 0;
  #enteredMs = 0;
  #problem: string | undefined = "not joined yet";
  #cancel: () => void = () => {};

  constructor(wanted: WantedRoom, deps: RoomDeps) {
    this.jid = wanted.jid;
    this.#wanted = wanted;
    this.#nick = wanted.nick;
    this.#deps = deps;
    this.echoes = new Echoes(deps.clock);
  }

  /** How we are called in it. */
  get nick(): string {
    return this.#nick;
  }

  get wantedNick(): string {
    return this.#wanted.nick;
  }

  get isIn(): boolean {
    return this.#isIn;
  }

  /** Why we are not in it; undefined where we are. */
  get problem(): string | undefined {
    return this.#isIn ? undefined : this.#problem;
  }

  /** It is not tried again. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** Whether the room has it (XEP-0030). */
  has(feature: string): boolean {
    return this.#features.has(feature);
  }

  /** Whether what it says of somebody's address counts. */
  get isBelieved(): boolean {
    return this.#deps.isBelieved;
  }

  occupant(nick: string): Occupant | undefined {
    return this.#occupants.get(nick);
  }

  /** Who is in it with that id, under whichever nick. */
  occupantWithId(occupantId: string): Occupant | undefined {
    return this.#occupants.values().find((one) => one.occupantId === occupantId);
  }

  /** Looks what it is, and goes in. Never rejects. */
  async join(): Promise<void> {
    if (this.#isOver || this.#isIn) return;
    this.#cancel();
    this.#cancel = this.#deps.clock.after(JOIN_TIMEOUT_MS, () => this.#fail("it does not answer"));
    try {
      this.#features = await this.#askFeatures();
    } catch (error) {
      if (this.#isOver) return;
      // Going into a room that is not there would make it.
      if (error instanceof StanzaError && error.condition === "item-not-found") {
        return this.#fail("there is no such room");
      }
    }
    if (this.#isOver) return;
    // Somebody who has invited us to himself.
    if (this.#features.size > 0 && !this.has(NS.muc)) {
      this.#isFinal = true;
      return this.#fail("it is no room");
    }
    this.#enter();
  }

  /** Takes a presence of the room or of somebody in it. */
  takePresence(presence: XmlElement): void {
    if (this.#isOver) return;
    const { from = "", type } = presence.attrs;
    const nick = resourceOf(from);
    // The room's own; where somebody has written in another, the room has not looked.
    const users = presence.getChildren("x", NS.mucUser);
    const user = users.length === 1 ? users[0] : undefined;
    const codes = new Set(user?.getChildren("status").map(({ attrs }) => attrs.code));
    this.#heard();
    if (type === "error") return this.#takeError(presence);
    if (nick === "") return;
    const isOwn = codes.has("110") || (this.#isIn && nick === this.#nick);
    const item = user?.getChild("item");
    if (type === "unavailable") {
      this.#occupants.delete(nick);
      if (!isOwn) return;
      // A new nick, which the next presence has.
      if (codes.has("303") && item?.attrs.nick !== undefined) {
        this.#nick = item.attrs.nick;
        return this.#deps.onChange();
      }
      return this.#leftBy(user, codes);
    }
    if (type !== undefined) return;
    this.#keep(nick, presence, item);
    if (!isOwn) return;
    if (codes.has("201")) {
      // It was not there, and is now, for as long as we are in it.
      this.#deps.session.post(xml("presence", { to: from, type: "unavailable" }));
      return this.#fail("there is no such room");
    }
    this.#entered(nick);
  }

  /** A message of ours has come back. */
  takeEcho(id: string): void {
    this.#heard();
    this.echoes.take(id);
  }

  /** We have been told by an answer that we are not in it. */
  lost(): void {
    if (this.#isIn) this.#fail("we have fallen out of it", 0);
  }

  /** Ends its timers; leaves it where `isGoodbye`. */
  close(isGoodbye = false): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    this.echoes.close();
    if (isGoodbye && this.#isIn) {
      const to = `${this.jid}/${this.#nick}`;
      this.#deps.session.post(xml("presence", { to, type: "unavailable" }));
    }
  }

  async #askFeatures(): Promise<ReadonlySet<string>> {
    const answer = await this.#deps.session.request(
      "get",
      this.jid,
      xml("query", { xmlns: NS.discoInfo }),
    );
    const features = answer.getChild("query", NS.discoInfo)?.getChildren("feature") ?? [];
    return new Set(features.flatMap(({ attrs }) => attrs.var ?? []));
  }

  #enter(): void {
    const { password } = this.#wanted;
    this.#occupants.clear();
    this.#deps.session.post(xml(
      "presence",
      { to: `${this.jid}/${this.#nick}` },
      xml(
        "x",
        { xmlns: NS.muc },
        // What was said before is in the archive.
        xml("history", { maxstanzas: "0" }),
        password === undefined ? undefined : xml("password", {}, password),
      ),
      this.#deps.caps(),
    ));
  }

  #entered(nick: string): void {
    this.#nick = nick;
    if (this.#isIn) return;
    this.#isIn = true;
    this.#enteredMs = this.#deps.clock.elapsed();
    this.#heard();
    this.#deps.onChange();
    this.#deps.onJoined(this);
  }

  #keep(nick: string, presence: XmlElement, item: XmlElement | undefined): void {
    const jid = item?.attrs.jid;
    const occupantId = this.has(NS.occupantId)
      ? presence.getChild("occupant-id", NS.occupantId)?.attrs.id
      : undefined;
    if (this.#occupants.size >= MAX_OCCUPANTS && !this.#occupants.has(nick)) return;
    this.#occupants.set(nick, {
      ...jid !== undefined && { jid: bareJid(jid) },
      ...occupantId !== undefined && { occupantId },
    });
  }

  #takeError(presence: XmlElement): void {
    const error = StanzaError.of(presence);
    if (this.#isIn) return;
    if (error.condition === "conflict" && this.#nick.length < this.wantedNick.length + MAX_NICKS) {
      this.#nick = `${this.#nick}_`;
      return this.#enter();
    }
    this.#nick = this.wantedNick;
    this.#fail(joinProblem(error));
  }

  #leftBy(user: XmlElement | undefined, codes: ReadonlySet<string | undefined>): void {
    const { words, isFinal } = exitReason(user, codes);
    this.#isFinal = isFinal;
    this.#fail(words);
  }

  #fail(problem: string, waitMs?: number): void {
    if (this.#isOver) return;
    // Who is thrown out as soon as he comes in is not wanted, and comes less and less often.
    const stayedMs = this.#deps.clock.elapsed() - this.#enteredMs;
    if (this.#isIn && stayedMs >= STEADY_MS) this.#failures = 0;
    this.#isIn = false;
    this.#problem = problem;
    this.#cancel();
    if (!this.#isFinal) {
      const ms = waitMs ??
        Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** Math.min(this.#failures, 10));
      this.#failures += 1;
      this.#cancel = this.#deps.clock.after(ms, () => void this.join());
    }
    this.#deps.onChange();
  }

  /** Something came from the room; from now on silence is counted anew. */
  #heard(): void {
    if (!this.#isIn || this.#isOver) return;
    this.#cancel();
    this.#cancel = this.#deps.clock.after(SILENCE_MS, () => void this.#askWhetherIn());
  }

  async #askWhetherIn(): Promise<void> {
    try {
      const to = `${this.jid}/${this.#nick}`;
      await this.#deps.session.request("get", to, xml("ping", { xmlns: NS.ping }));
    } catch (error) {
      const isOut = error instanceof StanzaError &&
        !["service-unavailable", "feature-not-implemented", "item-not-found"].includes(
          error.condition,
        );
      if (isOut && this.#isIn) return this.lost();
    }
    this.#heard();
  }
}

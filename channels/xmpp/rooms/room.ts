/**
 * A room, as one connection is in it (XEP-0045).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { backoffMs } from "../../../lib/channel/platform/mod.ts";
import { discover } from "../client/discover.ts";
import { bareJid, resourceOf } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { ownCaps } from "../client/own_abilities.ts";
import { StanzaError } from "../client/stanza_error.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { XmppSession } from "../client/xmpp_session.ts";
import type { WantedRoom } from "../settings.ts";
import { exitReason, joinProblem } from "./room_problem.ts";

/** Somebody in a room. */
export interface Occupant {
  /** Bare address, where the room shows it. */
  jid?: string;
  /** XEP-0421, where the room has it. */
  occupantId?: string;
}

/** What a room works with. */
export interface RoomDeps {
  session: Pick<XmppSession, "request" | "post">;
  clock: Clock;
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

/** A room is asked so often whether we are still in it (XEP-0410). */
const CHECK_MS = 10 * 60_000;

const MAX_OCCUPANTS = 20_000;

/** Nicks that are tried where ours is in use. */
const MAX_NICKS = 5;

/** Errors of a ping that are no word on whether we are in it. */
const NO_WORD: readonly string[] = [
  "service-unavailable",
  "feature-not-implemented",
  "item-not-found",
];

export class Room {
  readonly jid: string;
  readonly wantedNick: string;
  /** Whether what it says of somebody's address counts. */
  readonly isBelieved: boolean;
  /** How we are called in it. */
  nick: string;
  isIn = false;
  /** Why we are not in it. */
  problem = "not joined yet";
  /** It is not tried again. */
  isFinal = false;
  readonly #deps: RoomDeps;
  readonly #password: string | undefined;
  readonly #occupants = new Map<string, Occupant>();
  #features: ReadonlySet<string> = new Set();
  #isOver = false;
  #failures = 0;
  #enteredMs = 0;
  /** Ends its one timer. */
  #cancel: () => void = () => {};

  constructor({ jid, nick, password }: WantedRoom, deps: RoomDeps) {
    this.jid = jid;
    this.nick = this.wantedNick = nick;
    this.isBelieved = deps.isBelieved;
    this.#password = password;
    this.#deps = deps;
  }

  /** Our address in it. */
  get ownJid(): string {
    return `${this.jid}/${this.nick}`;
  }

  /** Whether the room has it (XEP-0030). */
  has(feature: string): boolean {
    return this.#features.has(feature);
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
    if (this.#isOver || this.isIn) return;
    this.#later(JOIN_TIMEOUT_MS, () => this.#fail("it does not answer"));
    try {
      this.#features = (await discover(this.#deps.session, this.jid)).features;
    } catch (error) {
      // Going into a room that is not there would make it.
      if (error instanceof StanzaError && error.condition === "item-not-found") {
        return this.#fail("there is no such room");
      }
    }
    // Somebody who has invited us to himself.
    if (this.#features.size > 0 && !this.has(NS.muc)) return this.#fail("it is no room", true);
    this.#enter();
  }

  /** Takes a presence of the room or of somebody in it. */
  takePresence(presence: XmlElement): void {
    if (this.#isOver) return;
    const { from = "", type } = presence.attrs;
    const nick = resourceOf(from);
    if (type === "error") return this.#refused(StanzaError.of(presence));
    if (nick === "") return;
    // The room's own; where somebody has written in another, the room has not looked.
    const users = presence.getChildren("x", NS.mucUser);
    const user = users.length === 1 ? users[0] : undefined;
    const codes = new Set(user?.getChildren("status").map(({ attrs }) => attrs.code));
    const item = user?.getChild("item")?.attrs;
    const isOwn = codes.has("110") || (this.isIn && nick === this.nick);
    if (type === "unavailable") {
      this.#occupants.delete(nick);
      if (!isOwn) return;
      if (!codes.has("303") || item?.nick === undefined) {
        const { words, isFinal } = exitReason(user, codes);
        return this.#fail(words, isFinal);
      }
      // A new nick, which the next presence has.
      this.nick = item.nick;
      return this.#deps.onChange();
    }
    if (type !== undefined) return;
    if (this.#occupants.size < MAX_OCCUPANTS || this.#occupants.has(nick)) {
      const stamp = presence.getChild("occupant-id", NS.occupantId)?.attrs.id;
      this.#occupants.set(nick, {
        jid: item?.jid && bareJid(item.jid),
        occupantId: this.has(NS.occupantId) ? stamp : undefined,
      });
    }
    if (!isOwn) return;
    if (codes.has("201")) {
      // It was not there, and is now, for as long as we are in it.
      this.#deps.session.post(xml("presence", { to: from, type: "unavailable" }));
      return this.#fail("there is no such room");
    }
    this.nick = nick;
    if (this.isIn) return;
    this.isIn = true;
    this.#enteredMs = this.#deps.clock.elapsed();
    this.#later(CHECK_MS, () => void this.#check());
    this.#deps.onChange();
    this.#deps.onJoined(this);
  }

  /** We have been told by an answer that we are not in it. */
  lost(): void {
    if (this.isIn) this.#fail("we have fallen out of it", false, 0);
  }

  /** Ends its timer; leaves it where `isGoodbye`. */
  close(isGoodbye: boolean): void {
    if (isGoodbye && this.isIn && !this.#isOver) {
      this.#deps.session.post(xml("presence", { to: this.ownJid, type: "unavailable" }));
    }
    this.#isOver = true;
    this.#cancel();
  }

  #enter(): void {
    if (this.#isOver) return;
    this.#occupants.clear();
    const password = this.#password && xml("password", {}, this.#password);
    // What was said before is in the archive.
    const history = xml("history", { maxstanzas: "0" });
    this.#deps.session.post(xml(
      "presence",
      { to: this.ownJid },
      xml("x", { xmlns: NS.muc }, history, password),
      ownCaps(),
    ));
  }

  #refused(error: StanzaError): void {
    if (this.isIn) return;
    if (error.condition === "conflict" && this.nick.length < this.wantedNick.length + MAX_NICKS) {
      this.nick = `${this.nick}_`;
      return this.#enter();
    }
    this.nick = this.wantedNick;
    this.#fail(joinProblem(error));
  }

  #fail(problem: string, isFinal = false, waitMs?: number): void {
    if (this.#isOver) return;
    // Who is thrown out as soon as he comes in is not wanted, and comes less and less often.
    const stayedMs = this.#deps.clock.elapsed() - this.#enteredMs;
    if (this.isIn && stayedMs >= STEADY_MS) this.#failures = 0;
    this.isIn = false;
    this.isFinal = isFinal;
    this.problem = problem;
    this.#failures += 1;
    const bounds = { firstMs: AGAIN_MS, maxMs: MAX_AGAIN_MS, random: () => 0 };
    this.#later(waitMs ?? backoffMs(this.#failures, bounds), () => void this.join());
    if (isFinal) this.#cancel();
    this.#deps.onChange();
  }

  async #check(): Promise<void> {
    try {
      await this.#deps.session.request("get", this.ownJid, xml("ping", { xmlns: NS.ping }));
    } catch (error) {
      if (error instanceof StanzaError && !NO_WORD.includes(error.condition)) this.lost();
    }
    if (this.isIn) this.#later(CHECK_MS, () => void this.#check());
  }

  #later(ms: number, run: () => void): void {
    this.#cancel();
    if (!this.#isOver) this.#cancel = this.#deps.clock.after(ms, run);
  }
}

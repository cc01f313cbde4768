/**
 * The rooms of a connection.
 *
 * @module
 */

import type { WantedRoom } from "../settings.ts";
import { isUnder } from "../client/jid.ts";
import type { XmlElement } from "../client/xmpp_library.ts";
import { Room, type RoomDeps } from "./room.ts";

/** What rooms work with. */
export interface RoomsDeps extends Omit<RoomDeps, "isBelieved"> {
  /** Rooms that the settings name. */
  wanted: readonly WantedRoom[];
  /** Rooms that somebody has invited us to. */
  invited: readonly WantedRoom[];
  /** Of the account. */
  domain: string;
}

export class Rooms {
  readonly #deps: RoomsDeps;
  readonly #rooms = new Map<string, Room>();

  constructor(deps: RoomsDeps) {
    this.#deps = deps;
    for (const wanted of deps.wanted) this.#make(wanted, true);
    for (const invited of deps.invited) {
      if (!this.#rooms.has(invited.jid)) this.#make(invited, false);
    }
  }

  get(jid: string): Room | undefined {
    return this.#rooms.get(jid);
  }

  /** Goes into all of them. */
  join(): void {
    for (const room of this.#rooms.values()) void room.join();
  }

  /** Goes into one that is new. */
  add(wanted: WantedRoom): void {
    if (this.#rooms.has(wanted.jid)) return;
    void this.#make(wanted, false).join();
  }

  /** Whether a presence is of one of them. */
  takePresence(presence: XmlElement, bare: string): boolean {
    const room = this.#rooms.get(bare);
    room?.takePresence(presence);
    return room !== undefined;
  }

  /** Where we are, and where not and why, for people; empty without rooms. */
  describe(): string {
    const rooms = [...this.#rooms.values()];
    const inside = rooms.filter(({ isIn }) => isIn).map((room) =>
      room.nick === room.wantedNick ? room.jid : `${room.jid} as ${room.nick}`
    );
    const outside = rooms.flatMap(({ jid, problem }) =>
      problem === undefined ? [] : [`not in ${jid}: ${problem}`]
    );
    return [...inside.length > 0 ? [`in ${inside.join(", ")}`] : [], ...outside].join("; ");
  }

  close(isGoodbye = false): void {
    for (const room of this.#rooms.values()) room.close(isGoodbye);
  }

  /** What a room says of addresses counts where the operator has named it, or its server is ours. */
  #make(wanted: WantedRoom, isNamed: boolean): Room {
    const { domain } = this.#deps;
    const host = wanted.jid.slice(wanted.jid.indexOf("@") + 1);
    const room = new Room(wanted, {
      ...this.#deps,
      isBelieved: isNamed || isUnder(host, domain),
    });
    this.#rooms.set(wanted.jid, room);
    return room;
  }
}

/**
 * The channels that are to be joined: what has become of each, and when it is tried again.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { IrcLine } from "./irc_framework.ts";

/** A channel of the configuration. */
export interface WantedRoom {
  name: string;
  key?: string;
}

/** What rooms are made of. */
export interface RoomsDeps {
  wanted: readonly WantedRoom[];
  send: (command: string, ...params: string[]) => void;
  fold: (text: string) => string;
  isSelf: (nick: string) => boolean;
  clock: Pick<Clock, "after">;
  onChange: () => void;
}

/** Why a channel cannot be joined, by what the server answers. */
const PROBLEMS: Readonly<Record<string, string>> = {
  "403": "there is no such channel",
  "405": "we are in too many channels",
  "437": "it is not available now",
  "471": "it is full",
  "473": "only those who are invited may join",
  "474": "we are banned",
  "475": "its key is missing or wrong: see channelKeys",
  "476": "that is no name of a channel",
  "477": "only those who are logged in may join: see account",
  "479": "that is no name of a channel",
  "489": "only encrypted connections may join: see tls",
  "520": "only operators may join",
};

/** First wait before it is tried again, and the longest, milliseconds. */
const AGAIN_MS = 30_000;
const MAX_AGAIN_MS = 600_000;

interface Room extends WantedRoom {
  isJoined: boolean;
  problem: string | undefined;
  failures: number;
  cancel: (() => void) | undefined;
}

export class Rooms {
  readonly #deps: RoomsDeps;
  readonly #rooms: ReadonlyMap<string, Room>;

  constructor(deps: RoomsDeps) {
    this.#deps = deps;
    this.#rooms = new Map(deps.wanted.map((room) => [
      deps.fold(room.name),
      { ...room, isJoined: false, problem: undefined, failures: 0, cancel: undefined },
    ]));
  }

  join(): void {
    for (const room of this.#rooms.values()) this.#join(room);
  }

  /** Why nothing can be sent to a channel now; undefined where it can, or nobody wants to be in it. */
  problemOf(name: string): string | undefined {
    const room = this.#rooms.get(this.#deps.fold(name));
    if (room === undefined || room.isJoined) return undefined;
    return room.problem ?? "it is not joined yet";
  }

  /** For people: where we are, and where not and why. */
  describe(): string {
    const all = [...this.#rooms.values()];
    const joined = all.filter(({ isJoined }) => isJoined).map(({ name }) => name);
    const failed = all.filter(({ isJoined, problem }) => !isJoined && problem !== undefined)
      .map(({ name, problem }) => `not in ${name}: ${problem}`);
    return [...joined.length > 0 ? [`in ${joined.join(", ")}`] : [], ...failed].join("; ");
  }

  /** Hears the lines of the server. */
  take({ command, nick, params }: IrcLine): void {
    const { isSelf, fold, onChange } = this.#deps;
    const of = (name: string | undefined) => this.#rooms.get(fold(name ?? ""));
    switch (command) {
      case "JOIN": {
        const room = isSelf(nick) ? of(params[0]) : undefined;
        if (room === undefined) return;
        room.isJoined = true;
        room.problem = undefined;
        room.cancel?.();
        return onChange();
      }
      case "KICK":
        if (isSelf(params[1] ?? "")) {
          this.#failed(of(params[0]), `kicked by ${nick || "the server"}: ${params[2] ?? ""}`);
        }
        return;
      case "PART":
        if (isSelf(nick)) this.#failed(of(params[0]), "the server has taken us out of it");
        return;
    }
    const problem = Object.hasOwn(PROBLEMS, command) ? PROBLEMS[command] : undefined;
    const room = problem === undefined ? undefined : of(params[1]);
    // Behind a message the same answers mean something else.
    if (room !== undefined && !room.isJoined) this.#failed(room, problem!);
  }

  close(): void {
    for (const room of this.#rooms.values()) room.cancel?.();
  }

  #join({ name, key }: Room): void {
    this.#deps.send("JOIN", name, ...key === undefined ? [] : [key]);
  }

  #failed(room: Room | undefined, problem: string): void {
    if (room === undefined) return;
    room.isJoined = false;
    room.problem = problem;
    room.failures += 1;
    const ms = Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** Math.min(room.failures - 1, 10));
    room.cancel?.();
    room.cancel = this.#deps.clock.after(ms, () => this.#join(room));
    this.#deps.onChange();
  }
}

/** The channels of the settings with their keys, `#room key, #other key`. */
export function wantedRooms(
  channels: readonly string[],
  channelKeys: string,
): WantedRoom[] {
  const keys = new Map<string, string>();
  for (const pair of channelKeys.split(/[,\n]/)) {
    const [name, key] = pair.trim().split(/\s+/, 2);
    if (name !== undefined && key !== undefined) keys.set(name, key);
  }
  return channels.map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const key = keys.get(name);
    return key === undefined ? { name } : { name, key };
  });
}

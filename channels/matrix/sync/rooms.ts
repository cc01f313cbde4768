/**
 * What is known of the rooms that the account is in: whether somebody talks to it alone there, whether they
 * are encrypted, and how people are called.
 *
 * @module
 */

import type { Memory } from "../../../lib/channel/platform/mod.ts";
import type { Json } from "../api/matrix_api.ts";
import { type JoinedRoom, list, type MatrixEvent } from "./sync_answer.ts";

/** Names that are kept; the rest is shown by its id. */
const MAX_NAMES = 20_000;
const MAX_NAME_CHARS = 100;

interface RoomFacts {
  joined: number | undefined;
  invited: number;
}

type RoomMemory = Pick<Memory, "entries" | "set">;

/** Under which rooms are remembered that are encrypted, with what their `m.room.encryption` says. */
const ENCRYPTED = "encrypted";

export class Rooms {
  readonly #memory: RoomMemory;
  readonly #encrypted: Map<string, Json>;
  readonly #rooms = new Map<string, RoomFacts>();
  readonly #names = new Map<string, string>();
  #direct: ReadonlySet<string> = new Set();

  constructor(memory: RoomMemory) {
    this.#memory = memory;
    this.#encrypted = new Map(memory.entries<Json>(ENCRYPTED));
  }

  /** Takes in what an answer says of a room. True where the account was not in it before. */
  take({ roomId, state, timeline, summary }: JoinedRoom): boolean {
    const known = this.#rooms.get(roomId);
    const facts = known ?? { joined: undefined, invited: 0 };
    this.#rooms.set(roomId, facts);
    const { "m.joined_member_count": joined, "m.invited_member_count": invited } = summary;
    if (Number.isSafeInteger(joined)) facts.joined = joined as number;
    if (Number.isSafeInteger(invited)) facts.invited = invited as number;
    for (const event of [...state, ...timeline]) this.#takeEvent(roomId, event);
    return known === undefined;
  }

  /** Content of the account data `m.direct`: rooms by whom they are with. */
  takeDirect(content: Json): void {
    const rooms = Object.values(content).flatMap(list).filter((id) => typeof id === "string");
    this.#direct = new Set(rooms);
  }

  /** The account is in it no more. */
  leave(roomId: string): void {
    this.#rooms.delete(roomId);
  }

  has(roomId: string): boolean {
    return this.#rooms.has(roomId);
  }

  /** Whether what is written there is written to the account: it is marked so, or two are in it. */
  isDirect(roomId: string): boolean {
    if (this.#direct.has(roomId)) return true;
    const { joined, invited } = this.#rooms.get(roomId) ?? { joined: undefined, invited: 0 };
    return joined !== undefined && joined + invited <= 2;
  }

  /** Encryption is never switched off again, whatever a server says later. */
  isEncrypted(roomId: string): boolean {
    return this.#encrypted.has(roomId);
  }

  /** Whether any room is that the account is in. */
  get hasEncrypted(): boolean {
    return [...this.#rooms.keys()].some((roomId) => this.isEncrypted(roomId));
  }

  /** Content of its `m.room.encryption`. */
  encryptionOf(roomId: string): Json {
    return this.#encrypted.get(roomId) ?? {};
  }

  /** How somebody is called in a room; else the name in front of the id. */
  nameOf(roomId: string, userId: string): string {
    return this.#names.get(`${roomId} ${userId}`) ?? (userId.slice(1).split(":")[0] || userId);
  }

  /** Such as `in 3 rooms, 1 of them encrypted`. */
  describe(): string {
    const all = [...this.#rooms.keys()];
    const encrypted = all.filter((roomId) => this.isEncrypted(roomId)).length;
    const rooms = all.length === 1 ? "in 1 room" : `in ${all.length} rooms`;
    return encrypted === 0 ? rooms : `${rooms}, ${encrypted} of them encrypted`;
  }

  #takeEvent(roomId: string, { type, stateKey, content }: MatrixEvent): void {
    if (stateKey === undefined) return;
    if (type === "m.room.encryption" && stateKey === "") {
      const isSame = JSON.stringify(this.#encrypted.get(roomId)) === JSON.stringify(content);
      if (!isSame) this.#memory.set(ENCRYPTED, roomId, content);
      this.#encrypted.set(roomId, content);
    }
    // That the account was gone meanwhile says nothing: who is out of a room is not given it as joined.
    if (type !== "m.room.member") return;
    const { displayname } = content;
    const name = typeof displayname === "string" ? plainName(displayname) : "";
    const key = `${roomId} ${stateKey}`;
    this.#names.delete(key);
    if (name !== "") this.#names.set(key, name);
    if (this.#names.size > MAX_NAMES) this.#names.delete(this.#names.keys().next().value!);
  }
}

function plainName(name: string): string {
  const plain = name.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
  return [...plain].slice(0, MAX_NAME_CHARS).join("");
}

/**
 * Writes events into rooms, and knows those that it may not write into. A homeserver takes an event with the
 * same transaction from the same session once, so that whatever is repeated under a key, after a crash too,
 * is there once (client-server API, "Transaction identifiers").
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { Memory } from "../../../lib/channel/platform/mod.ts";
import type { Json, MatrixApi } from "../api/matrix_api.ts";
import { type MatrixPlace, placeOf } from "../chat_id.ts";
import type { RoomEncryption } from "../crypto/room_encryption.ts";
import type { ForeignWriters } from "../inbound/foreign_writers.ts";
import type { Rooms } from "../sync/rooms.ts";

/** What events are written with. */
export interface RoomWriterDeps {
  api: Pick<MatrixApi, "send">;
  rooms: Rooms;
  encryption: Pick<RoomEncryption, "seal">;
  foreign: ForeignWriters;
  memory: Pick<Memory, "get" | "set">;
}

/** Rejects as the SDK does, or with a PermanentDeliveryError. */
export class RoomWriter {
  readonly #deps: RoomWriterDeps;
  /** Of this installation: two that share an account must never have the same transactions. */
  readonly #tag: string;

  constructor(deps: RoomWriterDeps) {
    this.#deps = deps;
    const kept = deps.memory.get<string>("install", "tag");
    this.#tag = kept ?? crypto.randomUUID().slice(0, 8);
    if (kept === undefined) deps.memory.set("install", "tag", this.#tag);
  }

  /** Where a chat is. Throws for what is no chat, and for rooms that the account isn't in. */
  placeOf(chatId: string): MatrixPlace {
    const place = placeOf(chatId);
    if (place === undefined) {
      throw new PermanentDeliveryError(
        `There is no chat ${JSON.stringify(chatId.slice(0, 80))}: expected !room:server, or ` +
          "!room:server/$event for a thread",
      );
    }
    const { rooms } = this.#deps;
    if (!rooms.has(place.roomId)) {
      throw new PermanentDeliveryError(`The bot is not in the room ${place.roomId}: invite it`);
    }
    return place;
  }

  /** Resolves with the id of the message. `key`: the same for the same event; none for one that is new. */
  send(roomId: string, content: Json, ...key: readonly string[]): Promise<string> {
    return this.#send(roomId, "m.room.message", content, key);
  }

  /** The same in clear text, in any room. */
  sendPlain(roomId: string, content: Json, ...key: readonly string[]): Promise<string> {
    return this.#put(roomId, "m.room.message", content, key);
  }

  /** A reaction to an event, once. */
  async react(roomId: string, eventId: string, mark: string, what: string): Promise<void> {
    const relation = { rel_type: "m.annotation", event_id: eventId, key: mark };
    await this.#send(roomId, "m.reaction", { "m.relates_to": relation }, [what, eventId, mark]);
  }

  async #send(
    roomId: string,
    type: string,
    content: Json,
    key: readonly string[],
  ): Promise<string> {
    const sealed = await this.#deps.encryption.seal(roomId, type, content);
    return await this.#put(roomId, sealed.type, sealed.content, key);
  }

  async #put(
    roomId: string,
    type: string,
    content: Json,
    key: readonly string[],
  ): Promise<string> {
    const { api, foreign } = this.#deps;
    const id = key.length === 0 ? crypto.randomUUID() : await digestOf(key);
    const txnId = `${this.#tag}.${id}`;
    return await foreign.sending(txnId, () => api.send(roomId, type, content, txnId));
  }
}

async function digestOf(key: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(key));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16).toHex();
}

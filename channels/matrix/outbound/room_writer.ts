/**
 * Writes events into rooms, and knows those that it may not write into.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { Json, MatrixApi } from "../api/matrix_api.ts";
import { type MatrixPlace, placeOf } from "../chat_id.ts";
import type { ForeignWriters } from "../inbound/foreign_writers.ts";
import type { Rooms } from "../sync/rooms.ts";

/** What events are written with. */
export interface RoomWriterDeps {
  api: Pick<MatrixApi, "send">;
  rooms: Rooms;
  foreign: ForeignWriters;
}

/** Rejects as the SDK does, or with a PermanentDeliveryError. */
export class RoomWriter {
  readonly #deps: RoomWriterDeps;

  constructor(deps: RoomWriterDeps) {
    this.#deps = deps;
  }

  /** Where a chat is. Throws for what is no chat, and where nothing may be written in clear text. */
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
    if (rooms.isEncrypted(place.roomId)) {
      throw new PermanentDeliveryError(
        `The room ${place.roomId} is encrypted: nothing is sent there in clear text`,
      );
    }
    return place;
  }

  /** Resolves with the id of the message. */
  async send(roomId: string, content: Json, txnId: string): Promise<string> {
    return await this.#send(roomId, "m.room.message", content, txnId);
  }

  /** A reaction to an event. */
  async react(roomId: string, eventId: string, key: string, txnId: string): Promise<void> {
    const relation = { rel_type: "m.annotation", event_id: eventId, key };
    await this.#send(roomId, "m.reaction", { "m.relates_to": relation }, txnId);
  }

  #send(roomId: string, type: string, content: Json, txnId: string): Promise<string> {
    const { api, foreign } = this.#deps;
    return foreign.sending(txnId, () => api.send(roomId, type, content, txnId));
  }
}

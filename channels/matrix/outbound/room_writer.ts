/**
 * Writes events into rooms, and knows those that it may not write into.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { deliveryError } from "../api/faults.ts";
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

/** Rejects with the errors of deliveries. */
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

  /** Resolves with the id of the event. */
  async send(roomId: string, type: string, content: Json, txnId: string): Promise<string> {
    const { api, foreign } = this.#deps;
    try {
      return await foreign.sending(txnId, () => api.send(roomId, type, content, txnId));
    } catch (error) {
      throw deliveryError(error);
    }
  }

  /** A reaction to an event. */
  react(roomId: string, eventId: string, key: string, txnId: string): Promise<string> {
    const relation = { rel_type: "m.annotation", event_id: eventId, key };
    return this.send(roomId, "m.reaction", { "m.relates_to": relation }, txnId);
  }
}

/**
 * The service's way to places: it may start none, and asks the authority.
 *
 * @module
 */

import { fromErrorData, ServiceError } from "../base/errors.ts";
import type { OpenedPlace, OpenPlace } from "./open_place.ts";
import type { PlaceAsked, PlaceTold } from "./place_bridge.ts";

/** See the module. */
export class PlaceDoor {
  readonly #send: (message: PlaceAsked) => void;
  readonly #opening = new Map<number, PromiseWithResolvers<OpenedPlace>>();
  readonly #open = new Map<number, (reason: string) => void>();
  #lastId = 0;
  #closed = false;

  constructor(send: (message: PlaceAsked) => void) {
    this.#send = send;
  }

  /** Asks for a place. */
  readonly open: OpenPlace = (runtimeName) => {
    if (this.#closed) return Promise.reject(stopping());
    const id = ++this.#lastId;
    const opening = Promise.withResolvers<OpenedPlace>();
    this.#opening.set(id, opening);
    this.#send({ type: "open_place", id, runtimeName });
    return opening.promise;
  };

  /** Takes what the authority says. */
  receive(message: PlaceTold): void {
    const { id } = message;
    if (message.type === "place_ended") {
      this.#open.get(id)?.(message.reason);
      return void this.#open.delete(id);
    }
    const opening = this.#opening.get(id);
    this.#opening.delete(id);
    const { result } = message;
    if ("error" in result) return opening?.reject(fromErrorData(result.error));
    // Nobody waits for it any more.
    if (opening === undefined) return this.#send({ type: "close_place", id });
    const ended = Promise.withResolvers<string>();
    this.#open.set(id, ended.resolve);
    opening.resolve({
      streams: result.streams,
      ended: ended.promise,
      close: () => {
        if (this.#open.delete(id)) this.#send({ type: "close_place", id });
      },
    });
  }

  /** Opens no more; those that were asked for and have not come are closed when they come. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#opening.values()) reject(stopping());
    this.#opening.clear();
  }
}

function stopping(): ServiceError {
  return new ServiceError("draining", "The service is stopping");
}

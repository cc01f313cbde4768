/**
 * Opens places for the service, as it asks for them over the bridge.
 *
 * @module
 */

import type { OpenedPlace } from "../../place/open_place.ts";
import type { PlaceAsked, PlaceTold } from "../../place/place_bridge.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ChannelPlaces } from "./channel_places.ts";
import { MAX_PLACES } from "./create_channel_executor.ts";

/** What a desk works with. */
export interface PlaceDeskDeps {
  places: Pick<ChannelPlaces, "open">;
  /** `transfer` goes along with the message. */
  send: (message: PlaceTold, transfer: Transferable[]) => void;
  /** Takes secrets out of errors. */
  scrub: (text: string) => string;
  log: Pick<Log, "error">;
}

/** See the module. */
export class PlaceDesk {
  readonly #deps: PlaceDeskDeps;
  /** Undefined: it is being opened. */
  readonly #places = new Map<number, OpenedPlace | undefined>();

  constructor(deps: PlaceDeskDeps) {
    this.#deps = deps;
  }

  /** Takes what the service says. */
  receive(message: PlaceAsked): void {
    const { id } = message;
    if (message.type === "open_place") return void this.#open(id, message.runtimeName);
    this.#places.get(id)?.close();
    this.#places.delete(id);
  }

  /** Closes all of them: the service is gone. */
  close(): void {
    for (const place of this.#places.values()) place?.close();
    this.#places.clear();
  }

  async #open(id: number, runtimeName: string): Promise<void> {
    const { places, send } = this.#deps;
    let place: OpenedPlace;
    try {
      if (this.#places.has(id) || this.#places.size >= MAX_PLACES) {
        throw new ServiceError("overloaded", `There are ${this.#places.size} places already`);
      }
      this.#places.set(id, undefined);
      try {
        place = await places.open(runtimeName);
      } catch (error) {
        this.#places.delete(id);
        throw error;
      }
    } catch (error) {
      return send({ type: "place_opened", id, result: { error: this.#errorOf(error) } }, []);
    }
    // It was closed before it came.
    if (!this.#places.has(id)) return place.close();
    this.#places.set(id, place);
    place.ended.then((reason) => {
      if (this.#places.delete(id)) send({ type: "place_ended", id, reason }, []);
    });
    const { streams } = place;
    send(
      { type: "place_opened", id, result: { streams } },
      [streams.readable, streams.writable] as unknown as Transferable[],
    );
  }

  #errorOf(error: unknown) {
    const data = toErrorData(error);
    if (!(error instanceof ServiceError)) {
      this.#deps.log.error("A place could not be opened", { ...data });
    }
    return { ...data, message: this.#deps.scrub(data.message) };
  }
}

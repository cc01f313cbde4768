/**
 * What service and authority say to each other of places: the one asks for them, the other starts them.
 *
 * @module
 */

import type { ErrorData } from "../base/errors.ts";

/** From the service. Numbers are its own. */
export type PlaceAsked =
  | { type: "open_place"; id: number; runtimeName: string }
  /** End it by force; it may be gone, or never have come. */
  | { type: "close_place"; id: number };

/** From the authority. */
export type PlaceTold =
  /** The port is transferred. */
  | { type: "place_opened"; id: number; result: { port: MessagePort } | { error: ErrorData } }
  /** It is gone without having been closed. */
  | { type: "place_ended"; id: number; reason: string };

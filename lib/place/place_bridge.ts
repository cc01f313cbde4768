/**
 * What service and authority say to each other of places: the one asks for them, the other starts them.
 *
 * @module
 */

import type { ErrorData } from "../base/errors.ts";
import type { ByteStreams } from "../rpc/stream_transport.ts";

/** From the service. Numbers are its own. */
export type PlaceAsked =
  | { type: "open_place"; id: number; runtimeName: string }
  /** End it by force; it may be gone, or never have come. */
  | { type: "close_place"; id: number };

/** From the authority. */
export type PlaceTold =
  /** The streams are transferred. */
  | { type: "place_opened"; id: number; result: { streams: ByteStreams } | { error: ErrorData } }
  /** It is gone without having been closed. */
  | { type: "place_ended"; id: number; reason: string };

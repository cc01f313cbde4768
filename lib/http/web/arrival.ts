/**
 * What a trusted proxy is believed by, of a request of `node:http`.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { Arrival } from "./web_route.ts";

/**
 * How a request came. Make it before anything is awaited: the peer's address is that of the connection,
 * which an upgrade or its end takes away. Each header is given as it was sent, so that two of a name are
 * seen as two.
 */
export function arrivalOf(
  { socket, headersDistinct }: Pick<IncomingMessage, "socket" | "headersDistinct">,
): Arrival {
  const { remoteAddress } = socket;
  return {
    peerAddress: remoteAddress,
    socket,
    headerValues: (name) => headersDistinct[name] ?? [],
  };
}

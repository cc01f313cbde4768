/**
 * The client side of the local protocol.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { NO_ENDPOINT } from "../rpc/endpoint.ts";
import { Peer } from "../rpc/peer.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import { type ByteStreams, streamTransport } from "../rpc/stream_transport.ts";
import { LOCAL, type Local, MAX_MESSAGE_BYTES } from "./protocol.ts";

/** A connection to the service of a home. What a call rejects with is the service's ServiceError. */
export type LocalClient = Pick<
  Peer<typeof NO_ENDPOINT, Local>,
  "call" | "stream" | "ended" | "close"
>;

/**
 * Opens a connection. Rejects with `draining` when it ends before it is open, which means: try again.
 * `key` is what a loopback port asks for.
 */
export async function connectClient(streams: ByteStreams, key?: string): Promise<LocalClient> {
  const peer = new Peer({
    transport: streamTransport(streams, { maxFrameBytes: MAX_MESSAGE_BYTES }),
    mine: NO_ENDPOINT,
    theirs: LOCAL,
    handlers: NO_ENDPOINT,
    errors: serviceErrors((reason) =>
      new ServiceError("turn_interrupted", "The service of this home has stopped", {}, {
        cause: reason,
      })
    ),
  });
  try {
    await peer.call("open", { key });
  } catch (cause) {
    peer.close();
    const message = "The service of this home is just stopping";
    throw new ServiceError("draining", message, {}, { cause });
  }
  return peer;
}

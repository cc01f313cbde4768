/**
 * The client side of the local protocol.
 *
 * @module
 */

import type { Operation, Operations } from "./protocol.ts";

/** A connection to the service of a home. */
export interface LocalClient {
  /**
   * Asks for an operation and yields its data. Throws the ServiceError that the service answered.
   * Aborting the signal, or leaving the loop early, cancels the operation there.
   */
  request<Op extends Operation>(
    op: Op,
    params: Operations[Op]["params"],
    signal?: AbortSignal,
  ): AsyncIterable<Operations[Op]["data"]>;
  close(): void;
}

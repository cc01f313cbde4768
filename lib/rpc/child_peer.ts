/**
 * The end of a child that lives on.
 *
 * @module
 */

import { childTransport } from "./child_transport.ts";
import type { Endpoint, Handlers } from "./endpoint.ts";
import { Peer, plainErrors } from "./peer.ts";

/** Calls that each side may have under way with the other. */
export const MAX_UNDER_WAY = 64;
/** Characters of an error's words; more is cut. */
export const MAX_ERROR_CHARS = 8_000;

/** Connects this child with the authority. The call `start` comes first. */
export function childPeer<Mine extends Endpoint, Theirs extends Endpoint>(
  mine: Mine,
  theirs: Theirs,
  handlers: Handlers<Mine>,
): Peer<Mine, Theirs> {
  return new Peer({
    transport: childTransport(),
    mine,
    theirs,
    handlers,
    errors: plainErrors(MAX_ERROR_CHARS),
    maxCalls: MAX_UNDER_WAY,
    maxAnswering: MAX_UNDER_WAY,
  });
}

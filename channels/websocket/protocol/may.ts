/**
 * What a connection may do by the scopes of its token.
 *
 * @module
 */

import type { Peer } from "../../../lib/channel/socket_host.ts";
import { ServiceError } from "../../../lib/base/errors.ts";

/** What is asked for on a socket: to start turns, or to see chats of others. */
export type SocketScope = "chat" | "read";

/** Whether a peer holds a scope; whoever is not narrowed holds all. */
export function may({ scopes }: Pick<Peer, "scopes">, scope: SocketScope): boolean {
  return scopes === undefined || scopes.includes("operate") || scopes.includes(scope);
}

/** Throws `insufficient_scope`. */
export function requireScope(peer: Pick<Peer, "scopes">, scope: SocketScope, what: string): void {
  if (may(peer, scope)) return;
  throw new ServiceError(
    "insufficient_scope",
    `Cannot ${what}: it needs a token with the scope ${scope} or operate`,
  );
}

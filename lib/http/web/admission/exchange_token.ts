/**
 * @module
 */

import type { Scope } from "../../../contract/credentials.ts";
import type { Caller } from "../web_route.ts";
import type { SocketTokens } from "./socket_tokens.ts";

/** What an exchange needs. */
export interface ExchangeDeps {
  socketTokens: Pick<SocketTokens, "issue" | "ttlS">;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** A token for one WebSocket with the caller's own scopes, which ends with what it was exchanged for. */
export function exchangeToken(
  { credential, expiresAt = Infinity }: Pick<Caller, "credential" | "expiresAt">,
  scopes: readonly Scope[],
  { socketTokens, now }: ExchangeDeps,
): { token: string; expires_in: number } {
  const from = credential.kind === "token" ? { credential, expiresAt } : undefined;
  const leftS = Math.max(0, Math.floor((expiresAt - now()) / 1_000));
  return {
    token: socketTokens.issue(scopes, from),
    expires_in: Math.min(socketTokens.ttlS, leftS),
  };
}

/**
 * Who asks, what a token allows, and what is known of a token, as plain data.
 *
 * @module
 */

import type { Capability } from "./actions.ts";

/** What a token may be used for. `operate` includes all others. */
export const SCOPES = ["operate", "read", "chat", "approve", "secrets"] as const;

/** One of {@linkcode SCOPES}. */
export type Scope = typeof SCOPES[number];

/** Whether scopes allow what needs `scope`: `operate` includes `approve`. */
export function includesScope(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes("operate");
}

/** Who asks. */
export type Credential =
  /** A token as `service tokens issue` gave it; over HTTP and the local socket alike. */
  | { kind: "token"; token: string }
  /** Somebody on a channel whose descriptor says that it verifies senders, such as `telegram:12345`. */
  | { kind: "sender"; sender: string }
  /**
   * Somebody whom the trusted proxy in front vouches for; `webui:<claim value>`. Only while
   * `channels.websocket.trustedProxyAuth` is set. Unscoped, but who answers approvals stands in
   * `gates.approvers` all the same.
   */
  | { kind: "identity"; actor: string }
  /** What was shown for a token to be issued; absent: nothing was. */
  | { kind: "issue_secret"; secret?: string }
  /** The terminal of this very process, which opened the turn. Never crosses from the service. */
  | { kind: "terminal"; turnId: string };

/** A capability that a person has denied in a session. */
export interface Latch {
  sessionKey: string;
  capability: Capability;
  /** Milliseconds since 1970. */
  since: number;
  /** The denial's words. */
  reason: string;
}

/** A token that was just made; it can be read this once. */
export interface IssuedToken {
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** A token in force, without being it. */
export interface CheckedToken {
  /** `tok_` and 16 letters and digits. */
  id: string;
  scopes: readonly Scope[];
  /** Milliseconds since 1970; absent: until it is revoked. */
  expiresAt?: number;
}

/**
 * Tokens of approvers and operators (decisions E4). Only digests of them are kept.
 *
 * @module
 */

import type { Scope } from "./operator.ts";

/** A token as it may be shown: never the token itself. */
export interface TokenInfo {
  /** `tok_` and 16 letters and digits. */
  id: string;
  name: string;
  scopes: Scope[];
  /** Milliseconds since 1970. */
  createdAt: number;
  expiresAt?: number;
  /** To the minute. */
  lastUsedAt?: number;
}

/** Who a token belongs to. */
export type TokenOwner = Pick<TokenInfo, "id" | "name" | "scopes">;

/** The tokens of a home. */
export interface TokenStore {
  /**
   * Whose token it is; undefined for one that is unknown, revoked or expired, and for all while the
   * state is damaged. A revoke by another process holds at once.
   */
  verify(token: string): TokenOwner | undefined;
  /** Whether any token in force has a scope: whether there is an approver at all. */
  hasAny(scope: Scope): boolean;
  /** Makes a token. This is the only time that it can be read. */
  issue(
    token: { name: string; scopes: readonly Scope[]; expiresAt?: number },
  ): Promise<{ token: string; info: TokenInfo }>;
  /** Those in force, oldest first. Throws `refused` when the state is damaged. */
  list(): TokenInfo[];
  /** Rejects with `not_found`. */
  revoke(id: string): Promise<TokenInfo>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; no token is in force then. False when it is not damaged. */
  reset(): Promise<boolean>;
}

/** Whether scopes allow what needs `scope`: `operate` includes `approve`. */
export function includesScope(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes("operate");
}

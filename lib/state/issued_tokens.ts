/**
 * Tokens for the REST routes of the WebSocket port that bootstrap and the issue path give out (decisions
 * C "Issued tokens"): checked by the authority like those of `service tokens issue`, but only in memory,
 * for a while, and gone with the process.
 *
 * Who asks for one shows the secret of the configuration, and the authority compares it itself. While
 * there is none, the service says who may have one: that is what a configuration without a secret means.
 *
 * @module
 */

import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { ServiceError } from "../base/errors.ts";
import { ExpiringTokens } from "../base/expiring_tokens.ts";
import { newId } from "../base/new_id.ts";
import { sha256 } from "../base/sha256.ts";
import { includesScope, type IssuedToken, type Scope, SCOPES } from "../contract/credentials.ts";
import type { TokenOwner } from "./token_store.ts";

/** What they are made of. */
export interface IssuedTokensOptions {
  /** `tokenIssueSecret`, else `token` (`issueSecret()`); undefined while neither is set. */
  secret: string | undefined;
  /** `tokenTtlS`. */
  ttlS: number;
  clock: {
    /** Milliseconds since 1970. */
    now: () => number;
    /** Milliseconds since some moment; never jumps. */
    elapsed: () => number;
  };
  /** Default 10,000. */
  maxOutstanding?: number;
}

export interface IssuedTokens {
  /**
   * A token with these scopes, for whoever shows the secret. Throws `invalid_token` for another one,
   * `invalid_request` for scopes that are none, `too_many_tokens`.
   */
  issue(request: { scopes: readonly Scope[]; secret: string | undefined }): IssuedToken;
  /** Whose it is; undefined for what is not in force. */
  verify(token: string): TokenOwner | undefined;
  /** Whether one in force has a scope. */
  hasAny(scope: Scope): boolean;
}

interface Owner {
  id: string;
  scopes: readonly Scope[];
}

/** Keeps them. */
export function createIssuedTokens(
  { secret, ttlS, clock, maxOutstanding }: IssuedTokensOptions,
): IssuedTokens {
  const tokens = new ExpiringTokens<Owner>({
    prefix: "sat_",
    ttlMs: ttlS * 1_000,
    elapsed: clock.elapsed,
    maxOutstanding,
  });
  const wanted = secret === undefined ? undefined : sha256(secret);

  return {
    issue({ scopes, secret: shown }) {
      if (
        wanted !== undefined && !(shown !== undefined && timingSafeEqual(sha256(shown), wanted))
      ) {
        throw new ServiceError(
          "invalid_token",
          "The secret that issues tokens is missing or wrong",
        );
      }
      if (scopes.length === 0 || scopes.some((scope) => !SCOPES.includes(scope))) {
        const got = JSON.stringify(scopes).slice(0, 100);
        throw new ServiceError(
          "invalid_request",
          `scopes is ${got}; expected one or more of ${SCOPES.join(", ")}`,
          { param: "scopes" },
        );
      }
      const own = SCOPES.filter((scope) => scopes.includes(scope));
      const token = tokens.issue({ id: newId("tok_"), scopes: own });
      if (token === undefined) {
        throw new ServiceError("too_many_tokens", "Too many issued tokens are outstanding", {
          retryAfterS: Math.ceil(tokens.nextExpiryMs() / 1_000),
        });
      }
      return { token, expiresAt: clock.now() + ttlS * 1_000 };
    },
    verify(token) {
      const found = tokens.find(token);
      return found && {
        id: found.value.id,
        name: "",
        scopes: [...found.value.scopes],
        expiresAt: Math.round(clock.now() + found.leftMs),
      };
    },
    hasAny: (scope) => tokens.some(({ scopes }) => includesScope(scopes, scope)),
  };
}

/**
 * Tokens that open one WebSocket each: `swt_` and 43
 * URL-safe characters, in this process's memory as digests alone.
 *
 * A token is used up by the handshake that shows it where a token is looked at, whatever comes of that
 * handshake then: also when `allowFrom` refuses the client. One that another token was exchanged for is
 * worth no more than that: whoever uses it asks whether the other is still in force.
 *
 * @module
 */

import type { Scope } from "../../../contract/credentials.ts";
import { ServiceError } from "../../../base/errors.ts";
import { ExpiringTokens } from "../../../base/expiring_tokens.ts";
import type { LastingToken } from "./revoked_tokens.ts";

/** What they are made of. */
export interface SocketTokensOptions {
  /** `tokenTtlS`. */
  ttlS: number;
  /** Milliseconds since some moment; never jumps. */
  elapsed: () => number;
}

/** What a token stands for. */
export interface SocketGrant {
  scopes: readonly Scope[];
  /** What it was exchanged for; absent: it stands for itself. */
  from?: LastingToken;
}

export class SocketTokens {
  /** Seconds that one holds. */
  readonly ttlS: number;
  readonly #tokens: ExpiringTokens<SocketGrant>;

  constructor({ ttlS, elapsed }: SocketTokensOptions) {
    this.ttlS = ttlS;
    this.#tokens = new ExpiringTokens({
      prefix: "swt_",
      ttlMs: ttlS * 1_000,
      elapsed,
    });
  }

  /** A new one. Throws `too_many_tokens` while 10,000 are outstanding. */
  issue(scopes: readonly Scope[], from?: LastingToken): string {
    const token = this.#tokens.issue({
      scopes: [...scopes],
      ...from !== undefined && { from },
    });
    if (token !== undefined) return token;
    throw new ServiceError("too_many_tokens", "Too many issued tokens are outstanding", {
      retryAfterS: Math.ceil(this.#tokens.nextExpiryMs() / 1_000),
    });
  }

  /** What a token in force stands for; no other handshake gets in by it then. */
  take(token: string): SocketGrant | undefined {
    return this.#tokens.take(token);
  }
}

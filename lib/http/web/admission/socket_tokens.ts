/**
 * Tokens that open one WebSocket each (document 2 part 3, decisions C "Issued tokens"): `swt_` and 43
 * URL-safe characters, in this process's memory as digests alone.
 *
 * A token is used up by the handshake that shows it where a token is looked at, whatever comes of that
 * handshake then: also when `allowFrom` refuses the client.
 *
 * @module
 */

import type { Scope } from "../../../authority/operator.ts";
import { ServiceError } from "../../../errors.ts";
import { ExpiringTokens } from "../../../expiring_tokens.ts";

/** What they are made of. */
export interface SocketTokensOptions {
  /** `tokenTtlS`. */
  ttlS: number;
  /** Milliseconds since some moment; never jumps. */
  elapsed: () => number;
  /** Default 10,000. */
  maxOutstanding?: number;
}

/** See the module. */
export class SocketTokens {
  /** Seconds that one holds. */
  readonly ttlS: number;
  readonly #tokens: ExpiringTokens<readonly Scope[]>;

  constructor({ ttlS, elapsed, maxOutstanding }: SocketTokensOptions) {
    this.ttlS = ttlS;
    this.#tokens = new ExpiringTokens({
      prefix: "swt_",
      ttlMs: ttlS * 1_000,
      elapsed,
      maxOutstanding,
    });
  }

  /** A new one. Throws `too_many_tokens` while 10,000 are outstanding. */
  issue(scopes: readonly Scope[]): string {
    const token = this.#tokens.issue([...scopes]);
    if (token !== undefined) return token;
    throw new ServiceError("too_many_tokens", "Too many issued tokens are outstanding", {
      retryAfterS: Math.ceil(this.#tokens.nextExpiryMs() / 1_000),
    });
  }

  /** The scopes of a token in force, which no other handshake gets in by then. */
  take(token: string): readonly Scope[] | undefined {
    return this.#tokens.take(token);
  }
}

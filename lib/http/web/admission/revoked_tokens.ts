/**
 * Tells who came in by a token that was revoked since. Nobody says so when a token is revoked, maybe by
 * another process, so it is asked again and again, once for all who came in by the same one.
 *
 * A token that only expired takes nobody away (docs/tokens.md).
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { CheckedToken, Credential } from "../../../contract/credentials.ts";

/** How long a revoked token may still hold its sockets open. */
export const RECHECK_MS = 10_000;

/** A token for routes, by which somebody came in. */
export interface LastingToken {
  credential: Extract<Credential, { kind: "token" }>;
  /** Milliseconds since 1970; absent: until it is revoked. */
  expiresAt?: number;
}

/** What watching needs. */
export interface RevokedTokensDeps {
  /** Undefined for a token that is not in force; rejects when that cannot be learnt now. */
  check(credential: Credential): Promise<CheckedToken | undefined>;
  clock: Pick<Clock, "now" | "after">;
}

interface Watched {
  token: LastingToken;
  leave: Set<() => void>;
}

export class RevokedTokens {
  readonly #deps: RevokedTokensDeps;
  readonly #watched = new Map<string, Watched>();
  #cancel: (() => void) | undefined;
  #isLooking = false;

  constructor(deps: RevokedTokensDeps) {
    this.#deps = deps;
  }

  /** Calls `leave` once when the token was revoked; returns how to stop. */
  watch(token: LastingToken, leave: () => void): () => void {
    const key = token.credential.token;
    const watched = this.#watched.get(key) ?? { token, leave: new Set() };
    this.#watched.set(key, watched);
    // Of its own, so that one function may be given twice.
    const own = () => leave();
    watched.leave.add(own);
    this.#wait();
    return () => {
      if (!watched.leave.delete(own) || watched.leave.size > 0) return;
      if (this.#watched.get(key) === watched) this.#watched.delete(key);
      if (this.#watched.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #wait(): void {
    if (this.#cancel !== undefined || this.#isLooking) return;
    this.#cancel = this.#deps.clock.after(RECHECK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { check, clock } = this.#deps;
    this.#cancel = undefined;
    this.#isLooking = true;
    for (const [key, watched] of [...this.#watched]) {
      const { token: { credential, expiresAt = Infinity }, leave } = watched;
      // What cannot be learnt now is asked the next time.
      const isGone = await check(credential).then((known) => known === undefined, () => false);
      if (!isGone) continue;
      if (this.#watched.get(key) === watched) this.#watched.delete(key);
      if (clock.now() >= expiresAt) continue;
      for (const tell of leave) tell();
    }
    this.#isLooking = false;
    if (this.#watched.size > 0) this.#wait();
  }
}

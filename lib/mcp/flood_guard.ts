/**
 * Notices and requests of a server's that nobody asked for, bounded in number.
 *
 * @module
 */

/** In one window. */
const MAX_MESSAGES = 5_000;
const WINDOW_MS = 10_000;

/** Counts what comes. */
export class FloodGuard {
  readonly #now: () => number;
  #since = -Infinity;
  #count = 0;

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why, for people. */
  readonly reason = `it floods: more than ${MAX_MESSAGES} messages within ${WINDOW_MS / 1_000} s`;

  /** Counts one more. */
  isTooMany(): boolean {
    const now = this.#now();
    if (now - this.#since > WINDOW_MS) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count > MAX_MESSAGES;
  }
}

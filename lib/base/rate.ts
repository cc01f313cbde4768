/**
 * How often something may happen: so many at once, then so many a second.
 *
 * @module
 */

import type { Clock } from "./clock.ts";

export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** One count of what happens. */
export class Rate {
  readonly #limit: RateLimit;
  readonly #clock: Pick<Clock, "elapsed">;
  #left: number;
  #lastMs: number;

  constructor(limit: RateLimit, clock: Pick<Clock, "elapsed">) {
    this.#limit = limit;
    this.#clock = clock;
    this.#left = limit.burst;
    this.#lastMs = clock.elapsed();
  }

  /** Whether it may happen now; if so, it is counted. */
  take(): boolean {
    const { perSecond, burst } = this.#limit;
    const nowMs = this.#clock.elapsed();
    this.#left = Math.min(burst, this.#left + (nowMs - this.#lastMs) / 1_000 * perSecond);
    this.#lastMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

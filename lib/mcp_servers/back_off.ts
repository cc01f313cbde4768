/**
 * How long to leave alone what keeps failing: 1, 2, 4 … 60 seconds.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** Counts failures that follow each other. */
export class BackOff {
  readonly #clock: Pick<Clock, "elapsed">;
  #failures = 0;
  #readyAt = 0;

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  /** It failed once more. */
  failed(): void {
    const waitMs = Math.min(FIRST_MS * 2 ** Math.min(this.#failures, 16), LONGEST_MS);
    this.#failures += 1;
    this.#readyAt = this.#clock.elapsed() + waitMs;
  }

  /** It did what it is there for. */
  worked(): void {
    this.#failures = 0;
    this.#readyAt = 0;
  }

  /** Milliseconds until the next try; 0: now. */
  get waitMs(): number {
    return this.#failures === 0 ? 0 : Math.max(0, this.#readyAt - this.#clock.elapsed());
  }
}

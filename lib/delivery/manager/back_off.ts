/**
 * How long to wait before something that went wrong is tried again.
 *
 * @module
 */

/** Waits, milliseconds: the first, doubled each time, up to the longest. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** After so long without a fault the next wait is the first again, milliseconds. */
export const STEADY_MS = 5 * 60_000;

/** A wait is longer or shorter by up to this part of it: what failed together does not come back so. */
const JITTER = 0.1;

/** Waits of 1, 2, 4 … 60 s. */
export class BackOff {
  readonly #random: () => number;
  #faults = 0;

  /** `random` gives numbers from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Counts a fault, and gives the milliseconds until the next try. */
  next(): number {
    const waitMs = Math.min(FIRST_MS * 2 ** Math.min(this.#faults++, 30), LONGEST_MS);
    return Math.round(waitMs * (1 - JITTER + 2 * JITTER * this.#random()));
  }

  /** Begins with the first wait again. */
  reset(): void {
    this.#faults = 0;
  }
}

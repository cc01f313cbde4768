/**
 * Time as the agent sees it, so that tests move it by hand.
 *
 * @module
 */

/** Wall time and one-shot timers. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some moment; never jumps when the wall clock is set. */
  elapsed(): number;
  /** Calls `run` once, `ms` milliseconds from now, unless the returned function was called first. */
  after(ms: number, run: () => void): () => void;
}

/** Longest delay that a timer can hold, milliseconds; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  },
};

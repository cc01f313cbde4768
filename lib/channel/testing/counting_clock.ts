/**
 * A clock that knows its timers, so that a test sees those that somebody forgot.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

export interface CountingClock extends Clock {
  /** Timers that wait. */
  timers(): number;
}

/** Goes by another clock. */
export function countingClock(clock: Clock): CountingClock {
  const waiting = new Set<symbol>();
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after(ms, run) {
      const timer = Symbol();
      waiting.add(timer);
      const cancel = clock.after(ms, () => {
        waiting.delete(timer);
        run();
      });
      return () => {
        waiting.delete(timer);
        cancel();
      };
    },
    timers: () => waiting.size,
  };
}

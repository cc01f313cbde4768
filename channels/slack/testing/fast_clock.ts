/**
 * A clock that goes ten times as fast, for tests that wait for waits of seconds.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";

const TIMES = 10;

/** The clock; the time of day is the real one. */
export function fastClock(): Clock {
  return {
    now: () => Date.now(),
    elapsed: () => performance.now() * TIMES,
    after(ms, run) {
      const timer = setTimeout(run, ms / TIMES);
      return () => clearTimeout(timer);
    },
  };
}

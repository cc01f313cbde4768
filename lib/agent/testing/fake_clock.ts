/**
 * A clock that tests move by hand.
 *
 * @module
 */

import FakeTimers from "@sinonjs/fake-timers";
import type { Clock } from "../../base/clock.ts";

/** Time stands still until `tick` is called. */
export interface FakeClock extends Clock {
  /** Moves time on and runs what is due. */
  tick(ms: number): void;
  /** Timers that wait. */
  timers(): number;
}

/** A clock that starts on 2026-03-01, noon of this machine's time zone. */
export function fakeClock(nowMs: number = new Date(2026, 2, 1, 12).getTime()): FakeClock {
  const clock = FakeTimers.createClock(nowMs);
  return {
    now: () => clock.Date.now(),
    elapsed: () => clock.performance.now(),
    after(ms, run) {
      const timer = clock.setTimeout(run, ms);
      return () => clock.clearTimeout(timer);
    },
    tick: (ms) => void clock.tick(ms),
    timers: () => clock.countTimers(),
  };
}

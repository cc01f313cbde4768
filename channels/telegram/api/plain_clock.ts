/**
 * Timers for what is asked outside of a channel that runs, where no host gives any.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";

/** See the module. */
export const PLAIN_CLOCK: Pick<Clock, "elapsed" | "after"> = {
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Waits that end with the channel.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export function sleep(
  ms: number,
  clock: Pick<Clock, "after">,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted || ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end, { once: true });
  });
}

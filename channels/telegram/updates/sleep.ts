/**
 * Waits that a stop ends.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export async function sleep(
  clock: Pick<Clock, "after">,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted || ms <= 0) return;
  const over = Promise.withResolvers<void>();
  const cancel = clock.after(ms, over.resolve);
  signal.addEventListener("abort", () => over.resolve(), { once: true });
  await over.promise;
  cancel();
}

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** The wait behind so many failures in a row: 1, 2, 4 … 60 s. */
export function backOffMs(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
}

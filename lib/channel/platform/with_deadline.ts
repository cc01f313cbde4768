/**
 * Calls of a platform that have an end: when their time is over, and when the channel is stopped.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** When a call ends. */
export interface DeadlineOptions {
  /** Milliseconds from now. */
  timeoutMs: number;
  /** What the call's signal is aborted with then. */
  late?: () => unknown;
  /** Aborts the call with its own reason; absent: time alone does. */
  signal?: AbortSignal;
  clock: Pick<Clock, "after">;
}

/** As the call, which is given the signal that ends it. Leaves no timer behind. */
export async function withDeadline<T>(
  { timeoutMs, late, signal, clock }: DeadlineOptions,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const cancel = clock.after(timeoutMs, () => ending.abort(late?.()));
  try {
    return await call(ending.signal);
  } finally {
    cancel();
    signal?.removeEventListener("abort", stop);
  }
}

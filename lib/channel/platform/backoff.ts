/**
 * How long is waited before what failed is tried again: twice as long each time, up to a bound, and not
 * everybody at once behind a server that has gone.
 *
 * @module
 */

/** Bounds of the waits. */
export interface BackoffOptions {
  /** Behind the first failure, milliseconds; default 1,000. */
  firstMs?: number;
  /** The longest, before it is spread; default 60,000. */
  maxMs?: number;
  /** From 0 up to 1; default `Math.random`. */
  random?: () => number;
}

/** Milliseconds behind so many failures in a row, 1 or more: 1, 2, 4 … 60 s, and up to a quarter more. */
export function backoffMs(
  failures: number,
  { firstMs = 1_000, maxMs = 60_000, random = Math.random }: BackoffOptions = {},
): number {
  const doublings = Math.min(Math.max(0, failures - 1), 30);
  return Math.round(Math.min(maxMs, firstMs * 2 ** doublings) * (1 + random() / 4));
}

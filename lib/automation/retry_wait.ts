/**
 * How long a run that failed waits for its next attempt.
 *
 * @module
 */

const FIRST_MS = 30_000;
const LONGEST_MS = 60 * 60_000;

/**
 * Milliseconds after attempt number `attempt` (from 1): 30 s, 1, 2, 4 … 60 minutes. Undefined when it
 * was the last of `1 + retries`.
 */
export function retryWaitMs(attempt: number, retries: number): number | undefined {
  if (attempt > retries) return undefined;
  return Math.min(FIRST_MS * 2 ** Math.min(attempt - 1, 16), LONGEST_MS);
}

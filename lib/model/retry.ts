/**
 * Trying a model call again: with growing waits, and only as long as nothing of an answer was seen.
 * This is the only layer that does; the packages' `doStream` never repeats a request by itself.
 *
 * @module
 */

import type { ModelEvent } from "./port.ts";
import { ProviderError } from "./provider_error.ts";

/** How often and how patiently. */
export interface RetryPolicy {
  /** Tries in all, 1 or more. */
  maxTries: number;
  /** Milliseconds of the first wait; each further one is twice as long. */
  firstDelayMs: number;
  /** Longest wait in milliseconds. A provider that asks for more is not asked again. */
  maxDelayMs: number;
}

/** Three tries within a few seconds; half a minute when the provider asks for it. */
export const RETRY_POLICY: RetryPolicy = {
  maxTries: 3,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
};

/** What {@linkcode withRetry} needs. */
export interface RetryDeps {
  policy: RetryPolicy;
  /** From 0 to below 1. */
  random: () => number;
  /** Resolves after the time; rejects with the signal's reason as soon as it aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * The events of the first try that gives any; a `notice` before each further try. Throws the error
 * of the last try; at once when it is not transient, when an event was already yielded, or when the
 * provider asks to wait longer than `maxDelayMs`.
 */
export async function* withRetry(
  attempt: () => AsyncIterable<readonly ModelEvent[]>,
  signal: AbortSignal,
  { policy, random, sleep }: RetryDeps,
): AsyncGenerator<readonly ModelEvent[]> {
  for (let tries = 1;; tries++) {
    let delayMs: number;
    let yielded = false;
    try {
      for await (const events of attempt()) {
        yielded = true;
        yield events;
      }
      return;
    } catch (error) {
      if (yielded || !(error instanceof ProviderError) || !error.transient) throw error;
      if (tries >= policy.maxTries) throw error;
      delayMs = delayAfter(tries, error.details.retryAfterS, policy, random());
      if (delayMs > policy.maxDelayMs) throw error;
      const wait = delayMs < 1_000 ? "a moment" : `${Math.round(delayMs / 1_000)} s`;
      yield [{
        type: "notice",
        text: `${error.message}; trying again in ${wait} (try ${tries + 1} of ${policy.maxTries})`,
      }];
    }
    await sleep(delayMs, signal);
  }
}

/** Half of the wait is left to chance, so that callers that failed together do not return together. */
function delayAfter(
  tries: number,
  retryAfterS: number | undefined,
  { firstDelayMs, maxDelayMs }: RetryPolicy,
  chance: number,
): number {
  const fullMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (tries - 1));
  const ownMs = fullMs / 2 + (fullMs / 2) * chance;
  if (retryAfterS === undefined) return ownMs;
  // Never earlier than asked; a little later, each at another time.
  const askedMs = retryAfterS * 1_000;
  return askedMs > maxDelayMs ? askedMs : Math.min(maxDelayMs, askedMs + ownMs / 2);
}

/** A {@linkcode RetryDeps.sleep} on the real clock. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    function onAbort(): void {
      clearTimeout(timer);
      reject(signal.reason);
    }
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

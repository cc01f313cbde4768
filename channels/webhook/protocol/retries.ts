/**
 * When to try again what the receiver did not take: after growing waits, for as long as the service keeps
 * the message (24 h), and not without bound for one receiver.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { PermanentDeliveryError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { pauseOf } from "../../../lib/channel/platform/mod.ts";

/** The first wait; each further one is twice as long, up to the longest, milliseconds. */
const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60 * 1_000;

/** Tries that may fail in a stretch of time before what has failed once waits for its end. */
const MAX_FAILURES = 120;
const STRETCH_MS = 60_000;

/** Messages whose failures are counted; one that is forgotten begins with the first wait again. */
const MAX_COUNTED = 10_000;

/** One for each receiver. */
export class Retries {
  readonly #clock: Pick<Clock, "elapsed">;
  /** How often each message has failed. */
  readonly #failures = new Map<string, number>();
  /** In the stretch of time that ends then. */
  #failed = 0;
  #stretchEndsMs = -Infinity;

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  /**
   * Sends, and rejects with a `PermanentDeliveryError` or with a `RetryLaterError` that says when to come
   * again. `key` is the same at every attempt.
   */
  async send(key: string, post: () => Promise<void>): Promise<void> {
    const failures = this.#failures.get(key) ?? 0;
    const leftMs = this.#stretchEndsMs - this.#clock.elapsed();
    // What was never tried is not held up by what fails.
    if (failures > 0 && leftMs > 0 && this.#failed >= MAX_FAILURES) {
      throw new RetryLaterError("Too much has failed at this receiver in the last minute", leftMs);
    }
    try {
      await post();
      this.#failures.delete(key);
    } catch (error) {
      this.#failures.delete(key);
      if (error instanceof PermanentDeliveryError) throw error;
      this.#count(key, failures + 1);
      const waitMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
      throw new RetryLaterError((error as Error).message, Math.max(waitMs, pauseOf(error)));
    }
  }

  #count(key: string, failures: number): void {
    this.#failures.set(key, failures);
    if (this.#failures.size > MAX_COUNTED) {
      this.#failures.delete(this.#failures.keys().next().value!);
    }
    const now = this.#clock.elapsed();
    if (now >= this.#stretchEndsMs) {
      this.#failed = 0;
      this.#stretchEndsMs = now + STRETCH_MS;
    }
    this.#failed++;
  }
}

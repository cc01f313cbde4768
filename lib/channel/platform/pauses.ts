/**
 * What a platform wants no calls of for a while.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** Pauses that are known; of more, the oldest is forgotten. */
const MAX_PAUSES = 1_000;

/** By what the platform counts: a method, a chat, or "" for all. */
export class Pauses {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  /** Milliseconds that are left of the longest; 0 for none. */
  leftMs(...keys: readonly string[]): number {
    const now = this.#clock.elapsed();
    return Math.max(0, ...keys.map((key) => (this.#untilMs.get(key) ?? now) - now));
  }

  /** One begins, or another in its place. */
  begin(key: string, ms: number): void {
    const now = this.#clock.elapsed();
    for (const [known, untilMs] of this.#untilMs) if (untilMs <= now) this.#untilMs.delete(known);
    this.#untilMs.set(key, now + ms);
    if (this.#untilMs.size > MAX_PAUSES) {
      this.#untilMs.delete(this.#untilMs.keys().next().value!);
    }
  }
}

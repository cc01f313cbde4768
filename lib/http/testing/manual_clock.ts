/**
 * A clock that tests move by hand.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** Time stands still until {@linkcode ManualClock.advance} is called. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<{ atMs: number; run: () => void }>();

  readonly now = () => this.#nowMs;
  readonly elapsed = () => this.#nowMs;

  readonly after = (ms: number, run: () => void): () => void => {
    const timer = { atMs: this.#nowMs + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Timers that wait. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Moves time on and runs what is due, in order. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = untilMs;
  }
}

/**
 * When a server is asked again what it offers: many notices make one question and one more after it, and
 * a server that gives them without end is asked less and less often.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";

/** Between two questions: twice as long each time, until it was quiet for the longest. */
const GAP_MS = 1_000;
const LONGEST_GAP_MS = 60_000;

/** Asks, in its own time. */
export class Relists {
  readonly #clock: Clock;
  readonly #list: () => Promise<void>;
  #isWanted = false;
  #isAsking = false;
  #askedAt = -Infinity;
  #gapMs = GAP_MS;

  /** `list` asks; it never rejects. */
  constructor(clock: Clock, list: () => Promise<void>) {
    this.#clock = clock;
    this.#list = list;
  }

  /** A list may have changed. */
  ask(): void {
    this.#isWanted = true;
    if (!this.#isAsking) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      const now = this.#clock.elapsed();
      const isQuiet = now - this.#askedAt > LONGEST_GAP_MS;
      this.#gapMs = isQuiet ? GAP_MS : Math.min(this.#gapMs * 2, LONGEST_GAP_MS);
      this.#askedAt = now;
      await this.#list();
      // Nobody waits for this.
      await new Promise<void>((resolve) => void this.#clock.after(this.#gapMs, resolve));
    }
    this.#isAsking = false;
  }
}

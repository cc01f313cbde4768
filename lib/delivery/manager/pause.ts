/**
 * A wait that something else can end, also before it begins: whoever looks at the state, waits, and looks
 * again, misses nothing.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** For one that waits at a time. */
export class Pause {
  readonly #clock: Pick<Clock, "after">;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Waits until {@linkcode Pause.end}, and so many milliseconds at most. */
  async wait(ms?: number): Promise<void> {
    if (!this.#isEnded) {
      const over = Promise.withResolvers<void>();
      this.#wake = over.resolve;
      const cancel = ms === undefined ? () => {} : this.#clock.after(ms, over.resolve);
      await over.promise;
      cancel();
      this.#wake = undefined;
    }
    this.#isEnded = false;
  }

  /** Ends the wait, or the next one where there is none. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }
}

import type { Clock } from "../../../lib/base/clock.ts";

/** That a room says a message of ours again. */
export interface Echo {
  /** Resolves when it has; never where it does not. */
  came: Promise<void>;
  /** Resolves when it has, or after so many milliseconds. */
  within: (ms: number) => Promise<void>;
  forget: () => void;
}

/** Messages of ours that a room has not said again yet. */
export class Echoes {
  readonly #clock: Pick<Clock, "after">;
  readonly #waiting = new Map<string, () => void>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Waits for one, until it is forgotten. */
  of(id: string): Echo {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(id, resolve);
    return {
      came: promise,
      within: async (ms) => {
        const late = Promise.withResolvers<void>();
        const cancel = this.#clock.after(ms, late.resolve);
        await Promise.race([promise, late.promise]);
        cancel();
      },
      forget: () => void this.#waiting.delete(id),
    };
  }

  /** One has come. */
  take(id: string): void {
    this.#waiting.get(id)?.();
  }

  /** None comes any more: what waits for one is told otherwise. */
  close(): void {
    this.#waiting.clear();
  }
}

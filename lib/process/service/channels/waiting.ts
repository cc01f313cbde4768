/**
 * Waits of messages that come in: in their order, and for one of a few places.
 *
 * @module
 */

/** The promise's outcome, or a rejection with the signal's reason if that comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** One at a time of each key, in the order of calls. Keeps nothing of a key with which nothing waits. */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Keys with something that runs or waits. */
  get size(): number {
    return this.#last.size;
  }

  /** Runs when those before have ended; rejects with the signal's reason while it waits. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const over = Promise.withResolvers<void>();
    // One that gave up lets nobody past those before it.
    const last = before === undefined ? over.promise : before.then(() => over.promise);
    this.#last.set(key, last);
    try {
      if (before !== undefined) await orAborted(before, signal);
      return await work();
    } finally {
      over.resolve();
      void last.then(() => {
        if (this.#last.get(key) === last) this.#last.delete(key);
      });
    }
  }
}

/** A number of places, given in the order of calls. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place; the returned function gives it back. Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else {
      const turn = Promise.withResolvers<void>();
      this.#waiting.push(turn.resolve);
      try {
        await orAborted(turn.promise, signal);
      } catch (error) {
        const at = this.#waiting.indexOf(turn.resolve);
        if (at >= 0) this.#waiting.splice(at, 1);
        // It was this one's already.
        else this.#give();
        throw error;
      }
    }
    let isTaken = true;
    return () => {
      if (isTaken) this.#give();
      isTaken = false;
    };
  }

  #give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

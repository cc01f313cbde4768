import { abortable } from "./abortable.ts";

/** One at a time of each key, in the order of calls. Keeps nothing of a key with which nothing waits. */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Keys with something that runs or waits. */
  get size(): number {
    return this.#last.size;
  }

  /** Runs when those before have ended; rejects with the signal's reason while it waits. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last.get(key);
    const over = Promise.withResolvers<void>();
    // One that gave up lets nobody past those before it.
    const last = before === undefined ? over.promise : before.then(() => over.promise);
    this.#last.set(key, last);
    try {
      if (before !== undefined) await (signal === undefined ? before : abortable(before, signal));
      return await work();
    } finally {
      over.resolve();
      void last.then(() => {
        if (this.#last.get(key) === last) this.#last.delete(key);
      });
    }
  }
}

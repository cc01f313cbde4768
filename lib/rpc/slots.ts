/**
 * A bound on what runs at once, with a bounded line of those that wait.
 *
 * @module
 */

/** Places for what may run at once, given in the order of asking. */
export class Slots {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** At most `max` run, at most `maxWaiting` wait. */
  constructor(readonly max: number, readonly maxWaiting: number) {}

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for a place; the answer gives it back, once. Undefined when too many wait already; rejects
   * with the signal's reason after an abort.
   */
  async take(signal: AbortSignal): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    if (this.#running >= this.max) {
      if (this.#waiting.length >= this.maxWaiting) return undefined;
      await this.#turn(signal);
    } else {
      this.#running++;
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      // The place passes on without becoming free, so nobody slips in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    const enter = () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    this.#waiting.push(enter);
    signal.addEventListener("abort", onAbort, { once: true });
    return promise;
  }
}

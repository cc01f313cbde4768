/** Lets tests wait until something holds that changes as things happen, without asking again and again. */
export class Happenings {
  /** How often something has happened. */
  count = 0;
  #next = Promise.withResolvers<void>();

  /** Something has happened. */
  note(): void {
    this.count += 1;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when it holds; it is asked now and after each happening. Rejects where that takes too long. */
  async until(holds: () => boolean, patienceMs = 60_000): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`Waited in vain for ${holds}`)),
      patienceMs,
    );
    try {
      while (!holds()) await Promise.race([this.#next.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

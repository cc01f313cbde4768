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

  /** Resolves when it holds; it is asked now and after each happening. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#next.promise;
  }
}

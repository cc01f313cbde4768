/**
 * The event streams that are open, so that a stopping service can end them: a listener waits for
 * them otherwise.
 *
 * @module
 */

/** A set of streams, each known by the function that ends it. */
export class OpenStreams {
  readonly #ends = new Set<() => void>();

  get size(): number {
    return this.#ends.size;
  }

  /** Remembers a stream; the returned function forgets it. */
  add(end: () => void): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  /** Ends all of them. */
  endAll(): void {
    for (const end of [...this.#ends]) end();
    this.#ends.clear();
  }
}

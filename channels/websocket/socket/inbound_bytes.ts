/**
 * How much of what clients send is held in memory at the same time, over all connections.
 *
 * @module
 */

/** A budget of bytes, of which each holder has a share. */
export class InboundBytes {
  readonly #maxBytes: number;
  readonly #shares = new Map<object, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Says what a holder holds now; false when that, being more than before, is more than there is. */
  set(holder: object, bytes: number): boolean {
    const before = this.#shares.get(holder) ?? 0;
    if (bytes > 0) this.#shares.set(holder, bytes);
    else this.#shares.delete(holder);
    this.#bytes += bytes - before;
    return bytes <= before || this.#bytes <= this.#maxBytes;
  }
}

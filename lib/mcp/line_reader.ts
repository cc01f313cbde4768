/**
 * Lines of a stream, each of bounded length.
 *
 * @module
 */

/** Takes bytes as they come; holds one line at most. */
export class LineReader {
  readonly #maxBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that are complete by now, without their ends. Throws a RangeError for one too long. */
  *push(chunk: Uint8Array): Iterable<string> {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(0x0a, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#heldBytes += part.length;
      if (this.#heldBytes > this.#maxBytes) {
        throw new RangeError(`a line has more than ${this.#maxBytes} bytes`);
      }
      if (end === -1) {
        // A copy: the reader's buffer may be large, and what is held of it small.
        if (part.length > 0) this.#held.push(part.slice());
        return;
      }
      yield this.#take(part);
      from = end + 1;
    }
  }

  #take(last: Uint8Array): string {
    const bytes = new Uint8Array(this.#heldBytes);
    let at = 0;
    for (const part of [...this.#held, last]) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#held = [];
    this.#heldBytes = 0;
    return new TextDecoder().decode(bytes).replace(/\r$/, "");
  }
}

/**
 * How many bytes of images are loaded for models at the same time, over all turns. On its way to the
 * provider an image is in memory several times, as base64, as a text and as bytes again.
 *
 * @module
 */

/** A place that was asked for. */
export interface ImagePlace {
  /** Resolves when the images may be loaded. */
  entered: Promise<void>;
  /** Gives the place back, or stops waiting for it; may be called again. */
  leave(): void;
}

interface Waiting {
  bytes: number;
  enter: () => void;
}

/** Lets turns in one after the other, in the order in which they ask. */
export class ImageRoom {
  readonly #maxBytes: number;
  readonly #waiting: Waiting[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Asks for room. More than there is at all is let in when nobody else is. */
  take(bytes: number): ImagePlace {
    const { promise: entered, resolve } = Promise.withResolvers<void>();
    let state: "waiting" | "in" | "gone" = "waiting";
    const enter = () => {
      state = "in";
      this.#bytes += bytes;
      resolve();
    };
    const waiting = { bytes, enter };
    this.#waiting.push(waiting);
    this.#admit();
    return {
      entered,
      leave: () => {
        if (state === "in") this.#bytes -= bytes;
        else if (state === "waiting") this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        state = "gone";
        this.#admit();
      },
    };
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#bytes > 0 && this.#bytes + next.bytes > this.#maxBytes) return;
      this.#waiting.shift();
      next.enter();
    }
  }
}

/**
 * How many bytes of bodies are held in memory at the same time, over all requests.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** A share of the budget, given back as a whole. */
export interface Lease extends Disposable {
  /** Throws `overloaded` when it would be more than there is; the lease is then given back. */
  add(bytes: number): void;
}

/** Seconds after which an upload may find room. */
const RETRY_AFTER_S = 5;

/** A budget of bytes. */
export class HeldBytes {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An empty lease. */
  lease(): Lease {
    let own = 0;
    return {
      add: (bytes) => {
        if (this.#bytes + bytes > this.#maxBytes) {
          // At once: those that come in the same moment would be refused for what is going already.
          this.#bytes -= own;
          own = 0;
          throw new ServiceError(
            "overloaded",
            "Too much is being uploaded at the same time; send it again later",
            { retryAfterS: RETRY_AFTER_S },
          );
        }
        own += bytes;
        this.#bytes += bytes;
      },
      [Symbol.dispose]: () => {
        this.#bytes -= own;
        own = 0;
      },
    };
  }
}

/**
 * Waits of the kit: for something that another program does, with an end.
 *
 * @module
 */

import { Broken } from "./channel_check.ts";

/** Milliseconds between two looks. */
const LOOK_MS = 5;

/** How long is waited for what a platform or a channel does. */
export class Patience {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Resolves as soon as something holds. Rejects with what was waited for. */
  async until(holds: () => boolean | Promise<boolean>, waitedFor: string): Promise<void> {
    const end = performance.now() + this.#ms;
    while (!await holds()) {
      if (performance.now() > end) throw new Broken(this.#late(waitedFor));
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** What a promise comes to. Rejects with what was waited for when it does not settle. */
  async settled<T>(promise: Promise<T>, waitedFor: string): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Broken(this.#late(waitedFor))), this.#ms);
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #late(waitedFor: string): string {
    return `within ${this.#ms / 1_000} s ${waitedFor}`;
  }
}

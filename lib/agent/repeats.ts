/**
 * Requests that repeat one another while the first is still being accepted: they wait for it instead
 * of taking places in the lane, of which there are fewer than repeats may come.
 *
 * @module
 */

import type { RequestKey } from "../contract/journal.ts";
import type { TurnHandle } from "../contract/turns.ts";

/** What repeats are found and accepted by. */
export interface RepeatsDeps {
  /** The turn on record that was opened with this key; throws for another request under the key. */
  find: (key: RequestKey) => TurnHandle | undefined;
}

/** Lets one request of a key be accepted at a time. */
export class Repeats {
  readonly #deps: RepeatsDeps;
  /** Those that are not on record yet, by scope and key. */
  readonly #accepting = new Map<string, Promise<TurnHandle>>();

  constructor(deps: RepeatsDeps) {
    this.#deps = deps;
  }

  /** The turn of the key, if there is one or is about to be; else what `accept` comes to. */
  async submit(key: RequestKey, accept: () => Promise<TurnHandle>): Promise<TurnHandle> {
    const name = JSON.stringify([key.scope, key.key]);
    for (;;) {
      const known = this.#deps.find(key);
      if (known !== undefined) return known;
      const ahead = this.#accepting.get(name);
      if (ahead === undefined) break;
      await ahead.catch(() => {});
    }
    const accepted = accept();
    this.#accepting.set(name, accepted);
    try {
      return await accepted;
    } finally {
      this.#accepting.delete(name);
    }
  }
}

/**
 * What fails by itself each time, and would hold up for ever what is behind it: after so many failures it
 * is gone on without it.
 *
 * @module
 */

/** Names whose failures are counted; of more, the one that failed longest ago begins anew. */
const MAX_NAMES = 1_000;

/** To be asked for failures alone that say something of the thing and not of the platform. */
export class Tries {
  readonly #max: number;
  readonly #failures = new Map<string, number>();

  /** `max`: failures in a row, of which the last one is the end. */
  constructor(max: number) {
    this.#max = max;
  }

  /** It has failed once more. True when that was the last try; it begins anew then. */
  isLast(name: string): boolean {
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.delete(name);
    if (failures >= this.#max) return true;
    this.#failures.set(name, failures);
    if (this.#failures.size > MAX_NAMES) {
      this.#failures.delete(this.#failures.keys().next().value!);
    }
    return false;
  }

  /** It has gone well. */
  forget(name: string): void {
    this.#failures.delete(name);
  }
}

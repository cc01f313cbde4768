/**
 * Ctrl-C without a terminal, for tests.
 *
 * @module
 */

import type { Signals } from "../agent/interrupts.ts";

/** Signals that a test sends. */
export class FakeSignals implements Signals {
  readonly #listeners = new Set<() => void>();
  /** Codes that the program wanted to end with. */
  readonly exits: number[] = [];

  /** How many listen. */
  get listeners(): number {
    return this.#listeners.size;
  }

  onInterrupt(listener: () => void): void {
    this.#listeners.add(listener);
  }

  offInterrupt(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  /** Presses Ctrl-C. */
  interrupt(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

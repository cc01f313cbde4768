/**
 * Takes secrets out of a text that comes in pieces.
 *
 * Places are decided one after the other, each by what stands there and never by where a piece ends: so
 * any cut of a text gives the same. What is held back is what may begin a secret, at most as long as the
 * longest form, and it is looked at again only when enough has come to say more about it.
 *
 * @module
 */

import type { FingerprintTable } from "./fingerprint_table.ts";

/** One text on its way. */
export class ScrubStream {
  readonly #table: () => FingerprintTable;
  #looked: FingerprintTable | undefined;
  /** From the first place that is not decided on. */
  #held = "";
  /** Characters of it that a found secret covers already. */
  #covered = 0;
  #name = "";
  /** Length from which on more can be said. */
  #enough = 0;

  /** `table` gives the fingerprints in force. */
  constructor(table: () => FingerprintTable) {
    this.#table = table;
  }

  /** The next piece; returns what may go on. */
  push(text: string): string {
    const table = this.#table();
    if (table.isEmpty && this.#held === "") return text;
    this.#held += text;
    if (this.#held.length < this.#enough && table === this.#looked) return "";
    return this.#scan(table, false);
  }

  /**
   * Returns what is held back, though it may begin a secret: there is a stop in the text, and it is not
   * to wait. If it does begin one, the rest of that is not said.
   */
  flush(): string {
    const out = this.#held.slice(this.#covered);
    if (out === "") return "";
    this.#covered = this.#held.length;
    this.#name = "";
    return out;
  }

  /** There is no more; returns the rest. The stream may then be used for another text. */
  end(): string {
    const rest = this.#scan(this.#table(), true);
    this.#name = "";
    return rest;
  }

  #scan(table: FingerprintTable, isWhole: boolean): string {
    const text = this.#held;
    let out = "";
    // Where what is neither said nor covered begins.
    let open = this.#covered;
    let at = 0;
    let missing = 0;
    while (at < text.length) {
      at = table.next(text, at);
      const found = table.find(text, at, isWhole);
      if (found === undefined) {
        at += 1;
        continue;
      }
      if ("missing" in found) {
        missing = found.missing;
        break;
      }
      const overlaps = at < open;
      if (!overlaps) out += text.slice(open, at);
      // Secrets may overlap: each is named, and nothing of either is said.
      if (found.end > open) {
        if (!overlaps || found.name !== this.#name) out += `[secret ${found.name}]`;
        this.#name = found.name;
        open = found.end;
      }
      at += 1;
    }
    if (at > open) {
      out += text.slice(open, at);
      open = at;
    }
    this.#held = text.slice(at);
    this.#covered = open - at;
    this.#enough = this.#held.length + missing;
    this.#looked = table;
    return out;
  }
}

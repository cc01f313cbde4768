/**
 * Which actions have a beginning on record and no end.
 *
 * @module
 */

import type { AuditRecord } from "./record.ts";

/** An action that was started and never ended on record. */
export interface UnknownAction {
  seq: number;
  ts: number;
  data: Record<string, unknown>;
  /** A later process wrote here, so this one cannot be running any more. */
  crashed: boolean;
}

/** Most that are listed; of more only the number is known. */
const MAX_LISTED = 10_000;

/** Follows the records of an audit. */
export class UnknownActions {
  readonly #open = new Map<number, UnknownAction>();
  /** Oldest ones that were left out of the list. */
  more = 0;

  note({ kind, seq, ts, data }: AuditRecord): void {
    switch (kind) {
      case "log.open":
        for (const action of this.#open.values()) action.crashed = true;
        break;
      case "action.start":
        this.#open.set(seq, { seq, ts, data, crashed: false });
        if (this.#open.size > MAX_LISTED) {
          this.#open.delete(this.#open.keys().next().value!);
          this.more++;
        }
        break;
      case "action.end":
        this.#open.delete(data.start as number);
        break;
    }
  }

  list(): UnknownAction[] {
    return [...this.#open.values()];
  }
}

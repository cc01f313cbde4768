/**
 * How many mails go to one address in an hour, over restarts too: two programs that answer each other
 * without saying that they are programs end here.
 *
 * @module
 */

import { join } from "@std/path";
import type { Clock } from "../../../lib/base/clock.ts";
import { readState, writeState } from "../account/write_state.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** Addresses that are counted; the one that was written to the longest ago is forgotten first. */
const MAX_ADDRESSES = 1_000;

export class AnswerLimit {
  readonly #path: string;
  readonly #max: number;
  readonly #clock: Pick<Clock, "now">;
  #sent: Map<string, Map<string, number>> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ stateDir, max, clock }: {
    stateDir: string;
    max: number;
    clock: Pick<Clock, "now">;
  }) {
    this.#path = join(stateDir, "sent.json");
    this.#max = max;
    this.#clock = clock;
  }

  /** Whether a mail may go out; counts it if so. The same id again is the same mail, which was counted. */
  take(address: string, id: string): Promise<boolean> {
    const taken = this.#last.then(() => this.#take(address, id));
    this.#last = taken.catch(() => {});
    return taken;
  }

  async #take(address: string, id: string): Promise<boolean> {
    const sent = this.#sent ??= await this.#read();
    const now = this.#clock.now();
    const times = sent.get(address) ?? new Map<string, number>();
    for (const [each, at] of times) {
      // A clock that was set back makes no hour longer.
      if (at <= now - HOUR_MS || at > now) times.delete(each);
    }
    if (times.has(id)) return true;
    if (times.size >= this.#max) return false;
    times.set(id, now);
    // Last written to, last forgotten.
    sent.delete(address);
    sent.set(address, times);
    for (const each of sent.keys()) {
      if (sent.size <= MAX_ADDRESSES) break;
      sent.delete(each);
    }
    const rows = [...sent].map(([each, ids]) => [each, [...ids]]);
    await writeState(this.#path, rows);
    return true;
  }

  /** What cannot be read any more counts as nothing. */
  async #read(): Promise<Map<string, Map<string, number>>> {
    try {
      const rows = await readState(this.#path);
      if (!Array.isArray(rows)) return new Map();
      return new Map(rows.map(([address, ids]) => [String(address), new Map(ids)]));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeError) return new Map();
      throw error;
    }
  }
}

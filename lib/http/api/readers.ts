/**
 * Who reads which turn over HTTP: a turn whose last reader has left is cancelled, at once or after a
 * grace in which a repeat of its request can take its place.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { TurnHandle, Turns } from "../../contract/turns.ts";

/** Milliseconds that a turn with an Idempotency-Key goes on without a reader. */
export const REPEAT_GRACE_MS = 30_000;

/** What the seats need. */
export interface ReadersDeps {
  turns: Pick<Turns, "find">;
  clock: Clock;
}

/** The readers of one turn; forgotten when the last one has left and its grace is over. */
interface Seats {
  taken: number;
  /** The longest that any of its readers asked for. */
  graceMs: number;
  cancelTimer: () => void;
}

/** Counts readers by turn. */
export class Readers {
  readonly #deps: ReadersDeps;
  readonly #seats = new Map<string, Seats>();

  constructor(deps: ReadersDeps) {
    this.#deps = deps;
  }

  /** Turns that have a reader, or may still get one back. */
  get size(): number {
    return this.#seats.size;
  }

  /**
   * Takes a seat; the returned function, which may be called again, leaves it. `graceMs`: how long
   * the turn goes on when the last reader has left, 0 for not at all, Infinity for as long as it
   * takes. A turn that goes on after a restart has no need of readers, whatever they say.
   */
  join(handle: TurnHandle, { graceMs }: { graceMs: number }): () => void {
    const seats = this.#seats.get(handle.id) ?? { taken: 0, graceMs: 0, cancelTimer: () => {} };
    this.#seats.set(handle.id, seats);
    seats.cancelTimer();
    seats.taken++;
    seats.graceMs = Math.max(seats.graceMs, handle.turn.durable ? Infinity : graceMs);
    handle.setPresent(true);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      if (--seats.taken === 0) this.#empty(handle, seats);
    };
  }

  /** The last reader of a turn has left. */
  #empty(handle: TurnHandle, seats: Seats): void {
    handle.setPresent(false);
    if (seats.graceMs === 0 || seats.graceMs === Infinity || this.hasEnded(handle.id)) {
      this.#seats.delete(handle.id);
      if (seats.graceMs === 0) handle.cancel();
      return;
    }
    seats.cancelTimer = this.#deps.clock.after(seats.graceMs, () => {
      this.#seats.delete(handle.id);
      handle.cancel();
    });
  }

  /** Whether nothing more comes of a turn. */
  hasEnded(turnId: string): boolean {
    const turn = this.#deps.turns.find(turnId)?.turn;
    return turn === undefined || (turn.status !== "queued" && turn.status !== "running");
  }
}

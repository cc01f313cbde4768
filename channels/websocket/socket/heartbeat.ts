/**
 * Finds connections whose other end is gone without a word: each is pinged, and one that does not answer
 * is dead. One timer serves all of them.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";

/** A connection, as far as it is watched. */
export interface Watched {
  ping(): void;
  /** It did not answer. */
  dead(): void;
  /**
   * Whether it could not answer yet: its pong would stand behind what is not read from it, or behind the
   * message that it is in the middle of sending.
   */
  isBusy(): boolean;
}

/** Times of a heartbeat. */
export interface HeartbeatTimes {
  pingIntervalMs: number;
  pingTimeoutMs: number;
}

interface Beat {
  nextPingMs: number;
  /** When the pong is too late; Infinity while none is awaited. */
  pongDueMs: number;
}

/** Looks in an interval or a time-out, whichever is shorter: no time is missed by more than an eighth. */
const LOOKS = 8;

export class Heartbeat {
  readonly #beats = new Map<Watched, Beat>();
  readonly #clock: Pick<Clock, "after" | "elapsed">;
  readonly #times: HeartbeatTimes;
  readonly #lookMs: number;
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, "after" | "elapsed">, times: HeartbeatTimes) {
    this.#clock = clock;
    this.#times = times;
    this.#lookMs = Math.min(times.pingIntervalMs, times.pingTimeoutMs) / LOOKS;
  }

  watch(watched: Watched): void {
    const nextPingMs = this.#clock.elapsed() + this.#times.pingIntervalMs;
    this.#beats.set(watched, { nextPingMs, pongDueMs: Infinity });
    this.#cancel ??= this.#clock.after(this.#lookMs, this.#look);
  }

  /** It answered. */
  alive(watched: Watched): void {
    const beat = this.#beats.get(watched);
    if (beat !== undefined) beat.pongDueMs = Infinity;
  }

  forget(watched: Watched): void {
    this.#beats.delete(watched);
    if (this.#beats.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  readonly #look = (): void => {
    this.#cancel = this.#clock.after(this.#lookMs, this.#look);
    const nowMs = this.#clock.elapsed();
    for (const [watched, beat] of this.#beats) {
      if (beat.pongDueMs !== Infinity && watched.isBusy()) {
        beat.pongDueMs = nowMs + this.#times.pingTimeoutMs;
      }
      if (beat.pongDueMs <= nowMs) {
        this.forget(watched);
        watched.dead();
      } else if (beat.nextPingMs <= nowMs) {
        beat.nextPingMs = nowMs + this.#times.pingIntervalMs;
        if (beat.pongDueMs === Infinity) beat.pongDueMs = nowMs + this.#times.pingTimeoutMs;
        watched.ping();
      }
    }
  };
}

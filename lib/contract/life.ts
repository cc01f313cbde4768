/**
 * How long a turn may live: its deadline, its watchdog, and the one reason that ended it early.
 *
 * A turn waits for its ports only through {@linkcode Life.wait}, which gives up when the turn is
 * ended, so that a port that ignores its signal cannot hold a lane.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { TurnStatus } from "./events.ts";

/** Bounds of a turn, milliseconds. */
export interface LifeLimits {
  /** From its start to its end, pauses not counted. */
  timeoutMs: number;
  /** Without any sign of life. */
  stallMs: number;
}

/** Why a turn was ended from outside of its loop. */
export interface Verdict {
  status: Exclude<TurnStatus, "done">;
  error: ServiceError;
  /** What broke, for the log, where the error is the turn's own fault and not someone's wish. */
  cause?: unknown;
}

/** The time that one running turn has. */
export class Life {
  readonly #clock: Clock;
  readonly #limits: LifeLimits;
  readonly #abort = new AbortController();
  readonly #waiting = new Set<(reason: unknown) => void>();
  #verdict: Verdict | undefined;
  #doing = "the turn";
  #lastSignMs: number;
  #leftMs: number;
  #runningSinceMs: number;
  #pauses = 0;
  #cancelTimer: () => void = () => {};
  /** What may mend a stall; see {@linkcode Life.onStall}. */
  #rescue: ((quietMs: number) => boolean) | undefined;
  #closed = false;

  constructor(clock: Clock, limits: LifeLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#leftMs = limits.timeoutMs;
    this.#runningSinceMs = this.#lastSignMs = clock.elapsed();
    this.#arm();
  }

  /** Aborts when the turn is ended; its reason is the verdict's error. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the turn was ended early; undefined while it may go on. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  /** Says what the turn waits for from here on, for the words of a stall; a sign of life too. */
  begin(what: string): void {
    this.#doing = what;
    this.#rescue = undefined;
    this.touch();
  }

  /**
   * Called when there was no sign of life for too long, until the turn waits for something else. When it
   * returns true, something else is tried, and the turn is not ended.
   */
  onStall(rescue: (quietMs: number) => boolean): void {
    this.#rescue = rescue;
  }

  /** A sign of life: the watchdog counts anew. Cheap: it is called for every delta. */
  touch(): void {
    this.#lastSignMs = this.#clock.elapsed();
  }

  /** Deadline and watchdog stand still until the returned function is called (an approval waits). */
  pause(): () => void {
    if (this.#pauses++ === 0) {
      this.#leftMs -= this.#clock.elapsed() - this.#runningSinceMs;
      this.#cancelTimer();
    }
    let resumed = false;
    return () => {
      if (resumed) return;
      resumed = true;
      if (--this.#pauses > 0) return;
      this.#runningSinceMs = this.#lastSignMs = this.#clock.elapsed();
      this.#arm();
    };
  }

  /** Ends the turn; the first verdict stays, and none counts once the turn is closed. */
  end(verdict: Verdict): void {
    if (this.#verdict !== undefined || this.#closed) return;
    this.#verdict = verdict;
    this.#cancelTimer();
    this.#abort.abort(verdict.error);
    for (const reject of this.#waiting) reject(verdict.error);
    this.#waiting.clear();
  }

  /** The outcome is being committed: no verdict changes it any more, and no timer is left. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  /**
   * The promise's outcome, or a rejection with the verdict's error if the turn is ended first; what
   * the promise does after that is dropped.
   */
  wait<T>(promise: Promise<T>): Promise<T> {
    if (this.#verdict !== undefined) {
      promise.catch(() => {});
      return Promise.reject(this.#verdict.error);
    }
    // Not Promise.race: that would leave a reaction on one long-lived promise for every delta.
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject);
      promise.then((value) => {
        this.#waiting.delete(reject);
        resolve(value);
      }, (error) => {
        this.#waiting.delete(reject);
        reject(error);
      });
    });
  }

  #arm(): void {
    if (this.#closed || this.#verdict !== undefined || this.#pauses > 0) return;
    const now = this.#clock.elapsed();
    const leftMs = this.#leftMs - (now - this.#runningSinceMs);
    const quietLeftMs = this.#limits.stallMs - (now - this.#lastSignMs);
    if (leftMs <= 0) {
      const seconds = this.#limits.timeoutMs / 1000;
      this.end({
        status: "timed_out",
        error: new ServiceError("turn_timeout", `The turn took longer than ${seconds} s`),
      });
    } else if (quietLeftMs <= 0 && this.#rescue?.(this.#limits.stallMs)) {
      this.touch();
      this.#arm();
    } else if (quietLeftMs <= 0) {
      const error = new ServiceError(
        "turn_timeout",
        `The turn is stuck: no sign of life from ${this.#doing} for ${
          this.#limits.stallMs / 1000
        } s. Check that it works, or raise agent.stallTimeoutS.`,
      );
      this.end({ status: "failed", error, cause: error });
    } else {
      this.#cancelTimer = this.#clock.after(Math.min(leftMs, quietLeftMs), () => this.#arm());
    }
  }
}

/**
 * Waits for a promise at most `ms` milliseconds. Resolves with true if it settled, however it did.
 */
export function settlesWithin(
  clock: Clock,
  promise: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(false));
    const settled = () => {
      cancel();
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/**
 * The children of an executor: so many at once, and none is left when it is shut down.
 *
 * @module
 */

import { Slots } from "../rpc/slots.ts";

const NEVER = new AbortController().signal;

export class LiveChildren {
  /** For those that have one thing to do. */
  readonly slots: Slots;
  readonly #sessions: Slots;
  readonly #called: string;
  readonly #closing = new AbortController();
  readonly #live = new Set<Promise<unknown>>();

  constructor({ maxRunning, maxWaiting, maxSessions, called }: {
    maxRunning: number;
    maxWaiting: number;
    maxSessions: number;
    /** What sessions are called when there are too many. */
    called: string;
  }) {
    this.slots = new Slots(maxRunning, maxWaiting);
    this.#sessions = new Slots(maxSessions, 0);
    this.#called = called;
  }

  /** Aborts when all are to end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** A shutdown waits for it. */
  track<T>(work: Promise<T>): Promise<T> {
    const ended = work.then(() => {}, () => {}).finally(() => this.#live.delete(ended));
    this.#live.add(ended);
    return work;
  }

  /** Starts one in a slot, which `release` gives back: when it is gone, or is not started. */
  async start<Child extends { gone: Promise<unknown> } | undefined>(
    release: () => void,
    begin: () => Promise<Child>,
  ): Promise<Child> {
    try {
      const child = await this.track(begin());
      this.track(Promise.resolve(child?.gone).finally(release));
      return child;
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Starts one that lives on. `begin` may give its place back itself, as soon as nothing is left of it.
   * Rejects when too many do.
   */
  async open<Child extends { gone: Promise<unknown> }>(
    begin: (release: () => void) => Promise<Child>,
    signal: AbortSignal = NEVER,
  ): Promise<Child> {
    const release = await this.#sessions.take(signal);
    if (release === undefined) {
      throw new Error(`${this.#sessions.max} ${this.#called} live on already`);
    }
    return await this.start(release, () => begin(release));
  }

  counts(): { running: number; waiting: number; sessions: number } {
    const { running, waiting } = this.slots;
    return { running, waiting, sessions: this.#sessions.running };
  }

  /** Resolves when all are gone. */
  async shutdown(): Promise<void> {
    this.#closing.abort(new Error("the service is stopping"));
    // One that was about to start is there only now.
    while (this.#live.size > 0) await Promise.all(this.#live);
  }
}

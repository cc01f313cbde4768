/**
 * One reader of a session for all its turns whose answers go to a chat: they run one after the other, so
 * that one place in the journal serves them.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { StoredEvent } from "../contract/events.ts";
import type { FollowOptions } from "../contract/journal.ts";

/** What consumes the events of a turn. */
export interface EventConsumer {
  readonly turnId: string;
  /** Whether it takes more now; `wake` is called when it does again. */
  readonly hasRoom: boolean;
  feed(stored: StoredEvent, isLive: boolean): void;
}

/** What a reader works with. */
export interface SessionReaderDeps {
  sessionId: number;
  follow: (sessionId: number, options: FollowOptions) => AsyncIterable<StoredEvent>;
  /** The session is gone, or its journal is closed: nothing more comes for these. */
  onEnd: (consumers: readonly EventConsumer[]) => void;
  /** It cannot be read at the moment; it is tried again. */
  onError: (error: unknown) => void;
  clock: Pick<Clock, "after">;
}

/** Milliseconds after a read that failed. */
const AGAIN_MS = 1_000;

export class SessionReader {
  readonly #deps: SessionReaderDeps;
  readonly #consumers = new Map<string, EventConsumer>();
  #reading: AbortController | undefined;
  #seq = 0;
  #roomMade: (() => void) | undefined;
  /** It is said once, and again when something was read in between. */
  #isReported = false;

  constructor(deps: SessionReaderDeps) {
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#consumers.size === 0;
  }

  /**
   * Gives the consumer the turn's events after one. Others are given some of theirs again then, which they
   * know by their numbers. `isLive`: what is on record by now happens now, too.
   */
  add(consumer: EventConsumer, afterSeq: number, isLive: boolean): void {
    this.#consumers.set(consumer.turnId, consumer);
    if (this.#reading !== undefined && this.#seq <= afterSeq) return;
    this.#reading?.abort();
    const reading = this.#reading = new AbortController();
    this.#seq = afterSeq;
    this.#readOn(reading.signal, isLive).finally(() => {
      if (reading.signal.aborted) return;
      this.#reading = undefined;
      const consumers = [...this.#consumers.values()];
      this.#consumers.clear();
      this.#deps.onEnd(consumers);
    });
  }

  remove(turnId: string): void {
    this.#consumers.delete(turnId);
    if (this.#consumers.size === 0) this.stop();
  }

  /** Somebody takes more again. */
  wake(): void {
    this.#roomMade?.();
  }

  stop(): void {
    this.#reading?.abort();
    this.#reading = undefined;
    this.#roomMade?.();
  }

  /** Reads until nothing more comes, through whatever goes wrong for a while. Never rejects. */
  async #readOn(signal: AbortSignal, isLive: boolean): Promise<void> {
    const { onError, clock } = this.#deps;
    for (;;) {
      try {
        return await this.#read(signal, isLive);
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#isReported) onError(error);
        this.#isReported = true;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(AGAIN_MS, resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      cancel();
      if (signal.aborted) return;
    }
  }

  async #read(signal: AbortSignal, isLive: boolean): Promise<void> {
    const { sessionId, follow } = this.#deps;
    if (!isLive) {
      for await (const stored of follow(sessionId, { afterSeq: this.#seq, signal, live: false })) {
        await this.#give(stored, signal, false);
      }
    }
    if (signal.aborted) return;
    for await (const stored of follow(sessionId, { afterSeq: this.#seq, signal })) {
      await this.#give(stored, signal, true);
    }
  }

  async #give(stored: StoredEvent, signal: AbortSignal, isLive: boolean): Promise<void> {
    if (signal.aborted) return;
    this.#seq = stored.seq;
    this.#isReported = false;
    const consumer = this.#consumers.get(stored.turnId);
    if (consumer === undefined) return;
    consumer.feed(stored, isLive);
    while (!consumer.hasRoom && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#roomMade = resolve;
      await promise;
    }
    this.#roomMade = undefined;
  }
}

/**
 * Writes that are to come true whatever is in the way for a while, such as a full disk.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

/** Milliseconds before a write is tried again. */
const AGAIN_MS = 1_000;

export class Persister {
  readonly #deps: { clock: Pick<Clock, "after">; log: Pick<Log, "error"> };
  readonly #writing = new Set<Promise<unknown>>();
  readonly #stopped = new AbortController();
  /** It is said once, and again when it has worked in between. */
  #isReported = false;

  constructor(deps: { clock: Pick<Clock, "after">; log: Pick<Log, "error"> }) {
    this.#deps = deps;
  }

  /** Resolves with what the write came to, or undefined when it never did before the stop. */
  write<T>(run: () => Promise<T>): Promise<T | undefined> {
    const writing = this.#write(run).finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
    return writing;
  }

  async #write<T>(run: () => Promise<T>): Promise<T | undefined> {
    for (;;) {
      try {
        const value = await run();
        this.#isReported = false;
        return value;
      } catch (error) {
        if (this.#stopped.signal.aborted) return undefined;
        this.report(error);
      }
      await this.#wait();
      if (this.#stopped.signal.aborted) return undefined;
    }
  }

  /** Something that is on record could not be read or written. */
  report(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#deps.log.error("Cannot read or note how deliveries are", { reason: String(error) });
  }

  async #wait(): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(AGAIN_MS, resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    cancel();
  }

  /** What fails from now on is not tried again; resolves when nothing is being written. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }
}

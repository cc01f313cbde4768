/**
 * One change of the operators' state at a time, over all processes that have it open. The lock is the
 * operating system's, so that it is free the moment its holder dies, however it dies.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** How the lock is taken. */
export interface StateLockOptions {
  /** The file; its folder has to exist. */
  path: string;
  /** How long another process may hold it before a change is given up, ms. */
  waitMs?: number;
}

/** Changes of this process that wait; more reject. */
const MAX_WAITING = 1_000;

/** Runs work under the lock, in the order in which it was asked for. */
export class StateLock {
  readonly #path: string;
  readonly #waitMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor({ path, waitMs = 10_000 }: StateLockOptions) {
    this.#path = path;
    this.#waitMs = waitMs;
  }

  /** Rejects with what the work rejects with, or `overloaded` when the lock cannot be had. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ServiceError(
        "overloaded",
        `${MAX_WAITING} changes of "${this.#path}" wait already`,
      );
    }
    this.#waiting++;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    try {
      const file = await this.#take();
      try {
        return await work();
      } finally {
        file.close();
      }
    } finally {
      this.#waiting--;
      resolve();
    }
  }

  async #take(): Promise<Deno.FsFile> {
    const giveUpAt = performance.now() + this.#waitMs;
    for (let delayMs = 1;; delayMs = Math.min(delayMs * 2, 25)) {
      const file = await Deno.open(this.#path, {
        read: true,
        write: true,
        create: true,
        mode: 0o600,
      });
      try {
        if (await file.tryLock(true) && await this.#isInPlace(file)) return file;
      } catch (error) {
        file.close();
        throw error;
      }
      file.close();
      if (performance.now() > giveUpAt) {
        throw new ServiceError(
          "overloaded",
          `Another process has held "${this.#path}" for ${this.#waitMs / 1_000} s`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }

  /** A lock on a file that was removed keeps nobody out. */
  async #isInPlace(file: Deno.FsFile): Promise<boolean> {
    const [held, there] = await Promise.all([
      file.stat(),
      Deno.lstat(this.#path).catch(() => undefined),
    ]);
    return held.ino === there?.ino && held.dev === there.dev;
  }
}

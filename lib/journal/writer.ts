import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { type Clock, systemClock } from "../base/clock.ts";
import { ServiceError } from "../base/errors.ts";
import type { Durability } from "../contract/journal.ts";

/** Writes after which a batch is committed at once, so that neither it nor the wait for it grows. */
const MAX_BATCH_WRITES = 1_024;

/** The same for the characters that its writes carry. */
const MAX_BATCH_CHARS = 8 * 1024 * 1024;

/**
 * How long after a commit a paced write waits for more: so many times as long as that one took, so that
 * commits take a third of the time at most, and no longer than half a frame of a screen, milliseconds.
 */
const PACE = 2;
const MAX_PACE_MS = 8;

/** What takes part in each batch because it keeps something in memory. Only `beforeCommit` may throw. */
export interface BatchParticipant {
  /** Inside the transaction, after the last write: what was held back is written now. */
  beforeCommit(): void;
  /** The transaction is on record. */
  afterCommit(): void;
  /** The transaction is undone: everything in memory that may stem from it has to go. */
  afterRollback(): void;
}

/**
 * What a write returns that must not be done and has changed nothing: its promise rejects with the
 * error, and the batch goes on without being undone.
 */
export class Refused {
  constructor(readonly error: Error) {}
}

interface PendingWrite {
  durability: Durability;
  run: () => unknown;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

function answer(write: PendingWrite, value: unknown): void {
  if (value instanceof Refused) write.reject(value.error);
  else write.resolve(value);
}

type Attempt =
  | { ok: true; values: unknown[] }
  /** `failedAt`: index of the write that threw; past the last one when the commit failed. */
  | { ok: false; began: boolean; failedAt: number; error: unknown };

/** The one way in to a database, which nobody else writes, for everything that changes it. */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #schedule: (flush: () => void) => void;
  readonly #clock: Pick<Clock, "after" | "elapsed">;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #queue: PendingWrite[] = [];
  #queuedChars = 0;
  #scheduled = false;
  #closed = false;
  #cancelTimer: (() => void) | undefined;
  /** When a paced write may be committed, by the clock's elapsed time. */
  #paceMs = -Infinity;
  #synchronous: Durability | undefined;
  #participant: BatchParticipant | undefined;

  /** `schedule` calls back when the present turn of the event loop is over. */
  constructor(
    db: DatabaseSync,
    { schedule = setImmediate, clock = systemClock }: {
      schedule?: (flush: () => void) => void;
      clock?: Pick<Clock, "after" | "elapsed">;
    } = {},
  ) {
    this.#db = db;
    this.#schedule = schedule;
    this.#clock = clock;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
  }

  /**
   * Puts a write into the batch of this turn of the event loop and resolves with its result once the
   * batch is committed; `full`: once it is on the disk; `paced`: it may wait for more. Writes run in their order. When one throws
   * (instead of returning a {@linkcode Refused}),
   * the batch is undone, it is tried again alone and the others without it; when the commit fails,
   * each is tried alone. So `run` may be called more than once, and only those reject that fail by
   * themselves. `chars`: about how much text it carries.
   */
  write<T>(durability: Durability, run: () => T | Refused, chars = 0): Promise<T> {
    if (this.#closed) {
      return Promise.reject(new ServiceError("draining", "The journal is closed"));
    }
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ durability, run, resolve: resolve as (value: unknown) => void, reject });
      this.#queuedChars += chars;
      if (this.#queue.length >= MAX_BATCH_WRITES || this.#queuedChars >= MAX_BATCH_CHARS) {
        this.#flush();
      } else this.#flushSoon(durability);
    });
  }

  #flushSoon(durability: Durability): void {
    if (this.#scheduled) return;
    const waitMs = durability === "paced" ? this.#paceMs - this.#clock.elapsed() : 0;
    if (waitMs > 0) {
      this.#cancelTimer ??= this.#clock.after(waitMs, () => this.#flush());
      return;
    }
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Who is told of batches; given once, before the first write. */
  participate(participant: BatchParticipant): void {
    this.#participant = participant;
  }

  /** Writes that are not committed yet. */
  pending(): number {
    return this.#queue.length;
  }

  /** Commits what is waiting; later writes reject. */
  close(): void {
    this.#flush();
    this.#closed = true;
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const batch = this.#queue;
    this.#queue = [];
    this.#queuedChars = 0;
    const begunMs = this.#clock.elapsed();
    this.#settle(batch);
    const endedMs = this.#clock.elapsed();
    this.#paceMs = endedMs + Math.min((endedMs - begunMs) * PACE, MAX_PACE_MS);
  }

  /** Commits the writes, together if that works, and answers each. Never changes their order. */
  #settle(writes: readonly PendingWrite[]): void {
    let rest = writes;
    while (rest.length > 0) {
      const outcome = this.#attempt(rest);
      if (outcome.ok) {
        rest.forEach((write, index) => answer(write, outcome.values[index]));
        return;
      }
      // A database that takes no transaction at all is not asked again for every write.
      if (rest.length === 1 || !outcome.began) {
        for (const write of rest) write.reject(outcome.error);
        return;
      }
      if (outcome.failedAt === rest.length) {
        for (const write of rest) this.#settle([write]);
        return;
      }
      this.#settle(rest.slice(0, outcome.failedAt));
      this.#settle(rest.slice(outcome.failedAt, outcome.failedAt + 1));
      rest = rest.slice(outcome.failedAt + 1);
    }
  }

  #attempt(writes: readonly PendingWrite[]): Attempt {
    const values: unknown[] = [];
    let began = false;
    try {
      const durability = writes.some((write) => write.durability === "full") ? "full" : "normal";
      if (this.#synchronous !== durability) {
        this.#db.exec(`PRAGMA synchronous = ${durability}`);
        this.#synchronous = durability;
      }
      this.#begin.run();
      began = true;
      for (const write of writes) values.push(write.run());
      this.#participant?.beforeCommit();
      this.#commit.run();
    } catch (error) {
      this.#undo();
      this.#participant?.afterRollback();
      return { ok: false, began, failedAt: values.length, error };
    }
    this.#participant?.afterCommit();
    return { ok: true, values };
  }

  #undo(): void {
    // Some failures, such as a full disk, have ended the transaction already.
    if (!this.#db.isTransaction) return;
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // The write's own error says more; the next attempt cannot begin and comes here again.
    }
  }
}

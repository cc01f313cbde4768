import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { ServiceError } from "../base/errors.ts";
import type { Durability } from "../contract/journal.ts";

/** Writes after which a batch is committed at once, so that neither it nor the wait for it grows. */
const MAX_BATCH_WRITES = 1_024;

/** The same for the characters that its writes carry. */
const MAX_BATCH_CHARS = 8 * 1024 * 1024;

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

/** What {@linkcode createWriter} needs. */
export interface WriterDependencies {
  db: DatabaseSync;
  /** Calls back when the present turn of the event loop is over. Default: `setImmediate`. */
  schedule?: (flush: () => void) => void;
}

/** The one way in to the database for everything that changes it. */
export interface Writer {
  /**
   * Puts a write into the batch of this turn of the event loop and resolves with its result once the
   * batch is committed; `full`: once it is on the disk. Writes run in their order. When one throws
   * (instead of returning a {@linkcode Refused}),
   * the batch is undone, it is tried again alone and the others without it; when the commit fails,
   * each is tried alone. So `run` may be called more than once, and only those reject that fail by
   * themselves. `chars`: about how much text it carries.
   */
  write<T>(durability: Durability, run: () => T | Refused, chars?: number): Promise<T>;
  /** Who is told of batches; given once, before the first write. */
  participate(participant: BatchParticipant): void;
  /** Writes that are not committed yet. */
  pending(): number;
  /** Commits what is waiting; later writes reject. */
  close(): void;
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

/** A {@linkcode Writer} over a database that nobody else writes. */
export function createWriter({ db, schedule = setImmediate }: WriterDependencies): Writer {
  let queue: PendingWrite[] = [];
  let queuedChars = 0;
  let scheduled = false;
  let closed = false;
  let synchronous: Durability | undefined;
  let participant: BatchParticipant | undefined;
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");

  function flush(): void {
    const batch = queue;
    queue = [];
    queuedChars = 0;
    settle(batch);
  }

  /** Commits the writes, together if that works, and answers each. Never changes their order. */
  function settle(writes: readonly PendingWrite[]): void {
    let rest = writes;
    while (rest.length > 0) {
      const outcome = attempt(rest);
      if (outcome.ok) {
        rest.forEach((write, index) => answer(write, outcome.values[index]));
        return;
      }
      // A database that takes no transaction at all is not asked again for every write.
      if (rest.length === 1 || !outcome.began) {
        for (const write of rest) write.reject(outcome.error);
        return;
      }
      if (outcome.failedAt === undefined) {
        for (const write of rest) settle([write]);
        return;
      }
      settle(rest.slice(0, outcome.failedAt));
      settle(rest.slice(outcome.failedAt, outcome.failedAt + 1));
      rest = rest.slice(outcome.failedAt + 1);
    }
  }

  type Attempt =
    | { ok: true; values: unknown[] }
    /** `failedAt`: index of the write that threw; undefined when the commit failed. */
    | { ok: false; began: boolean; failedAt: number | undefined; error: unknown };

  function attempt(writes: readonly PendingWrite[]): Attempt {
    const values: unknown[] = [];
    let began = false;
    let ran = false;
    try {
      const durability = writes.some((write) => write.durability === "full") ? "full" : "normal";
      if (synchronous !== durability) {
        db.exec(`PRAGMA synchronous = ${durability}`);
        synchronous = durability;
      }
      begin.run();
      began = true;
      for (const write of writes) values.push(write.run());
      ran = true;
      participant?.beforeCommit();
      commit.run();
    } catch (error) {
      undo();
      participant?.afterRollback();
      return { ok: false, began, failedAt: began && !ran ? values.length : undefined, error };
    }
    participant?.afterCommit();
    return { ok: true, values };
  }

  function undo(): void {
    // Some failures, such as a full disk, have ended the transaction already.
    if (!db.isTransaction) return;
    try {
      db.exec("ROLLBACK");
    } catch {
      // The write's own error says more; the next attempt cannot begin and comes here again.
    }
  }

  return {
    write<T>(durability: Durability, run: () => T | Refused, chars = 0) {
      if (closed) {
        return Promise.reject(new ServiceError("draining", "The journal is closed"));
      }
      return new Promise<T>((resolve, reject) => {
        queue.push({ durability, run, resolve: resolve as (value: unknown) => void, reject });
        queuedChars += chars;
        if (queue.length >= MAX_BATCH_WRITES || queuedChars >= MAX_BATCH_CHARS) {
          flush();
        } else if (!scheduled) {
          scheduled = true;
          schedule(() => {
            scheduled = false;
            flush();
          });
        }
      });
    },
    participate(added) {
      participant = added;
    },
    pending: () => queue.length,
    close() {
      flush();
      closed = true;
    },
  };
}

/**
 * Messages of a platform on their way in. They are on the disk before the platform is told that they
 * came, so that an acknowledgement waits for no model, a process that is killed loses none, and a chat
 * that has too much to do holds up no other.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../../agent/clock.ts";
import { ServiceError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { inTransaction, openStateDatabase } from "./open_state_database.ts";

/** A message that waits. */
export interface IntakeEntry<T> {
  /** Entries of one lane are taken one after the other: the chat. */
  lane: string;
  /** The platform's id; an entry of its lane with the same that still waits makes it a repeat. */
  id: string;
  /** Plain JSON: all that taking it needs. */
  data: T;
}

/** Bounds of an intake. */
export interface IntakeLimits {
  /** Entries that may wait; default 100,000. `add` waits for room then. */
  maxEntries: number;
  /** Characters of one entry's data; default 1,048,576. */
  maxEntryChars: number;
  /** Lanes that are taken from at the same time; default 48. */
  maxTaking: number;
}

/** What an intake works with. */
export interface IntakeDeps<T> {
  /** The channel's folder. */
  stateDir: string;
  /**
   * Hands a message on, and resolves when it is on record there. What rejects is tried again after
   * 1, 2, 4 … 60 s, but for `invalid_request`, which no repeat mends: that is logged and dropped.
   */
  take: (data: T, signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Pick<Log, "warning">;
  limits?: Partial<IntakeLimits>;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL,
    UNIQUE (lane, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entries_of_lane ON entries (lane, seq);
  CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

const FIRST_AGAIN_MS = 1_000;
const LONGEST_AGAIN_MS = 60_000;

/** One that has something waiting. */
interface Lane {
  name: string;
  failures: number;
  /** Ends its wait for the next try. */
  cancel?: () => void;
}

/** See the module. One for a runtime at a time. */
export class Intake<T> {
  readonly #database: DatabaseSync;
  readonly #deps: IntakeDeps<T>;
  readonly #limits: IntakeLimits;
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  readonly #next: StatementSync;
  readonly #setCursor: StatementSync;
  readonly #getCursor: StatementSync;
  readonly #closing = new AbortController();
  readonly #lanes = new Map<string, Lane>();
  /** Lanes whose turn comes when a place is free. */
  readonly #ready: Lane[] = [];
  readonly #taking = new Set<Promise<void>>();
  #size: number;
  #isStarted = false;
  #room = Promise.withResolvers<void>();

  private constructor(database: DatabaseSync, deps: IntakeDeps<T>) {
    this.#database = database;
    this.#deps = deps;
    this.#limits = {
      maxEntries: 100_000,
      maxEntryChars: 1024 * 1024,
      maxTaking: 48,
      ...deps.limits,
    };
    const prepare = (sql: string) => database.prepare(sql);
    this.#insert = prepare("INSERT OR IGNORE INTO entries (lane, id, data) VALUES (?, ?, ?)");
    this.#remove = prepare("DELETE FROM entries WHERE seq = ?");
    this.#next = prepare("SELECT seq, id, data FROM entries WHERE lane = ? ORDER BY seq LIMIT 1");
    this.#setCursor = prepare("INSERT OR REPLACE INTO cursors (name, value) VALUES (?, ?)");
    this.#getCursor = prepare("SELECT value FROM cursors WHERE name = ?");
    this.#size = Number(prepare("SELECT count(*) AS size FROM entries").get()!.size);
  }

  /** Opens the one of a channel's folder, with what was left there. Rejects with what SQLite says. */
  // deno-lint-ignore require-await -- whoever calls it need not know that SQLite does not wait
  static async open<T>(deps: IntakeDeps<T>): Promise<Intake<T>> {
    return new Intake(openStateDatabase(deps.stateDir, "intake", SCHEMA), deps);
  }

  /** Entries that wait. */
  get size(): number {
    return this.#size;
  }

  /** As the last `add` that had it said; undefined before. */
  cursor(name: string): string | undefined {
    return this.#getCursor.get(name)?.value as string | undefined;
  }

  /**
   * Resolves when the entries and cursors are on the disk, all or none: the platform may be told so then.
   * Waits while there is no room. Rejects with `invalid_request` for an entry that is too long, and when
   * it is closed.
   */
  async add(
    entries: readonly IntakeEntry<T>[],
    cursors: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const rows = entries.map(({ lane, id, data }) => ({ lane, id, data: this.#toText(data) }));
    while (rows.length > 0 && this.#size >= this.#limits.maxEntries) {
      this.#closing.signal.throwIfAborted();
      await this.#room.promise;
    }
    this.#closing.signal.throwIfAborted();
    const added = inTransaction(this.#database, () => {
      for (const [name, value] of Object.entries(cursors)) this.#setCursor.run(name, value);
      return rows.reduce(
        (sum, { lane, id, data }) => sum + Number(this.#insert.run(lane, id, data).changes),
        0,
      );
    });
    this.#size += added;
    if (!this.#isStarted) return;
    for (const { lane } of rows) this.#wake(lane);
  }

  /** Begins to take, with what was left first. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const lanes = this.#database.prepare(
      "SELECT lane FROM entries GROUP BY lane ORDER BY min(seq)",
    ).all();
    for (const { lane } of lanes) this.#wake(lane as string);
  }

  /** Ends what is being taken; what was not taken stays. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The channel is stopping", "AbortError"));
    for (const { cancel } of this.#lanes.values()) cancel?.();
    this.#lanes.clear();
    this.#ready.length = 0;
    this.#room.resolve();
    await Promise.all(this.#taking);
    this.#database.close();
  }

  #toText(data: T): string {
    const text = JSON.stringify(data);
    if (text.length > this.#limits.maxEntryChars) {
      throw new ServiceError(
        "invalid_request",
        `Cannot take a message of ${text.length} characters: at most ${this.#limits.maxEntryChars} are taken`,
      );
    }
    return text;
  }

  #wake(name: string): void {
    if (this.#lanes.has(name)) return;
    const lane: Lane = { name, failures: 0 };
    this.#lanes.set(name, lane);
    this.#ready.push(lane);
    this.#fill();
  }

  /** Gives free places to lanes, who waits longest first. */
  #fill(): void {
    while (this.#taking.size < this.#limits.maxTaking) {
      const lane = this.#ready.shift();
      if (lane === undefined) return;
      const taking = this.#take(lane).finally(() => {
        this.#taking.delete(taking);
        if (!this.#closing.signal.aborted) this.#fill();
      });
      this.#taking.add(taking);
    }
  }

  /** Takes the next of a lane, and puts the lane behind the others. Never rejects. */
  async #take(lane: Lane): Promise<void> {
    const { signal } = this.#closing;
    const row = this.#next.get(lane.name);
    if (row === undefined) return void this.#lanes.delete(lane.name);
    const { seq, id, data } = row as { seq: number; id: string; data: string };
    try {
      await this.#deps.take(JSON.parse(data) as T, signal);
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      const isHopeless = (error as { code?: unknown }).code === "invalid_request";
      const details = { chat: lane.name, message: id, reason };
      if (!isHopeless) {
        const waitMs = Math.min(
          FIRST_AGAIN_MS * 2 ** Math.min(lane.failures++, 30),
          LONGEST_AGAIN_MS,
        );
        this.#deps.log.warning("A message could not be taken, and is tried again", {
          ...details,
          waitMs,
        });
        // A lane that waits holds no place.
        lane.cancel = this.#deps.clock.after(waitMs, () => {
          this.#ready.push(lane);
          this.#fill();
        });
        return;
      }
      this.#deps.log.warning("A message cannot be taken, and is dropped", details);
    }
    // Taken: if the process ends right before, it is taken once more, and known there by its id.
    this.#remove.run(seq);
    lane.failures = 0;
    this.#size -= 1;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    if (!signal.aborted) this.#ready.push(lane);
  }
}

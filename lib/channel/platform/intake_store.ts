/**
 * Where the messages of an intake wait: a table of its channel's folder, in the order in which they came.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Migration } from "../../base/migrate.ts";
import { inTransaction, openStateDatabase } from "./open_state_database.ts";

/** An entry on the disk. */
export interface IntakeRow {
  seq: number;
  id: string;
  /** JSON. */
  data: string;
  /** Milliseconds since 1970. */
  added_at: number;
}

/** One that comes. */
export interface NewRow {
  lane: string;
  id: string;
  data: string;
}

/** Stands in the name of a lane of one entry, which was set aside from the lane before it. */
const ASIDE = "\u0001";

/** The first files had no version, and no times. */
const MIGRATIONS: readonly Migration[] = [{
  version: 1,
  name: "times of entries",
  sql: `
    CREATE TABLE IF NOT EXISTS entries (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL,
      UNIQUE (lane, id)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS entries_of_lane ON entries (lane, seq);
    CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    ALTER TABLE entries ADD COLUMN added_at INTEGER NOT NULL DEFAULT 0;
    UPDATE entries SET added_at = unixepoch() * 1000;
  `,
}];

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;

/** Whether a lane is that of one entry, which was set aside. */
export const isAside = (lane: string) => lane.includes(ASIDE);

/** The lane from which it was set aside; of any other lane, its name. */
export const chatOf = (lane: string) => lane.split(ASIDE)[0]!;

/** As SQLite gives it back: what it would cut or replace would never be found again. */
export function toName(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.toWellFormed().replace(/[\u0000\u0001]/g, "\ufffd");
}

/** Everything throws what SQLite says. */
export class IntakeStore {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  readonly #next: StatementSync;
  readonly #move: StatementSync;
  readonly #total: StatementSync;
  readonly #setCursor: StatementSync;
  readonly #getCursor: StatementSync;
  #size = 0;
  #bytes = 0;
  #aside = 0;

  /** Opens the one of a channel's folder. */
  constructor(stateDir: string) {
    const database = this.#database = openStateDatabase(stateDir, "intake", MIGRATIONS);
    const prepare = (sql: string) => database.prepare(sql);
    this.#insert = prepare(
      `INSERT INTO entries (lane, id, data, added_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (lane, id) DO NOTHING`,
    );
    this.#remove = prepare("DELETE FROM entries WHERE seq = ?");
    this.#next = prepare(
      "SELECT seq, id, data, added_at FROM entries WHERE lane = ? ORDER BY seq LIMIT 1",
    );
    this.#move = prepare("UPDATE entries SET lane = ? WHERE seq = ?");
    this.#total = prepare(
      `SELECT count(*) AS size, coalesce(sum(octet_length(data)), 0) AS bytes,
         coalesce(sum(instr(lane, '${ASIDE}') > 0), 0) AS aside FROM entries`,
    );
    this.#setCursor = prepare("INSERT OR REPLACE INTO cursors (name, value) VALUES (?, ?)");
    this.#getCursor = prepare("SELECT value FROM cursors WHERE name = ?");
    try {
      this.count();
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Entries that wait, as far as is known. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of what they hold. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Entries that were set aside. */
  get aside(): number {
    return this.#aside;
  }

  /** Looks how much waits: another process may have taken some. */
  count(): void {
    const { size, bytes, aside } = this.#total.get()!;
    [this.#size, this.#bytes, this.#aside] = [Number(size), Number(bytes), Number(aside)];
  }

  cursor(name: string): string | undefined {
    return this.#getCursor.get(name)?.value as string | undefined;
  }

  /** All or none; of an entry that waits already, nothing. */
  add(
    rows: readonly NewRow[],
    cursors: Readonly<Record<string, string>>,
    addedAt: number,
  ): void {
    const added = inTransaction(this.#database, () => {
      for (const [name, value] of Object.entries(cursors)) this.#setCursor.run(name, value);
      return rows.filter(({ lane, id, data }) =>
        Number(this.#insert.run(lane, id, data, addedAt).changes) > 0
      );
    });
    this.#size += added.length;
    this.#bytes += added.reduce((sum, { data }) => sum + bytesOf(data), 0);
  }

  /** Lanes in which something waits, the longest wait first. */
  lanes(): string[] {
    const all = this.#database.prepare("SELECT lane FROM entries GROUP BY lane ORDER BY min(seq)")
      .all();
    return all.map(({ lane }) => lane as string);
  }

  next(lane: string): IntakeRow | undefined {
    return this.#next.get(lane) as IntakeRow | undefined;
  }

  /** Nothing where another process was faster. */
  remove({ seq, data }: IntakeRow, lane: string): void {
    const gone = Number(this.#remove.run(seq).changes);
    this.#size -= gone;
    this.#bytes -= gone * bytesOf(data);
    if (isAside(lane)) this.#aside -= gone;
  }

  /** Gives an entry a lane of its own; returns that lane. */
  setAside({ seq }: IntakeRow, lane: string): string {
    const name = `${lane}${ASIDE}${seq}`;
    this.#aside += Number(this.#move.run(name, seq).changes);
    return name;
  }

  close(): void {
    this.#database.close();
  }
}

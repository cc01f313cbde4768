/**
 * What channels have heard and nobody has taken yet, and how far they have read.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import type {
  IntakeCursors,
  IntakeRow,
  IntakeStore,
  NewIntakeRow,
} from "../contract/intake_store.ts";
import { Queries } from "./query.ts";
import type { Writer } from "./writer.ts";

/** What may wait for one channel; `add` waits for room then. */
export interface IntakeLimits {
  rows: number;
  /** Bytes of data. */
  bytes: number;
}

const LIMITS: IntakeLimits = { rows: 100_000, bytes: 256 * 1024 * 1024 };

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;

/** Rows of all channels, in the tables `intake` and `intake_cursors`. */
export class IntakeRows extends Queries {
  readonly #insert = this.query(
    `INSERT INTO intake (channel, lane, seq, id, added_at, data) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (channel, lane, id) DO NOTHING`,
  );
  readonly #delete = this.query<[bytes: number]>(
    "DELETE FROM intake WHERE channel = ? AND lane = ? AND seq = ? RETURNING octet_length(data)",
  );
  readonly #next = this.query(
    `SELECT seq, lane, id, data, added_at FROM intake WHERE channel = ? AND lane = ? ORDER BY seq LIMIT 1`,
    ([seq, lane, id, data, addedAt]: [number, string, string, string, number]): IntakeRow => ({
      seq,
      lane,
      id,
      data,
      addedAt,
    }),
  );
  readonly #move = this.query(
    "UPDATE intake SET lane = ?4 WHERE channel = ?1 AND lane = ?2 AND seq = ?3",
  );
  readonly #total = this.query<[rows: number, bytes: number]>(
    "SELECT count(*), coalesce(sum(octet_length(data)), 0) FROM intake WHERE channel = ?",
  );
  readonly #lanes = this.query(
    "SELECT lane FROM intake WHERE channel = ? GROUP BY lane ORDER BY min(seq)",
    ([lane]: [string]) => lane,
  );
  readonly #cursors = this.query<[name: string, value: string]>(
    "SELECT name, value FROM intake_cursors WHERE channel = ?",
  );
  readonly #setCursor = this.query(
    "INSERT OR REPLACE INTO intake_cursors (channel, name, value) VALUES (?, ?, ?)",
  );
  readonly #now: () => number;
  #lastSeq: number;

  constructor(db: DatabaseSync, now: () => number) {
    super(db);
    this.#now = () => Math.floor(now());
    this.#lastSeq = this.query<[number]>("SELECT coalesce(max(seq), 0) FROM intake").get()![0];
  }

  /** Inside a batch of the writer; returns what was added. */
  add(channel: string, rows: readonly NewIntakeRow[], cursors: IntakeCursors): NewIntakeRow[] {
    for (const [name, value] of Object.entries(cursors)) this.#setCursor.run(channel, name, value);
    const now = this.#now();
    return rows.filter(({ lane, id, data }) =>
      this.#insert.run(channel, lane, this.#lastSeq += 1, id, now, data) > 0
    );
  }

  /** Inside a batch of the writer; returns the bytes of its data, undefined when it is not there. */
  remove(channel: string, lane: string, seq: number): number | undefined {
    return this.#delete.get(channel, lane, seq)?.[0];
  }

  /** Inside a batch of the writer. */
  move(channel: string, lane: string, seq: number, to: string): void {
    this.#move.run(channel, lane, seq, to);
  }

  next(channel: string, lane: string): IntakeRow | undefined {
    return this.#next.get(channel, lane);
  }

  total(channel: string): { rows: number; bytes: number } {
    const [rows, bytes] = this.#total.get(channel)!;
    return { rows, bytes };
  }

  state(channel: string): { lanes: string[]; cursors: IntakeCursors } {
    return {
      lanes: this.#lanes.all(channel),
      cursors: Object.fromEntries(this.#cursors.all(channel)),
    };
  }
}

/** {@linkcode IntakeStore} of one channel. */
export class JournalIntake implements IntakeStore {
  readonly #rows: IntakeRows;
  readonly #writer: Writer;
  readonly #channel: string;
  readonly #limits: IntakeLimits;
  readonly #total: { rows: number; bytes: number };
  #room = Promise.withResolvers<void>();

  constructor(rows: IntakeRows, writer: Writer, channel: string, limits = LIMITS) {
    this.#rows = rows;
    this.#writer = writer;
    this.#channel = channel;
    this.#limits = limits;
    this.#total = rows.total(channel);
  }

  // deno-lint-ignore require-await -- one that throws rejects
  async state() {
    return this.#rows.state(this.#channel);
  }

  async add(rows: readonly NewIntakeRow[], cursors: IntakeCursors): Promise<void> {
    while (rows.length > 0 && this.#isFull()) await this.#room.promise;
    const chars = rows.reduce((sum, { data }) => sum + data.length, 0);
    const added = await this.#writer.write(
      "full",
      () => this.#rows.add(this.#channel, rows, cursors),
      chars,
    );
    this.#total.rows += added.length;
    this.#total.bytes += added.reduce((sum, { data }) => sum + bytesOf(data), 0);
  }

  async next(lane: string, taken?: number): Promise<IntakeRow | undefined> {
    if (taken !== undefined) {
      // It goes with what comes next: nothing is lost with it.
      const bytes = await this.#writer.write(
        "paced",
        () => this.#rows.remove(this.#channel, lane, taken),
      );
      if (bytes !== undefined) this.#removed(bytes);
    }
    return this.#rows.next(this.#channel, lane);
  }

  move(lane: string, seq: number, to: string): Promise<void> {
    return this.#writer.write("full", () => this.#rows.move(this.#channel, lane, seq, to));
  }

  #isFull(): boolean {
    return this.#total.rows >= this.#limits.rows || this.#total.bytes >= this.#limits.bytes;
  }

  #removed(bytes: number): void {
    this.#total.rows -= 1;
    this.#total.bytes -= bytes;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }
}

import type { DatabaseSync } from "node:sqlite";
import type { StoredEvent } from "../contract/events.ts";
import { type DeltaLog, type EventSource, type Tail } from "./delta_log.ts";
import { decodeRow, type EncodedEvent, type EventRow, isDelta, joinBodies } from "./event_rows.ts";
import { query } from "./query.ts";

/** Rows that a reader takes at once. */
const PAGE_ROWS = 256;

/** Characters after which a reader's page ends early; one row may be longer. */
const PAGE_CHARS = 1024 * 1024;

/** Sessions whose last seq is remembered. */
const MAX_HEADS = 4_096;

/** What {@linkcode createEventLog} needs. */
export interface EventLogDependencies {
  db: DatabaseSync;
  deltas: DeltaLog;
  /** Whether events of the session are to be kept for delivery after the commit. */
  hasReaders: (sessionId: number) => boolean;
}

/**
 * Events of all sessions: rows, and behind the last row of a session the tail of deltas that is none
 * yet. Everything that changes them is called inside a batch of the writer.
 *
 * What it keeps in memory is either of the present batch or can be read from the tables, so an undone
 * batch is answered by forgetting all of it.
 */
export interface EventLog {
  /** Gives the event the next seq of its session and returns it. */
  add(source: EventSource, encoded: EncodedEvent): number;
  /** The session's last seq; 0 for none. */
  head(sessionId: number): number;
  /** Rows with events after `afterSeq`, the first of which may begin before it. */
  page(sessionId: number, afterSeq: number): EventRow[];
  /** Every event after `afterSeq`, read in pages. */
  read(sessionId: number, afterSeq: number): Iterable<StoredEvent>;
  /** Forgets a session whose rows are going, and what the log of deltas still holds of it. */
  drop(sessionId: number): void;
  beforeCommit(): void;
  /** Events of this batch by session, for those that had readers. */
  afterCommit(): ReadonlyMap<number, readonly StoredEvent[]>;
  afterRollback(): void;
}

/** An {@linkcode EventLog} over the table `events`. */
export function createEventLog({ db, deltas, hasReaders }: EventLogDependencies): EventLog {
  const insert = query(
    db,
    `INSERT INTO events (session_id, seq, seq_from, turn, type, stream, body)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const lastSeq = query<[number | null]>(db, "SELECT max(seq) FROM events WHERE session_id = ?");
  const selectPage = query<EventRow>(
    db,
    `SELECT seq, seq_from, coalesce((SELECT id FROM turns WHERE turn = events.turn), ''), type,
       stream, body
     FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ${PAGE_ROWS}`,
  );
  const heads = new Map<number, number>();
  let added = new Map<number, StoredEvent[]>();

  function head(sessionId: number): number {
    const known = heads.get(sessionId);
    if (known !== undefined) return known;
    const found = deltas.tail(sessionId)?.to ?? lastSeq.get(sessionId)?.[0] ?? 0;
    if (heads.size >= MAX_HEADS) heads.clear();
    heads.set(sessionId, found);
    return found;
  }

  function writeTail(tail: Tail | undefined): void {
    if (tail === undefined) return;
    const { source: { sessionId, turn }, type, stream, from, to, bodies } = tail;
    insert.run(sessionId, to, from, turn, type, stream, joinBodies(bodies));
  }

  function page(sessionId: number, afterSeq: number): EventRow[] {
    const rows: EventRow[] = [];
    let chars = 0;
    for (const row of selectPage.iterate(sessionId, afterSeq)) {
      rows.push(row);
      chars += row[5].length;
      if (chars >= PAGE_CHARS) return rows;
    }
    const tail = deltas.tail(sessionId);
    if (tail !== undefined && tail.to > afterSeq && rows.length < PAGE_ROWS) {
      const { source, type, stream, to, bodies } = tail;
      const from = Math.max(tail.from, afterSeq + 1);
      rows.push([to, from, source.id, type, stream, joinBodies(bodies.slice(from - tail.from))]);
    }
    return rows;
  }

  return {
    head,
    page,
    add(source, encoded) {
      const { sessionId } = source;
      const seq = head(sessionId) + 1;
      if (isDelta(encoded.event)) {
        if (!deltas.continues(source, encoded)) writeTail(deltas.take(sessionId));
        deltas.add(source, encoded, seq);
      } else {
        writeTail(deltas.take(sessionId));
        insert.run(sessionId, seq, seq, source.turn, encoded.event.type, null, encoded.body);
      }
      heads.set(sessionId, seq);
      if (hasReaders(sessionId)) {
        const stored = { seq, turnId: source.id, event: encoded.event };
        const events = added.get(sessionId);
        if (events) events.push(stored);
        else added.set(sessionId, [stored]);
      }
      return seq;
    },
    *read(sessionId, afterSeq) {
      for (let after = afterSeq;;) {
        const rows = page(sessionId, after);
        for (const row of rows) yield* decodeRow(row, after);
        if (rows.length === 0) return;
        after = rows.at(-1)![0];
      }
    },
    drop(sessionId) {
      heads.delete(sessionId);
      for (const tail of deltas.empty()) writeTail(tail);
    },
    beforeCommit() {
      for (const tail of deltas.beforeCommit()) writeTail(tail);
    },
    afterCommit() {
      if (added.size === 0) return added;
      const events = added;
      added = new Map();
      return events;
    },
    afterRollback() {
      heads.clear();
      added = new Map();
      deltas.forget();
    },
  };
}

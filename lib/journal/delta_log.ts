import type { DatabaseSync } from "node:sqlite";
import type { EncodedEvent } from "./event_rows.ts";
import { query } from "./query.ts";

/** Bounds of what waits to become rows. */
export interface DeltaLimits {
  /** Deltas of a tail; with one more it becomes a row. */
  tailDeltas: number;
  /** Characters of a tail of several deltas; one delta alone may be longer. */
  tailChars: number;
  /** Batches in the log after which it is emptied, and all tails become rows. */
  logRows: number;
  /** The same for the characters in it. */
  logChars: number;
}

const LIMITS: DeltaLimits = {
  tailDeltas: 512,
  tailChars: 64 * 1024,
  logRows: 1_024,
  logChars: 4 * 1024 * 1024,
};

/** A turn as its events name it. */
export interface EventSource {
  /** Rowid of the turn. */
  turn: number;
  id: string;
  sessionId: number;
}

/** The newest events of a session: deltas of one stream that are no row of `events` yet. */
export interface Tail {
  readonly source: EventSource;
  readonly type: string;
  /** JSON of the stream's id. */
  readonly stream: string;
  readonly from: number;
  to: number;
  /** Texts as JSON strings. */
  bodies: string[];
  chars: number;
  /** How many of them are in the log. */
  logged: number;
}

/**
 * Deltas on their way to becoming a row of `events`.
 *
 * A stream's deltas come one by one from many sessions at a time. As a row each, every one would
 * dirty a page of its session and have to be merged later; so a batch writes the deltas of all
 * sessions as one row of an append-only log, while a session's tail grows in memory, and the tail
 * becomes one row of `events` when anything else follows or it reaches its bounds. The log is only
 * read after a crash, or after a batch that was undone, to make the same tails again.
 *
 * Everything but `tail` is called inside a batch of the writer.
 */
export interface DeltaLog {
  tail(sessionId: number): Tail | undefined;
  /** Whether the delta may be added to the tail of its session. */
  continues(source: EventSource, delta: EncodedEvent): boolean;
  /** Adds it to the tail of its session, or begins one where there is none. */
  add(source: EventSource, delta: EncodedEvent, seq: number): void;
  /** Removes the tail of a session, which the caller writes as a row. */
  take(sessionId: number): Tail | undefined;
  /** Writes what is new into the log. Returns tails that the caller writes as rows: it is emptied. */
  beforeCommit(): Iterable<Tail>;
  /** Empties the log; the caller writes the returned tails as rows. */
  empty(): Iterable<Tail>;
  /** Forgets all tails; the next use makes those again that the tables hold. */
  forget(): void;
}

/** An entry of the log: deltas that one batch added to one tail. */
type Entry = [
  sessionId: number,
  turn: number,
  type: string,
  streamId: string,
  from: number,
  texts: string[],
];

/** A {@linkcode DeltaLog} over the table `delta_log`, with the tails that it holds. */
export function createDeltaLog(db: DatabaseSync, limits: DeltaLimits = LIMITS): DeltaLog {
  const insert = query(db, "INSERT INTO delta_log (body) VALUES (?)");
  const deleteAll = query(db, "DELETE FROM delta_log");
  const selectAll = query<[string]>(db, "SELECT body FROM delta_log ORDER BY id");
  const selectTurn = query<[id: string, lastSeq: number | null]>(
    db,
    `SELECT id, (SELECT max(seq) FROM events WHERE session_id = turns.session_id)
     FROM turns WHERE turn = ? AND session_id = ? AND ended_at IS NULL`,
  );
  /** By session; undefined until they are read. */
  let tails: Map<number, Tail> | undefined;
  /** Those that grew in this batch. */
  let grown = new Set<Tail>();
  let logRows = 0;
  let logChars = 0;

  function known(): Map<number, Tail> {
    return tails ??= load();
  }

  function empty(): Iterable<Tail> {
    const all = known().values();
    deleteAll.run();
    logRows = logChars = 0;
    tails = new Map();
    grown = new Set();
    return all;
  }

  function load(): Map<number, Tail> {
    const tails = new Map<number, Tail>();
    logRows = logChars = 0;
    const sources = new Map<number, { id: string; lastSeq: number } | undefined>();
    for (const [body] of selectAll.all()) {
      logRows++;
      logChars += body.length;
      for (const [sessionId, turn, type, streamId, from, texts] of JSON.parse(body) as Entry[]) {
        if (!sources.has(turn)) {
          // A turn that has ended has no tail: its last event made a row of it.
          const row = selectTurn.get(turn, sessionId);
          sources.set(turn, row && { id: row[0], lastSeq: row[1] ?? 0 });
        }
        const source = sources.get(turn);
        if (source === undefined || from <= source.lastSeq) continue;
        const bodies = texts.map((text) => JSON.stringify(text));
        const chars = bodies.reduce((sum, { length }) => sum + length, 0);
        const to = from + bodies.length - 1;
        const tail = tails.get(sessionId);
        if (tail === undefined) {
          tails.set(sessionId, {
            source: { turn, id: source.id, sessionId },
            type,
            stream: JSON.stringify(streamId),
            from,
            to,
            bodies,
            chars,
            logged: bodies.length,
          });
        } else {
          if (from !== tail.to + 1) {
            throw new Error(`Cannot read the log of deltas: ${from} follows on ${tail.to}`);
          }
          tail.bodies.push(...bodies);
          tail.chars += chars;
          tail.logged = tail.bodies.length;
          tail.to = to;
        }
      }
    }
    return tails;
  }

  return {
    tail: (sessionId) => known().get(sessionId),
    empty,
    forget() {
      tails = undefined;
      grown = new Set();
    },
    continues(source, { event: { type }, stream, body }) {
      const tail = known().get(source.sessionId);
      return tail !== undefined && tail.source.turn === source.turn && tail.type === type &&
        tail.stream === stream && tail.bodies.length < limits.tailDeltas &&
        tail.chars + body.length <= limits.tailChars;
    },
    add(source, { event: { type }, stream, body }, seq) {
      let tail = known().get(source.sessionId);
      if (tail === undefined) {
        tail = {
          source,
          type,
          stream: stream!,
          from: seq,
          to: seq,
          bodies: [body],
          chars: body.length,
          logged: 0,
        };
        known().set(source.sessionId, tail);
      } else {
        tail.bodies.push(body);
        tail.chars += body.length;
        tail.to = seq;
      }
      grown.add(tail);
    },
    take(sessionId) {
      const tail = known().get(sessionId);
      if (tail === undefined) return undefined;
      known().delete(sessionId);
      grown.delete(tail);
      return tail;
    },
    beforeCommit() {
      if (grown.size === 0) return [];
      if (logRows >= limits.logRows || logChars >= limits.logChars) return empty();
      const entries: string[] = [];
      for (const tail of grown) {
        const { source, type, stream, from, bodies, logged } = tail;
        const texts = logged === 0 ? bodies : bodies.slice(logged);
        entries.push(
          `[${source.sessionId},${source.turn},"${type}",${stream},${from + logged},[${texts}]]`,
        );
        tail.logged = bodies.length;
      }
      grown.clear();
      const body = `[${entries}]`;
      insert.run(body);
      logRows++;
      logChars += body.length;
      return [];
    },
  };
}

import type { DatabaseSync } from "node:sqlite";
import type { EncodedEvent } from "./event_rows.ts";
import { Queries } from "./query.ts";

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
export class Tail {
  /** Texts as JSON strings. */
  readonly bodies: string[] = [];
  chars = 0;
  /** How many of them are in the log. */
  logged = 0;

  /** `stream`: JSON of the stream's id. */
  constructor(
    readonly source: EventSource,
    readonly type: string,
    readonly stream: string,
    readonly from: number,
  ) {}

  get to(): number {
    return this.from + this.bodies.length - 1;
  }

  add(body: string): void {
    this.bodies.push(body);
    this.chars += body.length;
  }
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

/**
 * Deltas on their way to becoming a row of `events`, over the table `delta_log`.
 *
 * A stream's deltas come one by one from many sessions at a time. As a row each, every one would
 * dirty a page of its session and have to be merged later; so a batch writes the deltas of all
 * sessions as one row of an append-only log, while a session's tail grows in memory, and the tail
 * becomes one row of `events` when anything else follows or it reaches its bounds. The log is only
 * read after a crash, or after a batch that was undone, to make the same tails again.
 *
 * Everything but `tail` is called inside a batch of the writer.
 */
export class DeltaLog extends Queries {
  readonly #insert = this.query("INSERT INTO delta_log (body) VALUES (?)");
  readonly #deleteAll = this.query("DELETE FROM delta_log");
  readonly #selectAll = this.query<[string]>("SELECT body FROM delta_log ORDER BY id");
  readonly #selectTurn = this.query<[id: string, lastSeq: number | null]>(
    `SELECT id, (SELECT max(seq) FROM events WHERE session_id = turns.session_id)
     FROM turns WHERE turn = ? AND session_id = ? AND ended_at IS NULL`,
  );
  readonly #limits: DeltaLimits;
  /** By session; undefined until they are read. */
  #tails: Map<number, Tail> | undefined;
  /** Those that grew in this batch. */
  #grown = new Set<Tail>();
  #logRows = 0;
  #logChars = 0;

  constructor(db: DatabaseSync, limits: DeltaLimits = LIMITS) {
    super(db);
    this.#limits = limits;
  }

  tail(sessionId: number): Tail | undefined {
    return this.#known().get(sessionId);
  }

  /** Whether the delta may be added to the tail of its session. */
  continues(source: EventSource, { event, stream, body }: EncodedEvent): boolean {
    const tail = this.tail(source.sessionId);
    return tail !== undefined && tail.source.turn === source.turn && tail.type === event.type &&
      tail.stream === stream && tail.bodies.length < this.#limits.tailDeltas &&
      tail.chars + body.length <= this.#limits.tailChars;
  }

  /** Adds it to the tail of its session, or begins one where there is none. */
  add(source: EventSource, { event, stream, body }: EncodedEvent, seq: number): void {
    let tail = this.tail(source.sessionId);
    if (tail === undefined) {
      tail = new Tail(source, event.type, stream!, seq);
      this.#known().set(source.sessionId, tail);
    }
    tail.add(body);
    this.#grown.add(tail);
  }

  /** Removes the tail of a session, which the caller writes as a row. */
  take(sessionId: number): Tail | undefined {
    const tail = this.tail(sessionId);
    if (tail === undefined) return undefined;
    this.#known().delete(sessionId);
    this.#grown.delete(tail);
    return tail;
  }

  /** Writes what is new into the log. Returns tails that the caller writes as rows: it is emptied. */
  beforeCommit(): Iterable<Tail> {
    if (this.#grown.size === 0) return [];
    const { logRows, logChars } = this.#limits;
    if (this.#logRows >= logRows || this.#logChars >= logChars) return this.empty();
    const entries: string[] = [];
    for (const tail of this.#grown) {
      const { source, type, stream, from, bodies, logged } = tail;
      const texts = logged === 0 ? bodies : bodies.slice(logged);
      entries.push(
        `[${source.sessionId},${source.turn},"${type}",${stream},${from + logged},[${texts}]]`,
      );
      tail.logged = bodies.length;
    }
    this.#grown.clear();
    const body = `[${entries}]`;
    this.#insert.run(body);
    this.#logRows++;
    this.#logChars += body.length;
    return [];
  }

  /** Empties the log; the caller writes the returned tails as rows. */
  empty(): Iterable<Tail> {
    const all = this.#known().values();
    this.#deleteAll.run();
    this.#logRows = this.#logChars = 0;
    this.#tails = new Map();
    this.#grown.clear();
    return all;
  }

  /** Forgets all tails; the next use makes those again that the tables hold. */
  forget(): void {
    this.#tails = undefined;
    this.#grown.clear();
  }

  #known(): Map<number, Tail> {
    return this.#tails ??= this.#load();
  }

  #load(): Map<number, Tail> {
    const tails = new Map<number, Tail>();
    const turns = new Map<number, [id: string, lastSeq: number | null] | undefined>();
    this.#logRows = this.#logChars = 0;
    for (const [body] of this.#selectAll.all()) {
      this.#logRows++;
      this.#logChars += body.length;
      for (const [sessionId, turn, type, streamId, from, texts] of JSON.parse(body) as Entry[]) {
        if (!turns.has(turn)) turns.set(turn, this.#selectTurn.get(turn, sessionId));
        // A turn that has ended has no tail: its last event made a row of it.
        const [id, lastSeq] = turns.get(turn) ?? [];
        if (id === undefined || from <= (lastSeq ?? 0)) continue;
        const tail = tails.get(sessionId) ??
          new Tail({ turn, id, sessionId }, type, JSON.stringify(streamId), from);
        if (from !== tail.to + 1) {
          throw new Error(`Cannot read the log of deltas: ${from} follows on ${tail.to}`);
        }
        for (const text of texts) tail.add(JSON.stringify(text));
        tail.logged = tail.bodies.length;
        tails.set(sessionId, tail);
      }
    }
    return tails;
  }
}

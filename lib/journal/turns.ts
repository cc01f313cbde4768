import type { DatabaseSync } from "node:sqlite";
import type { TurnStatus, Usage } from "../contract/events.ts";
import type { TurnAutomation } from "../contract/turns.ts";
import type { ErrorData } from "../base/errors.ts";
import { query } from "./query.ts";
import type { NewTurn, Turn } from "../contract/journal.ts";

/** A turn as it is accepted. */
export interface TurnRow {
  turn: NewTurn;
  sessionId: number;
  afterSeq: number;
  acceptedAt: number;
  /** The input as JSON, and its estimated tokens. */
  parts: string;
  tokens: number;
}

/** A turn that has not ended, as its row says. */
export interface OpenTurnRow {
  turn: number;
  sessionId: number;
  durable: boolean;
  attempts: number;
  afterSeq: number;
  /** Undefined until it was started. */
  firstMessage: number | undefined;
  automation?: TurnAutomation;
}

/** Turns and their inputs as rows. What changes them is called inside a batch of the writer. */
export interface TurnRows {
  insert(row: TurnRow): number;
  /** Counts an attempt; `afterSeq` and `firstMessage` are where its events and messages begin. */
  start(turn: number, place: {
    startedAt: number;
    afterSeq: number;
    firstMessage: number;
  }): void;
  /** Back to waiting, the attempts kept; `crashed`: the run was ended by a crash. */
  requeue(turn: number, run: { crashed: boolean }): void;
  end(turn: number, end: {
    status: TurnStatus;
    endedAt: number;
    usage: Usage;
    error?: ErrorData;
    forgotten: boolean;
  }): void;
  find(id: string): Turn | undefined;
  /** Undefined when there is none or it has ended. */
  findOpen(id: string): OpenTurnRow | undefined;
  exists(id: string): boolean;
  page(sessionId: number, afterRowid: number, limit: number): Turn[];
  /** Ids of all turns that have not ended, in the order of acceptance. */
  openIds(): string[];
  hasOpen(sessionId: number): boolean;
  /** Whether a turn was begun in it and has not ended; after a crash it may wait to go on. */
  isStarted(sessionId: number): boolean;
}

type Row = [
  rowid: number,
  id: string,
  sessionId: number,
  sessionKey: string,
  channel: string,
  actor: string,
  durable: number,
  status: Turn["status"],
  attempts: number,
  crashes: number,
  afterSeq: number,
  acceptedAt: number,
  startedAt: number | null,
  endedAt: number | null,
  usage: string | null,
  error: string | null,
  automation: string | null,
  parts: string,
];

/** {@linkcode TurnRows} over the tables `turns` and `inputs`. */
export function createTurnRows(db: DatabaseSync): TurnRows {
  const select = `SELECT t.turn, t.id, t.session_id, s.key, t.channel, t.actor, t.durable, t.status,
      t.attempts, t.crashes, t.after_seq, t.accepted_at, t.started_at, t.ended_at, t.usage, t.error,
      t.automation, i.parts
    FROM turns AS t CROSS JOIN sessions AS s ON s.id = t.session_id
    CROSS JOIN inputs AS i ON i.turn = t.turn
    WHERE s.key NOT NULL`;
  const insertTurn = query(
    db,
    `INSERT INTO turns
       (id, session_id, channel, actor, durable, status, attempts, after_seq, accepted_at, automation)
     VALUES (?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?)`,
  );
  const insertInput = query(db, "INSERT INTO inputs (turn, tokens, parts) VALUES (?, ?, ?)");
  const updateStart = query(
    db,
    `UPDATE turns SET status = 'running', attempts = attempts + 1,
       started_at = coalesce(started_at, ?), after_seq = ?, first_message = ?
     WHERE turn = ?`,
  );
  const updateQueued = query(
    db,
    "UPDATE turns SET status = 'queued', crashes = crashes + ? WHERE turn = ?",
  );
  const updateEnd = query(
    db,
    "UPDATE turns SET status = ?, ended_at = ?, usage = ?, error = ?, forgotten = ? WHERE turn = ?",
  );
  const selectOne = query<Row>(db, `${select} AND t.id = ?`);
  const selectPage = query<Row>(
    db,
    `${select} AND t.session_id = ? AND t.turn > ? ORDER BY t.turn LIMIT ?`,
  );
  const selectOpen = query<[number, number, number, number, number, number | null, string | null]>(
    db,
    `SELECT turn, session_id, durable, attempts, after_seq, first_message, automation FROM turns
     WHERE id = ? AND ended_at IS NULL`,
  );
  const selectAny = query<[number]>(db, "SELECT turn FROM turns WHERE id = ?");
  const selectOpenIds = query<[string]>(
    db,
    "SELECT id FROM turns INDEXED BY open_turns WHERE ended_at IS NULL ORDER BY turn",
  );
  const selectOpenOf = query<[number]>(
    db,
    "SELECT turn FROM turns WHERE session_id = ? AND ended_at IS NULL LIMIT 1",
  );

  const selectStartedOf = query<[number]>(
    db,
    `SELECT turn FROM turns WHERE session_id = ? AND ended_at IS NULL AND first_message NOT NULL
     LIMIT 1`,
  );

  return {
    insert({ turn, sessionId, afterSeq, acceptedAt, parts, tokens }) {
      const { id, channel, actor, durable, automation } = turn;
      const rowid = insertTurn.insert(
        id,
        sessionId,
        channel,
        actor,
        durable ? 1 : 0,
        afterSeq,
        acceptedAt,
        automation === undefined ? null : JSON.stringify(automation),
      );
      insertInput.run(rowid, tokens, parts);
      return rowid;
    },
    start(turn, { startedAt, afterSeq, firstMessage }) {
      updateStart.run(startedAt, afterSeq, firstMessage, turn);
    },
    requeue(turn, { crashed }) {
      updateQueued.run(crashed ? 1 : 0, turn);
    },
    end(turn, { status, endedAt, usage, error, forgotten }) {
      const failure = error === undefined ? null : JSON.stringify(error);
      updateEnd.run(status, endedAt, JSON.stringify(usage), failure, forgotten ? 1 : 0, turn);
    },
    find(id) {
      const row = selectOne.get(id);
      return row && toTurn(row);
    },
    findOpen(id) {
      const row = selectOpen.get(id);
      if (row === undefined) return undefined;
      const [turn, sessionId, durable, attempts, afterSeq, firstMessage, automation] = row;
      return {
        turn,
        sessionId,
        durable: durable === 1,
        attempts,
        afterSeq,
        firstMessage: firstMessage ?? undefined,
        ...automation !== null && { automation: JSON.parse(automation) },
      };
    },
    exists: (id) => selectAny.get(id) !== undefined,
    page: (sessionId, afterRowid, limit) =>
      selectPage.all(sessionId, afterRowid, limit).map(toTurn),
    openIds: () => selectOpenIds.all().map(([id]) => id),
    hasOpen: (sessionId) => selectOpenOf.get(sessionId) !== undefined,
    isStarted: (sessionId) => selectStartedOf.get(sessionId) !== undefined,
  };
}

function toTurn(row: Row): Turn {
  const [
    rowid,
    id,
    sessionId,
    sessionKey,
    channel,
    actor,
    durable,
    status,
    attempts,
    crashes,
    afterSeq,
    acceptedAt,
    startedAt,
    endedAt,
    usage,
    error,
    automation,
    parts,
  ] = row;
  return {
    rowid,
    id,
    sessionId,
    sessionKey,
    channel,
    actor,
    input: JSON.parse(parts),
    durable: durable === 1,
    status,
    attempts,
    crashes,
    afterSeq,
    acceptedAt,
    ...startedAt !== null && { startedAt },
    ...endedAt !== null && { endedAt },
    ...usage !== null && { usage: JSON.parse(usage) },
    ...error !== null && { error: JSON.parse(error) },
    ...automation !== null && { automation: JSON.parse(automation) },
  };
}

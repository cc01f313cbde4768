import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../contract/messages.ts";
import { estimateTokens } from "../model/tokens.ts";
import type { EventSource } from "./delta_log.ts";
import { query } from "./query.ts";
import type { HistoryPage, StoredMessage } from "../contract/journal.ts";

/** Messages and the contexts made of them. What changes them is called inside a batch of the writer. */
export interface MessageLog {
  /** Records a turn's user message, whose parts stand in its input, and returns its id. */
  addInput(source: EventSource, seq: number, options: { inContext: boolean }): number;
  /** Records a message as the newest of the context. `body` is its JSON. */
  add(source: EventSource, seq: number, message: Message, body: string): void;
  /** Takes everything before the message out of the context and puts a summary in front. */
  replaceBy(source: EventSource, seq: number, summary: string, keepFrom: number): void;
  /** Takes everything out of the context. */
  startAnew(sessionId: number): void;
  /** Takes everything out of the context and puts a summary in its place. */
  startFrom(source: EventSource, seq: number, summary: string): void;
  /** Takes a turn's messages out of the context, but not a summary that it made. */
  forget(source: EventSource): void;
  context(sessionId: number): StoredMessage[];
  /** Estimated tokens of the context. */
  contextTokens(sessionId: number): number;
  history(sessionId: number, afterId: number, limit: number): StoredMessage[];
  page(sessionId: number, before: number, limit: number): HistoryPage;
  /** Messages of a turn with the seq after which each was written, from `firstId` on. */
  ofTurn(source: EventSource, firstId: number): { seq: number; message: Message }[];
}

type Row = [id: number, turnId: string, tokens: number, body: string | null, parts: string | null];

/** {@linkcode MessageLog} over the tables `messages`, `context` and `inputs`. */
export function createMessageLog(db: DatabaseSync): MessageLog {
  const columns = `m.id, coalesce((SELECT id FROM turns WHERE turn = m.turn), ''), m.tokens, m.body,
    CASE WHEN m.body IS NULL THEN (SELECT parts FROM inputs WHERE turn = m.turn) END`;
  const insert = query(
    db,
    "INSERT INTO messages (session_id, turn, seq, tokens, body) VALUES (?, ?, ?, ?, ?)",
  );
  const insertInput = query(
    db,
    `INSERT INTO messages (session_id, turn, seq, tokens, body)
     SELECT ?, ?, ?, tokens, NULL FROM inputs WHERE turn = ?`,
  );
  const enter = query(
    db,
    "INSERT INTO context (session_id, place, message, turn) VALUES (?, ?, ?, ?)",
  );
  const recordStart = query(
    db,
    "INSERT INTO context_starts (session_id, first, turn, summary) VALUES (?, ?, ?, ?)",
  );
  const selectLast = query<[number | null]>(
    db,
    "SELECT max(id) FROM messages WHERE session_id = ?",
  );
  const sumContext = query<[number]>(
    db,
    `SELECT coalesce(sum(m.tokens), 0) FROM context AS c CROSS JOIN messages AS m ON m.id = c.message
     WHERE c.session_id = ?`,
  );
  const selectBefore = query<Row>(
    db,
    `SELECT ${columns} FROM messages AS m WHERE m.session_id = ? AND m.id < ?
     ORDER BY m.id DESC LIMIT ?`,
  );
  const countUsers = query<[number]>(
    db,
    "SELECT count(*) FROM messages WHERE session_id = ? AND id < ? AND body IS NULL",
  );
  const leaveAll = query(db, "DELETE FROM context WHERE session_id = ?");
  const leaveBefore = query(db, "DELETE FROM context WHERE session_id = ? AND place < ?");
  const leave = query(db, "DELETE FROM context WHERE session_id = ? AND turn = ? AND place > 0");
  // CROSS JOIN keeps the order of the tables: the small one leads.
  const selectContext = query<Row>(
    db,
    `SELECT ${columns} FROM context AS c CROSS JOIN messages AS m ON m.id = c.message
     WHERE c.session_id = ? ORDER BY c.place`,
  );
  const selectHistory = query<Row>(
    db,
    `SELECT ${columns} FROM messages AS m WHERE m.session_id = ? AND m.id > ?
     ORDER BY m.id LIMIT ?`,
  );
  const selectTurn = query<[seq: number, body: string]>(
    db,
    `SELECT seq, body FROM messages
     WHERE session_id = ? AND id >= ? AND turn = ? AND body NOT NULL ORDER BY id`,
  );

  /** Past the last message. */
  const end = (sessionId: number) => (selectLast.get(sessionId)?.[0] ?? 0) + 1;

  function replaceBy(
    { sessionId, turn }: EventSource,
    seq: number,
    summary: string,
    keepFrom: number,
  ): void {
    const message: Message = { role: "summary", text: summary };
    leaveBefore.run(sessionId, keepFrom);
    const id = insert.insert(
      sessionId,
      turn,
      seq,
      estimateTokens(message),
      JSON.stringify(message),
    );
    enter.run(sessionId, 0, id, turn);
    recordStart.run(sessionId, keepFrom, turn, id);
  }

  return {
    replaceBy,
    startFrom: (source, seq, summary) => replaceBy(source, seq, summary, end(source.sessionId)),
    addInput({ sessionId, turn }, seq, { inContext }) {
      const id = insertInput.insert(sessionId, turn, seq, turn);
      if (inContext) enter.run(sessionId, id, id, turn);
      return id;
    },
    add({ sessionId, turn }, seq, message, body) {
      const id = insert.insert(sessionId, turn, seq, estimateTokens(message), body);
      enter.run(sessionId, id, id, turn);
    },
    startAnew(sessionId) {
      leaveAll.run(sessionId);
      recordStart.run(sessionId, end(sessionId), null, null);
    },
    forget({ sessionId, turn }) {
      leave.run(sessionId, turn);
    },
    context: (sessionId) => selectContext.all(sessionId).map(toStoredMessage),
    contextTokens: (sessionId) => sumContext.get(sessionId)![0],
    page(sessionId, before, limit) {
      // One more tells whether there is a page before.
      const rows = selectBefore.all(sessionId, before, limit + 1);
      const hasMore = rows.length > limit;
      const messages = rows.slice(0, limit).reverse().map(toStoredMessage);
      const first = messages[0]?.id ?? 0;
      return {
        messages,
        userIndex: countUsers.get(sessionId, first)![0],
        ...hasMore && { before: first },
      };
    },
    history: (sessionId, afterId, limit) =>
      selectHistory.all(sessionId, afterId, limit).map(toStoredMessage),
    ofTurn: ({ sessionId, turn }, firstId) =>
      selectTurn.all(sessionId, firstId, turn)
        .map(([seq, body]) => ({ seq, message: JSON.parse(body) })),
  };
}

function toStoredMessage([id, turnId, tokens, body, parts]: Row): StoredMessage {
  const message: Message = body === null
    ? { role: "user", parts: JSON.parse(parts!) }
    : JSON.parse(body);
  return { id, turnId, message, tokens };
}

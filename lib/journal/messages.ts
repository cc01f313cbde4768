import type { Message } from "../contract/messages.ts";
import { estimateTokens } from "../model/tokens.ts";
import type { EventSource } from "./delta_log.ts";
import { Queries } from "./query.ts";
import type { HistoryPage, StoredMessage } from "../contract/journal.ts";

type Row = [id: number, turnId: string, tokens: number, body: string | null, parts: string | null];

const COLUMNS = `m.id, coalesce((SELECT id FROM turns WHERE turn = m.turn), ''), m.tokens, m.body,
    CASE WHEN m.body IS NULL THEN (SELECT parts FROM inputs WHERE turn = m.turn) END`;

/**
 * Messages and the contexts made of them, over the tables `messages`, `context` and `inputs`. What
 * changes them is called inside a batch of the writer.
 */
export class MessageLog extends Queries {
  readonly #insert = this.query(
    "INSERT INTO messages (session_id, turn, seq, tokens, body) VALUES (?, ?, ?, ?, ?)",
  );
  readonly #insertInput = this.query(`INSERT INTO messages (session_id, turn, seq, tokens, body)
    SELECT ?, ?, ?, tokens, NULL FROM inputs WHERE turn = ?`);
  readonly #enter = this.query(
    "INSERT INTO context (session_id, place, message, turn) VALUES (?, ?, ?, ?)",
  );
  readonly #insertStart = this.query(
    "INSERT INTO context_starts (session_id, first, turn, summary) VALUES (?, ?, ?, ?)",
  );
  readonly #selectLast = this.query<[number | null]>(
    "SELECT max(id) FROM messages WHERE session_id = ?",
  );
  readonly #sumContext = this.query<[number]>(`SELECT coalesce(sum(m.tokens), 0)
    FROM context AS c CROSS JOIN messages AS m ON m.id = c.message WHERE c.session_id = ?`);
  readonly #selectBefore = this.query(
    `SELECT ${COLUMNS} FROM messages AS m WHERE m.session_id = ? AND m.id < ?
     ORDER BY m.id DESC LIMIT ?`,
    toStoredMessage,
  );
  readonly #countUsers = this.query<[number]>(
    "SELECT count(*) FROM messages WHERE session_id = ? AND id < ? AND body IS NULL",
  );
  readonly #leaveAll = this.query("DELETE FROM context WHERE session_id = ?");
  readonly #leaveBefore = this.query("DELETE FROM context WHERE session_id = ? AND place < ?");
  readonly #leave = this.query(
    "DELETE FROM context WHERE session_id = ? AND turn = ? AND place > 0",
  );
  // CROSS JOIN keeps the order of the tables: the small one leads.
  readonly #selectContext = this.query(
    `SELECT ${COLUMNS} FROM context AS c CROSS JOIN messages AS m ON m.id = c.message
     WHERE c.session_id = ? ORDER BY c.place`,
    toStoredMessage,
  );
  readonly #selectHistory = this.query(
    `SELECT ${COLUMNS} FROM messages AS m WHERE m.session_id = ? AND m.id > ? ORDER BY m.id LIMIT ?`,
    toStoredMessage,
  );
  readonly #selectTurn = this.query(
    `SELECT seq, body FROM messages
     WHERE session_id = ? AND id >= ? AND turn = ? AND body NOT NULL ORDER BY id`,
    ([seq, body]: [number, string]): { seq: number; message: Message } => (
      { seq, message: JSON.parse(body) }
    ),
  );

  /** Records a turn's user message, whose parts stand in its input, and returns its id. */
  addInput(
    { sessionId, turn }: EventSource,
    seq: number,
    { inContext }: { inContext: boolean },
  ): number {
    const id = this.#insertInput.insert(sessionId, turn, seq, turn);
    if (inContext) this.#enter.run(sessionId, id, id, turn);
    return id;
  }

  /** Records a message as the newest of the context. `body` is its JSON. */
  add({ sessionId, turn }: EventSource, seq: number, message: Message, body: string): void {
    const id = this.#insert.insert(sessionId, turn, seq, estimateTokens(message), body);
    this.#enter.run(sessionId, id, id, turn);
  }

  /** Takes everything before the message out of the context and puts a summary in front. */
  replaceBy(source: EventSource, seq: number, summary: string, keepFrom: number): void {
    const { sessionId, turn } = source;
    const message: Message = { role: "summary", text: summary };
    const body = JSON.stringify(message);
    this.#leaveBefore.run(sessionId, keepFrom);
    const id = this.#insert.insert(sessionId, turn, seq, estimateTokens(message), body);
    this.#enter.run(sessionId, 0, id, turn);
    this.#insertStart.run(sessionId, keepFrom, turn, id);
  }

  /** Takes everything out of the context. */
  startAnew(sessionId: number): void {
    this.#leaveAll.run(sessionId);
    this.#insertStart.run(sessionId, this.#end(sessionId), null, null);
  }

  /** Takes everything out of the context and puts a summary in its place. */
  startFrom(source: EventSource, seq: number, summary: string): void {
    this.replaceBy(source, seq, summary, this.#end(source.sessionId));
  }

  /** Takes a turn's messages out of the context, but not a summary that it made. */
  forget({ sessionId, turn }: EventSource): void {
    this.#leave.run(sessionId, turn);
  }

  context(sessionId: number): StoredMessage[] {
    return this.#selectContext.all(sessionId);
  }

  /** Estimated tokens of the context. */
  contextTokens(sessionId: number): number {
    return this.#sumContext.get(sessionId)![0];
  }

  history(sessionId: number, afterId: number, limit: number): StoredMessage[] {
    return this.#selectHistory.all(sessionId, afterId, limit);
  }

  page(sessionId: number, before: number, limit: number): HistoryPage {
    // One more tells whether there is a page before.
    const found = this.#selectBefore.all(sessionId, before, limit + 1);
    const messages = found.slice(0, limit).reverse();
    const first = messages[0]?.id ?? 0;
    return {
      messages,
      userIndex: this.#countUsers.get(sessionId, first)![0],
      ...found.length > limit && { before: first },
    };
  }

  /** Messages of a turn with the seq after which each was written, from `firstId` on. */
  ofTurn({ sessionId, turn }: EventSource, firstId: number): { seq: number; message: Message }[] {
    return this.#selectTurn.all(sessionId, firstId, turn);
  }

  /** Past the last message. */
  #end(sessionId: number): number {
    return (this.#selectLast.get(sessionId)?.[0] ?? 0) + 1;
  }
}

function toStoredMessage([id, turnId, tokens, body, parts]: Row): StoredMessage {
  const message: Message = body === null
    ? { role: "user", parts: JSON.parse(parts!) }
    : JSON.parse(body);
  return { id, turnId, message, tokens };
}

import type { Message } from "../contract/messages.ts";
import { estimateTokens } from "../model/tokens.ts";
import type { EventSource } from "./delta_log.ts";
import { Queries } from "./query.ts";
import type { HistoryPage, StoredMessage } from "../contract/journal.ts";

type Row = [
  id: number,
  turnId: string | null,
  tokens: number,
  body: string | null,
  parts: string | null,
];

const SELECT = `SELECT m.id, t.id, m.tokens, m.body, i.parts
  FROM messages AS m LEFT JOIN turns AS t ON t.turn = m.turn
  LEFT JOIN inputs AS i ON m.body IS NULL AND i.turn = m.turn`;

const NEXT_ID = "(SELECT coalesce(max(id), 0) + 1 FROM messages WHERE session_id = ?1)";
/** Messages of people before the next one. */
const USERS = `coalesce((SELECT users + (body IS NULL) FROM messages
  WHERE session_id = ?1 ORDER BY id DESC LIMIT 1), 0)`;

const LATEST_START = "FROM context_starts WHERE session_id = ?1 ORDER BY start DESC LIMIT 1";
const FIRST = `coalesce((SELECT first ${LATEST_START}), 0)`;

/** Of summaries the latest alone, also when its turn is forgotten. */
const IN_CONTEXT = `m.session_id = ?1 AND m.id >= ${FIRST}
  AND iif(m.summary, m.id = (SELECT summary ${LATEST_START}), t.forgotten IS NOT 1)`;

/**
 * Messages and the contexts made of them, over the tables `messages`, `context_starts` and `inputs`. What
 * changes them is called inside a batch of the writer.
 */
export class MessageLog extends Queries {
  readonly #insert = this.query<[id: number]>(
    `INSERT INTO messages (session_id, id, users, turn, seq, tokens, summary, body)
     VALUES (?1, ${NEXT_ID}, ${USERS}, ?2, ?3, ?4, ?5, ?6) RETURNING id`,
  );
  readonly #insertInput = this.query<[id: number]>(
    `INSERT INTO messages (session_id, id, users, turn, seq, tokens, summary, body)
     SELECT ?1, ${NEXT_ID}, ${USERS}, turn, ?2, tokens, 0, NULL FROM inputs WHERE turn = ?3
     RETURNING id`,
  );
  readonly #selectNext = this.query<[id: number]>(`SELECT ${NEXT_ID}`);
  // What has left the context doesn't come back.
  readonly #insertStart = this.query(
    `INSERT INTO context_starts (session_id, first, turn, summary)
     VALUES (?1, max(?2, ${FIRST}), ?3, ?4)`,
  );
  readonly #selectContext = this.query(
    `${SELECT} WHERE ${IN_CONTEXT} ORDER BY m.id`,
    toStoredMessage,
  );
  /** As it was when the message at ?2 was new: what began a context or was said later counts for nothing. */
  readonly #selectContextAt = this.query(
    `WITH latest AS (SELECT first, summary FROM context_starts
       WHERE session_id = ?1 AND iif(summary IS NULL, first <= ?2, summary < ?2)
       ORDER BY start DESC LIMIT 1)
     ${SELECT} WHERE m.session_id = ?1 AND m.id >= coalesce((SELECT first FROM latest), 0)
       AND m.id < ?2
       AND iif(m.summary, m.id = (SELECT summary FROM latest), t.forgotten IS NOT 1)
     ORDER BY m.id`,
    toStoredMessage,
  );
  readonly #sumContext = this.query<[number]>(
    `SELECT coalesce(sum(m.tokens), 0)
     FROM messages AS m LEFT JOIN turns AS t ON t.turn = m.turn WHERE ${IN_CONTEXT}`,
  );
  readonly #selectBefore = this.query(
    `${SELECT} WHERE m.session_id = ? AND m.id < ? ORDER BY m.id DESC LIMIT ?`,
    toStoredMessage,
  );
  readonly #selectUsers = this.query<[number]>(
    "SELECT users FROM messages WHERE session_id = ? AND id = ?",
  );
  readonly #selectHistory = this.query(
    `${SELECT} WHERE m.session_id = ? AND m.id > ? ORDER BY m.id LIMIT ?`,
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
  addInput({ sessionId, turn }: EventSource, seq: number): number {
    return this.#insertInput.get(sessionId, seq, turn)![0];
  }

  /** Records a message. `body` is its JSON. */
  add({ sessionId, turn }: EventSource, seq: number, message: Message, body: string): number {
    const summary = message.role === "summary" ? 1 : 0;
    return this.#insert.get(sessionId, turn, seq, estimateTokens(message), summary, body)![0];
  }

  /** Takes everything before the message out of the context and puts a summary in front. */
  replaceBy(source: EventSource, seq: number, summary: string, keepFrom: number): void {
    const message: Message = { role: "summary", text: summary };
    const id = this.add(source, seq, message, JSON.stringify(message));
    this.#insertStart.run(source.sessionId, keepFrom, source.turn, id);
  }

  /** Takes everything out of the context. */
  startAnew(sessionId: number): void {
    this.#insertStart.run(sessionId, this.#selectNext.get(sessionId)![0], null, null);
  }

  /** Takes everything out of the context and puts a summary in its place. */
  startFrom(source: EventSource, seq: number, summary: string): void {
    this.replaceBy(source, seq, summary, this.#selectNext.get(source.sessionId)![0]);
  }

  context(sessionId: number): StoredMessage[] {
    return summaryFirst(this.#selectContext.all(sessionId));
  }

  /** What the context was before a message. */
  contextAt(sessionId: number, messageId: number): StoredMessage[] {
    return summaryFirst(this.#selectContextAt.all(sessionId, messageId));
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
      userIndex: this.#selectUsers.get(sessionId, first)?.[0] ?? 0,
      ...found.length > limit && { before: first },
    };
  }

  /** Messages of a turn with the seq after which each was written, from `firstId` on. */
  ofTurn({ sessionId, turn }: EventSource, firstId: number): { seq: number; message: Message }[] {
    return this.#selectTurn.all(sessionId, firstId, turn);
  }
}

function summaryFirst(messages: StoredMessage[]): StoredMessage[] {
  const at = messages.findIndex(({ message }) => message.role === "summary");
  return at < 0 ? messages : [...messages.splice(at, 1), ...messages];
}

function toStoredMessage([id, turnId, tokens, body, parts]: Row): StoredMessage {
  const message: Message = body === null
    ? { role: "user", parts: JSON.parse(parts!) }
    : JSON.parse(body);
  return { id, turnId: turnId ?? "", message, tokens };
}

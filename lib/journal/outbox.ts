import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../errors.ts";
import { query } from "./query.ts";
import type { OutboxMessage, OutboxRow } from "./types.ts";
import { Refused } from "./writer.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** How long a message waits to be delivered (decisions D4). */
const WAITS_MS = 24 * HOUR_MS;

/** How long its row stays once it has expired or was sent, so that it can be asked about. */
const KEPT_MS = 7 * 24 * HOUR_MS;

/** Messages of a channel that may wait. */
const MAX_WAITING = 10_000;

/** Rows that one message marks or removes: more than it adds, so they do not pile up. */
const TIDIED_AT_ONCE = 32;

/** Messages to other channels as rows. What changes them is called inside a batch of the writer. */
export interface Outbox {
  /** False when the id is on record; refuses with `overloaded` when the channel's queue is full. */
  enqueue(message: OutboxMessage): boolean | Refused;
  /**
   * Notes that the message goes out in this very batch, one that waits or a new one. False when its id
   * is on record in any other state: then it must not go out.
   */
  sent(message: OutboxMessage): boolean;
  /** How many wait. */
  waiting(): number;
  /** Rows after a place, in the order of delivery. */
  list(afterRowid: number, limit: number): OutboxRow[];
}

type Row = [
  rowid: number,
  id: string,
  turnId: string,
  channel: string,
  chatId: string,
  content: string,
  state: OutboxRow["state"],
  createdAt: number,
  expiresAt: number,
];

/** An {@linkcode Outbox} over the table `outbox`. */
export function createOutbox(db: DatabaseSync, now: () => number): Outbox {
  const selectId = query<[number]>(db, "SELECT 1 FROM outbox WHERE id = ?");
  const countWaiting = query<[number]>(
    db,
    `SELECT count(*) FROM (SELECT 1 FROM outbox
     WHERE channel = ? AND state = 'pending' AND expires_at > ? LIMIT ${MAX_WAITING})`,
  );
  const countAll = query<[number]>(
    db,
    "SELECT count(*) FROM outbox WHERE state = 'pending' AND expires_at > ?",
  );
  const insert = query(
    db,
    `INSERT INTO outbox (id, turn_id, channel, chat_id, content, state, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectState = query<[OutboxRow["state"], expiresAt: number]>(
    db,
    "SELECT state, expires_at FROM outbox WHERE id = ?",
  );
  const markSent = query(db, "UPDATE outbox SET state = 'sent' WHERE id = ?");
  const markExpired = query(
    db,
    `UPDATE outbox SET state = 'expired' WHERE message IN
       (SELECT message FROM outbox WHERE state = 'pending' AND expires_at <= ?
        ORDER BY expires_at LIMIT ${TIDIED_AT_ONCE})`,
  );
  const removeOld = query(
    db,
    `DELETE FROM outbox WHERE message IN
       (SELECT message FROM outbox WHERE state = ? AND expires_at <= ?
        ORDER BY expires_at LIMIT ${TIDIED_AT_ONCE})`,
  );
  // One that has expired is shown so, whether it was marked yet or not.
  const selectPage = query<Row>(
    db,
    `SELECT message, id, turn_id, channel, chat_id, content,
       CASE WHEN state = 'pending' AND expires_at <= ? THEN 'expired' ELSE state END,
       created_at, expires_at
     FROM outbox WHERE message > ? ORDER BY message LIMIT ?`,
  );

  function tidy(time: number): void {
    markExpired.run(time);
    for (const state of ["expired", "sent"]) removeOld.run(state, time - KEPT_MS);
  }

  function add(message: OutboxMessage, state: OutboxRow["state"], time: number): void {
    const { id, turnId = "", channel, chatId, content } = message;
    tidy(time);
    insert.run(id, turnId, channel, chatId, JSON.stringify(content), state, time, time + WAITS_MS);
  }

  return {
    enqueue(message) {
      const { id, channel } = message;
      const time = Math.floor(now());
      if (selectId.get(id) !== undefined) return false;
      if (countWaiting.get(channel, time)![0] >= MAX_WAITING) {
        return new Refused(
          new ServiceError(
            "overloaded",
            `Cannot queue a message for the channel ${JSON.stringify(channel)}: ` +
              `${MAX_WAITING} wait to be delivered`,
          ),
        );
      }
      add(message, "pending", time);
      return true;
    },
    sent(message) {
      const time = Math.floor(now());
      const found = selectState.get(message.id);
      if (found === undefined) {
        add(message, "sent", time);
        return true;
      }
      const [state, expiresAt] = found;
      if (state !== "pending" || expiresAt <= time) return false;
      markSent.run(message.id);
      return true;
    },
    waiting: () => countAll.get(Math.floor(now()))![0],
    list: (afterRowid, limit) =>
      selectPage.all(Math.floor(now()), afterRowid, limit).map(toOutboxRow),
  };
}

function toOutboxRow(
  [rowid, id, turnId, channel, chatId, content, state, createdAt, expiresAt]: Row,
): OutboxRow {
  return {
    rowid,
    id,
    ...turnId !== "" && { turnId },
    channel,
    chatId,
    content: JSON.parse(content),
    state,
    createdAt,
    expiresAt,
  };
}

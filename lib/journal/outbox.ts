import type { DatabaseSync } from "node:sqlite";
import type { AddedMessage } from "../contract/delivery_store.ts";
import { ServiceError } from "../base/errors.ts";
import { checkName, invalid } from "./checks.ts";
import { OUTBOX_COLUMNS, type OutboxColumns, toOutboxRow } from "./outbox_rows.ts";
import { query } from "./query.ts";
import type { OutboxMessage, OutboxRow } from "../contract/journal.ts";
import { Refused } from "./writer.ts";

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

/** How long a message waits to be delivered. */
export const WAITS_MS = DAY_MS;

/**
 * How long its row stays once its time is over, or it was dropped: a repeat of what it answers is known by
 * its id, and is to be for as long as by a request key.
 */
const KEPT_MS = 8 * DAY_MS;

/** The same for one that is dead or unknown, unless somebody decides. */
const UNDECIDED_MS = 29 * DAY_MS;

/** Messages of a channel that may wait. */
const MAX_WAITING = 10_000;

/** Rows that one message marks or removes: more than it adds, so they do not pile up. */
const TIDIED_AT_ONCE = 32;

/** How long it is not looked for old rows once there were none. */
const QUIET_MS = 1_000;

/** Files of one message. */
const MAX_MEDIA = 64;

/** Characters of a message's metadata, and of its event, as JSON. */
const MAX_JSON_CHARS = 64 * 1024;

/** Characters of an error that are kept. */
const MAX_ERROR_CHARS = 500;

/** Messages to channels as rows. What changes them is called inside a batch of the writer. */
export interface Outbox {
  /** False when the id is on record; refuses with `overloaded` when the channel's queue is full. */
  enqueue(message: OutboxMessage): boolean | Refused;
  /** Whether the id is on record. */
  has(id: string): boolean;
  /**
   * Notes that the message goes out in this very batch, one that waits or a new one. False when its id
   * is on record in any other state: then it must not go out.
   */
  sent(message: OutboxMessage): boolean;
  /** Adds what a turn has said, which no queue refuses, unless its id is on record. */
  add(added: AddedMessage): void;
  /** Ends the wait of a message that nobody needs any more. */
  withdraw(id: string): void;
  tidy(): void;
  /** How many wait; those that have expired may be among them until the next write. */
  waiting(): number;
  /** Rows after a place, in the order of delivery. */
  list(afterRowid: number, limit: number): OutboxRow[];
  /** The row of an id. */
  find(id: string): OutboxRow | undefined;
}

/** An {@linkcode Outbox} over the table `outbox`. */
export function createOutbox(db: DatabaseSync, now: () => number): Outbox {
  const countWaiting = query<[number]>(db, "SELECT waiting FROM outbox_counts WHERE channel = ?");
  const countAll = query<[number]>(db, "SELECT coalesce(sum(waiting), 0) FROM outbox_counts");
  const insert = query(
    db,
    `INSERT OR IGNORE INTO outbox (id, turn_id, channel, chat_id, content, media, metadata, event,
       state, created_at, expires_at, error, piece)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectState = query<[OutboxRow["state"], expiresAt: number]>(
    db,
    "SELECT state, expires_at FROM outbox WHERE id = ?",
  );
  const markSent = query(db, "UPDATE outbox SET state = 'sent' WHERE id = ?");
  const markWithdrawn = query(
    db,
    `UPDATE outbox SET state = 'expired', expires_at = min(expires_at, ?2)
     WHERE id = ?1 AND state = 'pending'`,
  );
  const markExpired = query(
    db,
    `UPDATE outbox SET state = 'expired' WHERE message IN
       (SELECT message FROM outbox WHERE state IN ('pending', 'sending') AND expires_at <= ?
        ORDER BY expires_at LIMIT ${TIDIED_AT_ONCE}) AND state = 'pending'`,
  );
  const removeOld = ["('sent', 'expired')", "('unknown', 'dead')"].map((states) =>
    query(
      db,
      `DELETE FROM outbox WHERE message IN
         (SELECT message FROM outbox WHERE state IN ${states} AND expires_at <= ?
          ORDER BY expires_at LIMIT ${TIDIED_AT_ONCE})`,
    )
  );
  // One that has expired is shown so, whether it was marked yet or not.
  const shown = `${OUTBOX_COLUMNS},
     CASE WHEN state = 'pending' AND expires_at <= ? THEN 'expired' ELSE state END`;
  const selectPage = query<OutboxColumns>(
    db,
    `SELECT ${shown} FROM outbox WHERE message > ? ORDER BY message LIMIT ?`,
  );
  const selectOne = query<OutboxColumns>(db, `SELECT ${shown} FROM outbox WHERE id = ?`);
  /** When it was found that nothing was to be tidied. */
  let quietSince = -Infinity;

  function tidy(time: number): void {
    // A clock that was set back has a look too.
    if (time >= quietSince && time < quietSince + QUIET_MS) return;
    const done = markExpired.run(time) + removeOld[0]!.run(time - KEPT_MS) +
      removeOld[1]!.run(time - UNDECIDED_MS);
    quietSince = done === 0 ? time : -Infinity;
  }

  function mayHaveBeenSent(id: string): boolean {
    const [state] = selectState.get(id) ?? [];
    return state === "sending" || state === "sent" || state === "unknown";
  }

  const isFull = (channel: string) => (countWaiting.get(channel)?.[0] ?? 0) >= MAX_WAITING;

  function add(
    { id, turnId = "", channel, chatId, content, media, metadata, event }: OutboxMessage,
    state: OutboxRow["state"],
    { error, expiresAt = Infinity, isPiece = false }: Omit<AddedMessage, "message"> = {},
  ): boolean {
    const time = Math.floor(now());
    tidy(time);
    return insert.run(
      id,
      turnId,
      channel,
      chatId,
      JSON.stringify(content),
      media === undefined || media.length === 0 ? null : JSON.stringify(media),
      metadata === undefined ? null : JSON.stringify(metadata),
      event === undefined ? null : JSON.stringify(event),
      state,
      time,
      Math.min(Math.floor(expiresAt), time + WAITS_MS),
      error === undefined ? null : storedError(error),
      isPiece ? 1 : 0,
    ) > 0;
  }

  return {
    enqueue(message) {
      const { id, channel } = message;
      if (isFull(channel)) {
        // Those that have expired do not count.
        quietSince = -Infinity;
        tidy(Math.floor(now()));
        if (isFull(channel)) {
          if (selectState.get(id) !== undefined) return false;
          return new Refused(
            new ServiceError(
              "overloaded",
              `Cannot queue a message for the channel ${JSON.stringify(channel)}: ` +
                `${MAX_WAITING} wait to be delivered`,
            ),
          );
        }
      }
      return add(message, "pending");
    },
    has: (id) => selectState.get(id) !== undefined,
    sent(message) {
      const found = selectState.get(message.id);
      if (found === undefined) return add(message, "sent");
      const [state, expiresAt] = found;
      if (state !== "pending" || expiresAt <= Math.floor(now())) return false;
      markSent.run(message.id);
      return true;
    },
    add({ message, state = "pending", after, ...rest }) {
      if (after === undefined || mayHaveBeenSent(after)) add(message, state, rest);
    },
    withdraw(id) {
      markWithdrawn.run(id, Math.floor(now()));
    },
    tidy() {
      tidy(Math.floor(now()));
    },
    waiting: () => countAll.get()![0],
    list: (afterRowid, limit) =>
      selectPage.all(Math.floor(now()), afterRowid, limit).map(toOutboxRow),
    find(id) {
      const row = selectOne.get(Math.floor(now()), id);
      return row && toOutboxRow(row);
    },
  };
}

/** Throws `invalid_request` for a message that cannot be kept as it is. */
export function checkMessage(message: OutboxMessage): void {
  for (const name of ["id", "channel", "chatId"] as const) checkName(name, message[name]);
  if (message.turnId !== undefined) checkName("turnId", message.turnId);
  const { media = [] } = message;
  if (media.length > MAX_MEDIA) {
    throw invalid("media", `Cannot send ${media.length} files at once: ${MAX_MEDIA} are the most`);
  }
  for (const name of ["metadata", "event"] as const) {
    const chars = message[name] === undefined ? 0 : JSON.stringify(message[name]).length;
    if (chars <= MAX_JSON_CHARS) continue;
    const most = `${MAX_JSON_CHARS} are the most`;
    throw invalid(name, `Cannot keep ${name} of ${chars} characters: ${most}`);
  }
}

/** An error as the table takes it. */
export function storedError(error: string): string {
  return error.slice(0, MAX_ERROR_CHARS).replaceAll("\0", " ").toWellFormed();
}

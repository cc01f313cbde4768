import type { DatabaseSync } from "node:sqlite";
import type { AddedMessage } from "../contract/delivery_store.ts";
import { ServiceError } from "../base/errors.ts";
import { checkName, invalid } from "./checks.ts";
import { SHOWN_COLUMNS, toOutboxRow } from "./outbox_rows.ts";
import { Queries, toJson } from "./query.ts";
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

/** Messages to channels as rows of `outbox`. What changes them is called inside a batch of the writer. */
export class Outbox extends Queries {
  readonly #countWaiting = this.query<[number]>(
    "SELECT waiting FROM outbox_counts WHERE channel = ?",
  );
  readonly #countAll = this.query<[number]>(
    "SELECT coalesce(sum(waiting), 0) FROM outbox_counts",
  );
  readonly #insert = this.query(`INSERT OR IGNORE INTO outbox
      (id, turn_id, channel, chat_id, content, media, metadata, event, state, created_at, expires_at,
       error, piece)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  readonly #selectState = this.query<[OutboxRow["state"], expiresAt: number]>(
    "SELECT state, expires_at FROM outbox WHERE id = ?",
  );
  readonly #markSent = this.query("UPDATE outbox SET state = 'sent' WHERE id = ?");
  readonly #markWithdrawn = this.query(`UPDATE outbox
    SET state = 'expired', expires_at = min(expires_at, ?2) WHERE id = ?1 AND state = 'pending'`);
  readonly #markExpired = this.query(`UPDATE outbox SET state = 'expired'
    WHERE message IN (${oldestOf("('pending', 'sending')")}) AND state = 'pending'`);
  readonly #removeOver = this.query(
    `DELETE FROM outbox WHERE message IN (${oldestOf("('sent', 'expired')")})`,
  );
  readonly #removeUndecided = this.query(
    `DELETE FROM outbox WHERE message IN (${oldestOf("('unknown', 'dead')")})`,
  );
  readonly #selectPage = this.query(
    `SELECT ${SHOWN_COLUMNS} FROM outbox WHERE message > ? ORDER BY message LIMIT ?`,
    toOutboxRow,
  );
  readonly #selectOne = this.query(`SELECT ${SHOWN_COLUMNS} FROM outbox WHERE id = ?`, toOutboxRow);
  readonly #now: () => number;
  /** When it was found that nothing was to be tidied. */
  #quietSince = -Infinity;

  constructor(db: DatabaseSync, now: () => number) {
    super(db);
    this.#now = () => Math.floor(now());
  }

  /** False when the id is on record; refuses with `overloaded` when the channel's queue is full. */
  enqueue(message: OutboxMessage): boolean | Refused {
    const { id, channel } = message;
    if (this.#isFull(channel)) {
      // Those that have expired do not count.
      this.#quietSince = -Infinity;
      this.tidy();
      if (this.#isFull(channel)) return this.has(id) ? false : new Refused(tooManyWait(channel));
    }
    return this.#add(message, "pending");
  }

  /** Whether the id is on record. */
  has(id: string): boolean {
    return this.#selectState.get(id) !== undefined;
  }

  /**
   * Notes that the message goes out in this very batch, one that waits or a new one. False when its id
   * is on record in any other state: then it must not go out.
   */
  sent(message: OutboxMessage): boolean {
    const found = this.#selectState.get(message.id);
    if (found === undefined) return this.#add(message, "sent");
    const [state, expiresAt] = found;
    if (state !== "pending" || expiresAt <= this.#now()) return false;
    this.#markSent.run(message.id);
    return true;
  }

  /** Adds what a turn has said, which no queue refuses, unless its id is on record. */
  add({ message, state = "pending", after, ...rest }: AddedMessage): void {
    if (after === undefined || this.#mayHaveBeenSent(after)) this.#add(message, state, rest);
  }

  /** Ends the wait of a message that nobody needs any more. */
  withdraw(id: string): void {
    this.#markWithdrawn.run(id, this.#now());
  }

  tidy(): void {
    const time = this.#now();
    // A clock that was set back has a look too.
    if (time >= this.#quietSince && time < this.#quietSince + QUIET_MS) return;
    const done = this.#markExpired.run(time) + this.#removeOver.run(time - KEPT_MS) +
      this.#removeUndecided.run(time - UNDECIDED_MS);
    this.#quietSince = done === 0 ? time : -Infinity;
  }

  /** How many wait; those that have expired may be among them until the next write. */
  waiting(): number {
    return this.#countAll.get()![0];
  }

  /** Rows after a place, in the order of delivery. */
  list(afterRowid: number, limit: number): OutboxRow[] {
    return this.#selectPage.all(this.#now(), afterRowid, limit);
  }

  /** The row of an id. */
  find(id: string): OutboxRow | undefined {
    return this.#selectOne.get(this.#now(), id);
  }

  #isFull(channel: string): boolean {
    return (this.#countWaiting.get(channel)?.[0] ?? 0) >= MAX_WAITING;
  }

  #mayHaveBeenSent(id: string): boolean {
    const [state] = this.#selectState.get(id) ?? [];
    return state === "sending" || state === "sent" || state === "unknown";
  }

  #add(
    { id, turnId = "", channel, chatId, content, media = [], metadata, event }: OutboxMessage,
    state: OutboxRow["state"],
    { error, expiresAt = Infinity, isPiece = false }: Omit<AddedMessage, "message"> = {},
  ): boolean {
    this.tidy();
    const time = this.#now();
    return this.#insert.run(
      id,
      turnId,
      channel,
      chatId,
      JSON.stringify(content),
      media.length === 0 ? null : JSON.stringify(media),
      toJson(metadata),
      toJson(event),
      state,
      time,
      Math.min(Math.floor(expiresAt), time + WAITS_MS),
      error === undefined ? null : storedError(error),
      isPiece ? 1 : 0,
    ) > 0;
  }
}

/** The rows in these states whose time is over first. */
function oldestOf(states: string): string {
  return `SELECT message FROM outbox WHERE state IN ${states} AND expires_at <= ?
    ORDER BY expires_at LIMIT ${TIDIED_AT_ONCE}`;
}

function tooManyWait(channel: string): ServiceError {
  return new ServiceError(
    "overloaded",
    `Cannot queue a message for the channel ${JSON.stringify(channel)}: ` +
      `${MAX_WAITING} wait to be delivered`,
  );
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

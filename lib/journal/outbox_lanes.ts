import type { DatabaseSync } from "node:sqlite";
import type { Claim, Settlement, StoredCounts } from "../contract/delivery_store.ts";
import { ServiceError } from "../base/errors.ts";
import { invalid } from "./checks.ts";
import { storedError, WAITS_MS } from "./outbox.ts";
import { OUTBOX_COLUMNS, SHOWN_COLUMNS, toOutboxRow } from "./outbox_rows.ts";
import { Queries } from "./query.ts";
import type { OutboxRow } from "../contract/journal.ts";
import { Refused } from "./writer.ts";

/** Rows that one claim may find expired before it leaves off. */
const EXPIRED_AT_ONCE = 32;

/** When to look again at a chat of which a message is being sent, milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** What is on record of a message that a crash has cut off. */
const CUT_OFF = "The service stopped while it was being sent";

const WAITS = "state IN ('pending', 'sending')";

/**
 * Messages of the outbox on their way: a lane for each chat of a runtime name, its oldest message
 * first. What changes them is called inside a batch of the writer. What each means: `DeliveryStore`.
 */
export class OutboxLanes extends Queries {
  readonly #selectChat = this.query<[string]>(`SELECT chat_id FROM outbox
    WHERE channel = ? AND chat_id > ? AND ${WAITS} ORDER BY chat_id LIMIT 1`);
  readonly #selectHead = this.query(
    `SELECT ${OUTBOX_COLUMNS}, state FROM outbox WHERE channel = ? AND chat_id = ? AND ${WAITS}
     ORDER BY message LIMIT 1`,
    toOutboxRow,
  );
  readonly #selectOne = this.query(
    `SELECT ${SHOWN_COLUMNS} FROM outbox WHERE message = ?`,
    toOutboxRow,
  );
  readonly #markSending = this.query(
    "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE message = ?",
  );
  readonly #markExpired = this.query("UPDATE outbox SET state = 'expired' WHERE message = ?");
  readonly #markEnded = this.query(
    "UPDATE outbox SET state = ?2, error = ?3 WHERE message = ?1 AND state = 'sending'",
  );
  readonly #markPending = this.query(`UPDATE outbox SET state = 'pending', error = ?2,
      not_before = min(?3, expires_at), attempts = attempts - ?4
    WHERE message = ?1 AND state = 'sending'`);
  // Nothing that asked for one runs any more.
  readonly #markVoid = this.query(`UPDATE outbox INDEXED BY outbox_lanes
    SET state = 'expired', expires_at = min(expires_at, ?)
    WHERE ${WAITS} AND state = 'pending' AND id GLOB 'approval:*'`);
  readonly #markCutOff = this.query(`UPDATE outbox INDEXED BY outbox_lanes
    SET state = 'unknown', error = '${CUT_OFF}' WHERE ${WAITS} AND state = 'sending'`);
  readonly #markKnown = this.query(`UPDATE outbox SET state = 'pending', not_before = 0
    WHERE channel = ? AND state = 'unknown' AND piece = 0 AND expires_at > ?`);
  readonly #markResent = this.query(`UPDATE outbox
    SET state = 'pending', attempts = 0, not_before = 0, expires_at = ?2 WHERE message = ?1`);
  readonly #markDropped = this.query(`UPDATE outbox
    SET state = 'expired', error = 'Dropped', expires_at = min(expires_at, ?2) WHERE message = ?1`);
  readonly #selectCounts = this.query(
    "SELECT waiting, unknown, dead FROM outbox_counts WHERE channel = ?",
    ([waiting, unknown, dead]: [number, number, number]) => ({ waiting, unknown, dead }),
  );
  readonly #now: () => number;

  constructor(db: DatabaseSync, now: () => number) {
    super(db);
    this.#now = () => Math.floor(now());
  }

  chats(runtimeName: string, afterChatId: string, limit: number): string[] {
    const chats: string[] = [];
    for (let after = afterChatId; chats.length < limit;) {
      const found = this.#selectChat.get(runtimeName, after);
      if (found === undefined) break;
      chats.push(after = found[0]);
    }
    return chats;
  }

  claim(runtimeName: string, chatId: string, isDue = false): Claim | undefined {
    const at = this.#now();
    for (let expired = 0; expired < EXPIRED_AT_ONCE; expired++) {
      const row = this.#selectHead.get(runtimeName, chatId);
      if (row === undefined) return undefined;
      if (row.state === "sending") return { waitUntil: at + LOOK_AGAIN_MS, isRetry: false };
      if (row.expiresAt > at) {
        const { notBefore = 0 } = row;
        // Nothing waits so long: the clock was set back since.
        const isTimeless = notBefore > at + WAITS_MS;
        if (notBefore > at && !isDue && !isTimeless) {
          return { waitUntil: notBefore, isRetry: true };
        }
        this.#markSending.run(row.rowid);
        return { row: { ...row, state: "sending", attempts: row.attempts + 1 } };
      }
      this.#markExpired.run(row.rowid);
    }
    return { waitUntil: at, isRetry: false };
  }

  settle(rowid: number, settlement: Settlement): void {
    const { state } = settlement;
    const error = state === "sent" ? null : storedError(settlement.error);
    if (state === "pending") {
      const { notBefore, counts } = settlement;
      this.#markPending.run(rowid, error, Math.ceil(notBefore), counts ? 0 : 1);
    } else {
      this.#markEnded.run(rowid, state, error);
    }
  }

  retryUnknown(runtimeName: string): number {
    return this.#markKnown.run(runtimeName, this.#now());
  }

  /**
   * Notes of what was being sent when the process died that nobody knows whether it arrived; what was to
   * ask for an approval is not sent any more.
   */
  recover(): number {
    this.#markVoid.run(this.#now());
    return this.#markCutOff.run();
  }

  counts(runtimeName: string): StoredCounts {
    return this.#selectCounts.get(runtimeName) ?? { waiting: 0, unknown: 0, dead: 0 };
  }

  resend(rowid: number): OutboxRow | Refused {
    return this.#decide(rowid, "resend", (now) => this.#markResent.run(rowid, now + WAITS_MS));
  }

  drop(rowid: number): OutboxRow | Refused {
    return this.#decide(rowid, "drop", (now) => this.#markDropped.run(rowid, now));
  }

  /** Changes a message that somebody decides about. */
  #decide(rowid: number, verb: string, change: (now: number) => void): OutboxRow | Refused {
    const now = this.#now();
    const state = this.#selectOne.get(now, rowid)?.state;
    if (state === undefined) {
      const message = `There is no message ${rowid} in the outbox`;
      return new Refused(new ServiceError("not_found", message, { param: "id" }));
    }
    if (state === "sent" || state === "sending") {
      const is = state === "sent" ? "was sent" : "is being sent";
      return new Refused(invalid("id", `Cannot ${verb} the message ${rowid}: it ${is}`));
    }
    change(now);
    return this.#selectOne.get(now, rowid)!;
  }
}

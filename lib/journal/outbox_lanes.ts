import type { DatabaseSync } from "node:sqlite";
import type { Claim, Settlement, StoredCounts } from "../contract/delivery_store.ts";
import { ServiceError } from "../base/errors.ts";
import { invalid } from "./checks.ts";
import { storedError, WAITS_MS } from "./outbox.ts";
import { OUTBOX_COLUMNS, type OutboxColumns, toOutboxRow } from "./outbox_rows.ts";
import { query } from "./query.ts";
import type { OutboxRow } from "../contract/journal.ts";
import { Refused } from "./writer.ts";

/** Rows that one claim may find expired before it leaves off. */
const EXPIRED_AT_ONCE = 32;

/** When to look again at a chat of which a message is being sent, milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** What is on record of a message that a crash has cut off. */
const CUT_OFF = "The service stopped while it was being sent";

/**
 * Messages of the outbox on their way: a lane for each chat of a runtime name, its oldest message
 * first. What changes them is called inside a batch of the writer. What each means: `DeliveryStore`.
 */
export interface OutboxLanes {
  chats(runtimeName: string, afterChatId: string, limit: number): string[];
  claim(runtimeName: string, chatId: string, isDue?: boolean): Claim | undefined;
  settle(rowid: number, settlement: Settlement): void;
  retryUnknown(runtimeName: string): number;
  /**
   * Notes of what was being sent when the process died that nobody knows whether it arrived; what was to
   * ask for an approval is not sent any more.
   */
  recover(): number;
  counts(runtimeName: string): StoredCounts;
  resend(rowid: number): OutboxRow | Refused;
  drop(rowid: number): OutboxRow | Refused;
}

/** {@linkcode OutboxLanes} over the table `outbox`. */
export function createOutboxLanes(db: DatabaseSync, now: () => number): OutboxLanes {
  const waits = "state IN ('pending', 'sending')";
  const selectChat = query<[string]>(
    db,
    `SELECT chat_id FROM outbox WHERE channel = ? AND chat_id > ? AND ${waits}
     ORDER BY chat_id LIMIT 1`,
  );
  const selectHead = query<OutboxColumns>(
    db,
    `SELECT ${OUTBOX_COLUMNS}, state FROM outbox WHERE channel = ? AND chat_id = ? AND ${waits}
     ORDER BY message LIMIT 1`,
  );
  const selectOne = query<OutboxColumns>(
    db,
    `SELECT ${OUTBOX_COLUMNS},
       CASE WHEN state = 'pending' AND expires_at <= ? THEN 'expired' ELSE state END
     FROM outbox WHERE message = ?`,
  );
  const markSending = query(
    db,
    "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE message = ?",
  );
  const markExpired = query(db, "UPDATE outbox SET state = 'expired' WHERE message = ?");
  const markSent = query(
    db,
    "UPDATE outbox SET state = 'sent', error = NULL WHERE message = ? AND state = 'sending'",
  );
  const markFailed = query(
    db,
    "UPDATE outbox SET state = ?2, error = ?3 WHERE message = ?1 AND state = 'sending'",
  );
  const markPending = query(
    db,
    `UPDATE outbox SET state = 'pending', error = ?2, not_before = min(?3, expires_at),
       attempts = attempts - ?4
     WHERE message = ?1 AND state = 'sending'`,
  );
  // Nothing that asked for one runs any more.
  const markVoid = query(
    db,
    `UPDATE outbox INDEXED BY outbox_lanes SET state = 'expired', expires_at = min(expires_at, ?)
     WHERE ${waits} AND state = 'pending' AND id GLOB 'approval:*'`,
  );
  const markCutOff = query(
    db,
    `UPDATE outbox INDEXED BY outbox_lanes SET state = 'unknown', error = '${CUT_OFF}'
     WHERE ${waits} AND state = 'sending'`,
  );
  const markKnown = query(
    db,
    `UPDATE outbox SET state = 'pending', not_before = 0
     WHERE channel = ? AND state = 'unknown' AND piece = 0 AND expires_at > ?`,
  );
  const markResent = query(
    db,
    `UPDATE outbox SET state = 'pending', attempts = 0, not_before = 0, expires_at = ?2
     WHERE message = ?1`,
  );
  const markDropped = query(
    db,
    `UPDATE outbox SET state = 'expired', error = 'Dropped', expires_at = min(expires_at, ?2)
     WHERE message = ?1`,
  );
  const selectCounts = query<[waiting: number, unknown: number, dead: number]>(
    db,
    "SELECT waiting, unknown, dead FROM outbox_counts WHERE channel = ?",
  );
  const time = () => Math.floor(now());

  /** Changes a message that somebody decides about. */
  function decide(rowid: number, verb: string, change: () => void): OutboxRow | Refused {
    const row = selectOne.get(time(), rowid);
    if (row === undefined) {
      const message = `There is no message ${rowid} in the outbox`;
      return new Refused(new ServiceError("not_found", message, { param: "message" }));
    }
    const { state } = toOutboxRow(row);
    if (state === "sent" || state === "sending") {
      const is = state === "sent" ? "was sent" : "is being sent";
      return new Refused(invalid("message", `Cannot ${verb} the message ${rowid}: it ${is}`));
    }
    change();
    return toOutboxRow(selectOne.get(time(), rowid)!);
  }

  return {
    chats(runtimeName, afterChatId, limit) {
      const chats: string[] = [];
      for (let after = afterChatId; chats.length < limit;) {
        const found = selectChat.get(runtimeName, after);
        if (found === undefined) break;
        chats.push(after = found[0]);
      }
      return chats;
    },
    claim(runtimeName, chatId, isDue = false) {
      const at = time();
      for (let expired = 0; expired < EXPIRED_AT_ONCE; expired++) {
        const columns = selectHead.get(runtimeName, chatId);
        if (columns === undefined) return undefined;
        const row = toOutboxRow(columns);
        if (row.state === "sending") return { waitUntil: at + LOOK_AGAIN_MS, isRetry: false };
        if (row.expiresAt > at) {
          const { notBefore = 0 } = row;
          // Nothing waits so long: the clock was set back since.
          const isTimeless = notBefore > at + WAITS_MS;
          if (notBefore > at && !isDue && !isTimeless) {
            return { waitUntil: notBefore, isRetry: true };
          }
          markSending.run(row.rowid);
          return { row: { ...row, state: "sending", attempts: row.attempts + 1 } };
        }
        markExpired.run(row.rowid);
      }
      return { waitUntil: at, isRetry: false };
    },
    settle(rowid, settlement) {
      const { state } = settlement;
      if (state === "sent") {
        markSent.run(rowid);
      } else if (state === "pending") {
        const { error, notBefore, counts } = settlement;
        markPending.run(rowid, storedError(error), Math.ceil(notBefore), counts ? 0 : 1);
      } else {
        markFailed.run(rowid, state, storedError(settlement.error));
      }
    },
    retryUnknown: (runtimeName) => markKnown.run(runtimeName, time()),
    recover() {
      markVoid.run(time());
      return markCutOff.run();
    },
    counts(runtimeName) {
      const [waiting, unknown, dead] = selectCounts.get(runtimeName) ?? [0, 0, 0];
      return { waiting, unknown, dead };
    },
    resend: (rowid) => decide(rowid, "resend", () => markResent.run(rowid, time() + WAITS_MS)),
    drop: (rowid) => decide(rowid, "drop", () => markDropped.run(rowid, time())),
  };
}

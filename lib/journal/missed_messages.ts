/**
 * Messages of channels that came too late to be answered: listed until somebody deals with them, and known
 * for longer, so that a repeat is no second one.
 *
 * @module
 */

import type { MissedMessage, MissedMessages, MissedRow } from "../contract/journal.ts";
import type { DatabaseSync } from "node:sqlite";
import { checkInteger, checkName, invalid } from "./checks.ts";
import type { Outbox } from "./outbox.ts";
import { query } from "./query.ts";
import type { Writer } from "./writer.ts";

/** Messages of a runtime name that are kept; of more, the newest. */
export const MAX_MISSED = 1_000;

/** How long one is kept. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/** Rows that one message or look removes: more than it adds, so they do not pile up. */
const SWEPT_AT_ONCE = 32;

/** Characters of one as JSON: its text, its metadata and its names together. */
const MAX_BODY_CHARS = 64 * 1024;

type Body = Omit<MissedMessage, "runtimeName" | "chatId" | "sentAt">;

type Row = [
  missed: number,
  runtime: string,
  chatId: string,
  sentAt: number,
  receivedAt: number,
  body: string,
];

/** {@linkcode MissedMessages} over the table `missed_messages`. */
export function createMissedMessages(
  { db, writer, outbox, now }: {
    db: DatabaseSync;
    writer: Pick<Writer, "write">;
    outbox: Pick<Outbox, "enqueue">;
    now: () => number;
  },
): MissedMessages {
  const selectName = query<[number]>(
    db,
    "SELECT 1 FROM missed_messages WHERE name = ? AND name NOT NULL",
  );
  const insert = query(
    db,
    `INSERT OR IGNORE INTO missed_messages (runtime, chat_id, name, sent_at, received_at, body)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const columns = "missed, runtime, chat_id, sent_at, received_at, body";
  const listed = "body NOT NULL AND received_at > ?";
  const selectAll = query<Row>(
    db,
    `SELECT ${columns} FROM missed_messages WHERE missed > ? AND ${listed} ORDER BY missed LIMIT ?`,
  );
  const selectOf = query<Row>(
    db,
    `SELECT ${columns} FROM missed_messages INDEXED BY missed_of_runtime
     WHERE runtime = ? AND missed > ? AND ${listed} ORDER BY missed LIMIT ?`,
  );
  const selectOne = query<Row>(
    db,
    `SELECT ${columns} FROM missed_messages WHERE missed = ? AND ${listed}`,
  );
  const count = query<[number]>(
    db,
    `SELECT count(*) FROM missed_messages INDEXED BY missed_of_runtime WHERE runtime = ? AND ${listed}`,
  );
  const clearOne = query(
    db,
    `UPDATE missed_messages SET body = NULL, told_at = coalesce(told_at, 0)
     WHERE missed = ? AND body NOT NULL`,
  );
  const clearOf = query(
    db,
    `UPDATE missed_messages INDEXED BY missed_of_runtime
     SET body = NULL, told_at = coalesce(told_at, 0) WHERE runtime = ? AND body NOT NULL`,
  );
  const clearAll = query(
    db,
    `UPDATE missed_messages SET body = NULL, told_at = coalesce(told_at, 0) WHERE body NOT NULL`,
  );
  const selectUntold = query<[runtime: string, chatId: string]>(
    db,
    `SELECT DISTINCT runtime, chat_id FROM missed_messages INDEXED BY missed_untold
     WHERE told_at IS NULL LIMIT ?`,
  );
  const selectUntoldOf = query<[count: number, oldest: number | null, newest: number | null]>(
    db,
    `SELECT count(*), min(sent_at), max(missed) FROM missed_messages
     WHERE runtime = ? AND chat_id = ? AND told_at IS NULL`,
  );
  const selectTold = query<[number | null]>(
    db,
    "SELECT max(told_at) FROM missed_messages WHERE runtime = ? AND chat_id = ?",
  );
  const markTold = query(
    db,
    "UPDATE missed_messages SET told_at = ? WHERE runtime = ? AND chat_id = ? AND told_at IS NULL",
  );
  const overflow = `missed IN
    (SELECT missed FROM missed_messages INDEXED BY missed_of_runtime WHERE runtime = ?1
     ORDER BY missed DESC LIMIT ${SWEPT_AT_ONCE} OFFSET ${MAX_MISSED})`;
  const deleteOverflow = query(
    db,
    `DELETE FROM missed_messages WHERE ${overflow} AND told_at NOT NULL`,
  );
  // What one chat has too much of takes no word from another.
  const unlistOverflow = query(
    db,
    `UPDATE missed_messages SET body = NULL WHERE ${overflow} AND body NOT NULL`,
  );
  const deleteOld = query(
    db,
    `DELETE FROM missed_messages WHERE missed IN
       (SELECT missed FROM missed_messages WHERE received_at <= ?
        ORDER BY received_at LIMIT ${SWEPT_AT_ONCE})`,
  );
  const deleteToldOf = query(
    db,
    `DELETE FROM missed_messages INDEXED BY missed_of_chat
     WHERE runtime = ?1 AND chat_id = ?2 AND told_at NOT NULL AND missed <=
       (SELECT missed FROM missed_messages INDEXED BY missed_of_runtime WHERE runtime = ?1
        ORDER BY missed DESC LIMIT 1 OFFSET ${MAX_MISSED})`,
  );
  const time = () => Math.floor(now());
  const oldest = () => time() - KEPT_MS;

  const store: MissedMessages = {
    has: (name) => selectName.get(name) !== undefined,
    async add({ runtimeName, chatId, sentAt, ...body }, name) {
      checkName("runtimeName", runtimeName);
      checkName("chatId", chatId);
      checkInteger("sentAt", sentAt, 0);
      const json = JSON.stringify(body satisfies Body);
      if (json.length > MAX_BODY_CHARS) {
        const most = `${MAX_BODY_CHARS} are the most`;
        throw invalid("content", `Cannot list a message of ${json.length} characters: ${most}`);
      }
      return await writer.write("full", () => {
        const added = insert.run(runtimeName, chatId, name ?? null, sentAt, time(), json) > 0;
        if (added) {
          deleteOverflow.run(runtimeName);
          unlistOverflow.run(runtimeName);
        }
        store.sweep();
        return added;
      }, json.length);
    },
    list(runtimeName, afterRowid, limit) {
      checkInteger("afterRowid", afterRowid, 0);
      checkInteger("limit", limit, 1);
      const rows = runtimeName === undefined
        ? selectAll.all(afterRowid, oldest(), limit)
        : selectOf.all(runtimeName, afterRowid, oldest(), limit);
      return rows.map(toMissedRow);
    },
    find(rowid) {
      const row = selectOne.get(rowid, oldest());
      return row && toMissedRow(row);
    },
    count: (runtimeName) => count.get(runtimeName, oldest())![0],
    remove: (rowid) => writer.write("full", () => clearOne.run(rowid) > 0),
    clear: (runtimeName) =>
      writer.write(
        "full",
        () => runtimeName === undefined ? clearAll.run() : clearOf.run(runtimeName),
      ),
    untoldChats: (limit) =>
      selectUntold.all(limit).map(([runtimeName, chatId]) => ({ runtimeName, chatId })),
    tell: ({ runtimeName, chatId, quietMs }, words) =>
      writer.write("full", () => {
        const [count, oldestSentAt, newest] = selectUntoldOf.get(runtimeName, chatId)!;
        if (oldestSentAt === null || newest === null) return false;
        const told = selectTold.get(runtimeName, chatId)![0];
        // A clock that was set back is no reason to be silent.
        const isQuiet = told !== null && told <= time() && told > time() - quietMs;
        if (!isQuiet) {
          const row = selectOne.get(newest, -1);
          const metadata = row && toMissedRow(row).metadata;
          const { id, content } = words({ count, oldestSentAt, metadata });
          const added = outbox.enqueue({ id, channel: runtimeName, chatId, content, metadata });
          if (typeof added !== "boolean") return added;
        }
        // Silence is no word: it does not make the next silence longer.
        markTold.run(isQuiet ? 0 : time(), runtimeName, chatId);
        deleteToldOf.run(runtimeName, chatId);
        return !isQuiet;
      }),
    sweep() {
      deleteOld.run(oldest());
    },
  };
  return store;
}

function toMissedRow([rowid, runtimeName, chatId, sentAt, receivedAt, body]: Row): MissedRow {
  return { rowid, runtimeName, chatId, sentAt, receivedAt, ...JSON.parse(body) as Body };
}

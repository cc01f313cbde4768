/**
 * Messages of channels that came too late to be answered: listed until somebody deals with them, and known
 * for longer, so that a repeat is no second one.
 *
 * @module
 */

import type {
  MissedMessage,
  MissedMessages,
  MissedRow,
  OutboxMessage,
  UntoldMessages,
} from "../contract/journal.ts";
import type { DatabaseSync } from "node:sqlite";
import { checkInteger, checkName, invalid } from "./checks.ts";
import type { Outbox } from "./outbox.ts";
import { Queries } from "./query.ts";
import { Refused, type Writer } from "./writer.ts";

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

const SELECT = "SELECT missed, runtime, chat_id, sent_at, received_at, body FROM missed_messages";
const LISTED = "body NOT NULL AND received_at > ?";
const CLEARED = "SET body = NULL, told_at = coalesce(told_at, 0)";
const OVERFLOW = `missed IN
  (SELECT missed FROM missed_messages INDEXED BY missed_of_runtime WHERE runtime = ?1
   ORDER BY missed DESC LIMIT ${SWEPT_AT_ONCE} OFFSET ${MAX_MISSED})`;

/** {@linkcode MissedMessages} over the table `missed_messages`. */
export class MissedMessageRows extends Queries implements MissedMessages {
  readonly #selectName = this.query(
    "SELECT 1 FROM missed_messages WHERE name = ? AND name NOT NULL",
  );
  readonly #insert = this.query(`INSERT OR IGNORE INTO missed_messages
    (runtime, chat_id, name, sent_at, received_at, body) VALUES (?, ?, ?, ?, ?, ?)`);
  readonly #selectAll = this.query(
    `${SELECT} WHERE missed > ? AND ${LISTED} ORDER BY missed LIMIT ?`,
    toMissedRow,
  );
  readonly #selectOf = this.query(
    `${SELECT} INDEXED BY missed_of_runtime
     WHERE runtime = ? AND missed > ? AND ${LISTED} ORDER BY missed LIMIT ?`,
    toMissedRow,
  );
  readonly #selectOne = this.query(`${SELECT} WHERE missed = ? AND ${LISTED}`, toMissedRow);
  readonly #count = this.query<[number]>(`SELECT count(*) FROM missed_messages
    INDEXED BY missed_of_runtime WHERE runtime = ? AND ${LISTED}`);
  readonly #countAll = this.query<[number]>(
    `SELECT count(*) FROM missed_messages WHERE ${LISTED}`,
  );
  readonly #clearOne = this.query(
    `UPDATE missed_messages ${CLEARED} WHERE missed = ? AND body NOT NULL`,
  );
  readonly #clearOf = this.query(`UPDATE missed_messages INDEXED BY missed_of_runtime ${CLEARED}
    WHERE runtime = ? AND body NOT NULL`);
  readonly #clearAll = this.query(`UPDATE missed_messages ${CLEARED} WHERE body NOT NULL`);
  readonly #selectUntold = this.query(
    `SELECT DISTINCT runtime, chat_id FROM missed_messages INDEXED BY missed_untold
     WHERE told_at IS NULL LIMIT ?`,
    ([runtimeName, chatId]: [string, string]) => ({ runtimeName, chatId }),
  );
  readonly #selectUntoldOf = this.query<[count: number, oldest: number, newest: number]>(
    `SELECT count(*), min(sent_at), max(missed) FROM missed_messages
     WHERE runtime = ? AND chat_id = ? AND told_at IS NULL`,
  );
  readonly #selectTold = this.query<[number | null]>(
    "SELECT max(told_at) FROM missed_messages WHERE runtime = ? AND chat_id = ?",
  );
  readonly #markTold = this.query(
    "UPDATE missed_messages SET told_at = ? WHERE runtime = ? AND chat_id = ? AND told_at IS NULL",
  );
  readonly #deleteOverflow = this.query(
    `DELETE FROM missed_messages WHERE ${OVERFLOW} AND told_at NOT NULL`,
  );
  // What one chat has too much of takes no word from another.
  readonly #unlistOverflow = this.query(
    `UPDATE missed_messages SET body = NULL WHERE ${OVERFLOW} AND body NOT NULL`,
  );
  readonly #deleteOld = this.query(`DELETE FROM missed_messages WHERE missed IN
    (SELECT missed FROM missed_messages WHERE received_at <= ?
     ORDER BY received_at LIMIT ${SWEPT_AT_ONCE})`);
  readonly #deleteToldOf = this.query(`DELETE FROM missed_messages INDEXED BY missed_of_chat
    WHERE runtime = ?1 AND chat_id = ?2 AND told_at NOT NULL AND missed <=
      (SELECT missed FROM missed_messages INDEXED BY missed_of_runtime WHERE runtime = ?1
       ORDER BY missed DESC LIMIT 1 OFFSET ${MAX_MISSED})`);
  readonly #writer: Writer;
  readonly #outbox: Outbox;
  readonly #now: () => number;

  constructor(db: DatabaseSync, writer: Writer, outbox: Outbox, now: () => number) {
    super(db);
    this.#writer = writer;
    this.#outbox = outbox;
    this.#now = () => Math.floor(now());
  }

  has(name: string): boolean {
    return this.#selectName.get(name) !== undefined;
  }

  async add(
    { runtimeName, chatId, sentAt, ...body }: MissedMessage,
    name?: string,
  ): Promise<boolean> {
    checkName("runtimeName", runtimeName);
    checkName("chatId", chatId);
    checkInteger("sentAt", sentAt, 0);
    const json = JSON.stringify(body satisfies Body);
    if (json.length > MAX_BODY_CHARS) {
      const most = `${MAX_BODY_CHARS} are the most`;
      throw invalid("content", `Cannot list a message of ${json.length} characters: ${most}`);
    }
    return await this.#writer.write("full", () => {
      const added =
        this.#insert.run(runtimeName, chatId, name ?? null, sentAt, this.#now(), json) > 0;
      if (added) {
        this.#deleteOverflow.run(runtimeName);
        this.#unlistOverflow.run(runtimeName);
      }
      this.sweep();
      return added;
    }, json.length);
  }

  list(runtimeName: string | undefined, afterRowid: number, limit: number): MissedRow[] {
    checkInteger("afterRowid", afterRowid, 0);
    checkInteger("limit", limit, 1);
    return runtimeName === undefined
      ? this.#selectAll.all(afterRowid, this.#oldest(), limit)
      : this.#selectOf.all(runtimeName, afterRowid, this.#oldest(), limit);
  }

  find(rowid: number): MissedRow | undefined {
    return this.#selectOne.get(rowid, this.#oldest());
  }

  count(runtimeName: string | undefined): number {
    return runtimeName === undefined
      ? this.#countAll.get(this.#oldest())![0]
      : this.#count.get(runtimeName, this.#oldest())![0];
  }

  remove(rowid: number): Promise<boolean> {
    return this.#writer.write("full", () => this.#clearOne.run(rowid) > 0);
  }

  clear(runtimeName?: string): Promise<number> {
    return this.#writer.write(
      "full",
      () => runtimeName === undefined ? this.#clearAll.run() : this.#clearOf.run(runtimeName),
    );
  }

  untoldChats(limit: number): { runtimeName: string; chatId: string }[] {
    return this.#selectUntold.all(limit);
  }

  tell(
    { runtimeName, chatId, quietMs }: { runtimeName: string; chatId: string; quietMs: number },
    words: (untold: UntoldMessages) => Pick<OutboxMessage, "id" | "content">,
  ): Promise<boolean> {
    return this.#writer.write("full", () => {
      const [count, oldestSentAt, newest] = this.#selectUntoldOf.get(runtimeName, chatId)!;
      if (count === 0) return false;
      const now = this.#now();
      const told = this.#selectTold.get(runtimeName, chatId)![0];
      // A clock that was set back is no reason to be silent.
      const isQuiet = told !== null && told <= now && told > now - quietMs;
      if (!isQuiet) {
        const metadata = this.#selectOne.get(newest, -1)?.metadata;
        const { id, content } = words({ count, oldestSentAt, metadata });
        const added = this.#outbox.enqueue({ id, channel: runtimeName, chatId, content, metadata });
        if (added instanceof Refused) return added;
      }
      // Silence is no word: it does not make the next silence longer.
      this.#markTold.run(isQuiet ? 0 : now, runtimeName, chatId);
      this.#deleteToldOf.run(runtimeName, chatId);
      return !isQuiet;
    });
  }

  sweep(): void {
    this.#deleteOld.run(this.#oldest());
  }

  #oldest(): number {
    return this.#now() - KEPT_MS;
  }
}

function toMissedRow([rowid, runtimeName, chatId, sentAt, receivedAt, body]: Row): MissedRow {
  return { rowid, runtimeName, chatId, sentAt, receivedAt, ...JSON.parse(body) as Body };
}

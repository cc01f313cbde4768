import type { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "../base/sha256.ts";
import { query } from "./query.ts";

/** Deleted keys that are remembered. With one more, all chats get a new epoch instead. */
const MAX_DELETED_KEYS = 10_000;

/** Whether numbers of a session that somebody has seen before still count. */
export interface Epochs {
  /** See `Journal.epoch`. */
  of(key: string): string;
  /** The session of a key is deleted: the next one begins anew. Called inside a batch of the writer. */
  deleted(key: string, sessionId: number): void;
  /** The file is closed in order, everything in it is committed. */
  close(): void;
}

/** {@linkcode Epochs} over the tables `openings` and `deleted_keys`; made once for each open. */
export function createEpochs(
  db: DatabaseSync,
  { isUntouched = true, maxDeletedKeys = MAX_DELETED_KEYS }: {
    isUntouched?: boolean;
    maxDeletedKeys?: number;
  } = {},
): Epochs {
  // What a crash, or a backup that was put back, took along may be said again under the same numbers.
  // Random and not a count, so that each such file has another one.
  const fresh = "lower(hex(randomblob(6)))";
  query(
    db,
    `UPDATE openings SET closed = 0, epoch = CASE WHEN closed = 1 AND ? THEN epoch ELSE ${fresh} END
     WHERE one = 1`,
  ).run(isUntouched ? 1 : 0);
  const renew = query(db, `UPDATE openings SET epoch = ${fresh} WHERE one = 1`);
  const markClosed = query(db, "UPDATE openings SET closed = 1 WHERE one = 1");
  const select = query<[string]>(
    db,
    `SELECT epoch || '.' || coalesce((SELECT generation FROM deleted_keys WHERE key_hash = ?), 0)
     FROM openings WHERE one = 1`,
  );
  const insert = query(
    db,
    "INSERT OR REPLACE INTO deleted_keys (key_hash, generation) VALUES (?, ?)",
  );
  const note = query(db, "UPDATE openings SET last_deleted = max(last_deleted, ?) WHERE one = 1");
  const count = query<[number]>(db, "SELECT count(*) FROM deleted_keys");
  const forgetAll = query(db, "DELETE FROM deleted_keys");

  return {
    of: (key) => select.get(hashOf(key))![0],
    deleted(key, sessionId) {
      // Ids of sessions rise and are not used again, so each deletion gives another generation.
      insert.run(hashOf(key), sessionId);
      note.run(sessionId);
      if (count.get()![0] <= maxDeletedKeys) return;
      forgetAll.run();
      renew.run();
    },
    close() {
      db.exec("PRAGMA synchronous = FULL");
      markClosed.run();
    },
  };
}

/** Of a deleted session nothing stays in the file, its key neither. */
function hashOf(key: string): string {
  return sha256Hex(key).slice(0, 16);
}

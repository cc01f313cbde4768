import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { query } from "./query.ts";
import type { RequestKey } from "../contract/journal.ts";

/** How long a key is kept. */
const KEPT_MS = 8 * 24 * 60 * 60 * 1_000;

/** Expired keys that one accept removes: more than it adds, so they do not pile up. */
const PURGED_AT_ONCE = 8;

/** Keys of requests as rows. What changes them is called inside a batch of the writer. */
export interface RequestKeys {
  /** Who has the key, unless that has expired or its session is gone. */
  find(key: RequestKey): { turnId: string; digest: string } | undefined;
  /** Gives the key to a turn; `find` has said that it is free. */
  insert(turn: number, key: RequestKey): void;
  /** Frees the key of a turn that did nothing, if it has one that does not outlive that. */
  free(turn: number): void;
  /** The key of a turn, by its id; undefined when it has none. */
  of(turnId: string): string | undefined;
  /** Removes some of those that have expired. */
  purge(): void;
}

/** {@linkcode RequestKeys} over the table `request_keys`. */
export function createRequestKeys(db: DatabaseSync, now: () => number): RequestKeys {
  const select = query<[turnId: string, digest: string]>(
    db,
    `SELECT t.id, k.digest FROM request_keys AS k CROSS JOIN turns AS t ON t.turn = k.turn
     CROSS JOIN sessions AS s ON s.id = t.session_id
     WHERE k.scope = ? AND k.key = ? AND k.created_at > ? AND s.key NOT NULL`,
  );
  // Takes the place of one that has expired, or whose session is being deleted.
  const replace = query(
    db,
    `INSERT OR REPLACE INTO request_keys (turn, scope, key, digest, created_at, outlives_cancel)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const selectOf = query<[string]>(
    db,
    `SELECT k.key FROM turns AS t CROSS JOIN request_keys AS k ON k.turn = t.turn WHERE t.id = ?`,
  );
  const deleteOf = query(db, "DELETE FROM request_keys WHERE turn = ? AND outlives_cancel = 0");
  const deleteExpired = query(
    db,
    `DELETE FROM request_keys WHERE turn IN
       (SELECT turn FROM request_keys ORDER BY turn LIMIT ${PURGED_AT_ONCE})
     AND created_at <= ?`,
  );
  const expired = () => Math.floor(now()) - KEPT_MS;

  return {
    find({ scope, key }) {
      const row = select.get(scope, key, expired());
      return row && { turnId: row[0], digest: row[1] };
    },
    insert(turn, { scope, key, digest, outlivesCancel = false }) {
      replace.run(turn, scope, key, digest, Math.floor(now()), outlivesCancel ? 1 : 0);
    },
    of: (turnId) => selectOf.get(turnId)?.[0],
    free(turn) {
      deleteOf.run(turn);
    },
    purge() {
      deleteExpired.run(expired());
    },
  };
}

/** The error for a key that another request has used. The key itself is the caller's to know. */
export function keyConflict(): ServiceError {
  return new ServiceError(
    "idempotency_conflict",
    "Cannot use this Idempotency-Key: it was used with another request, a new one needs another key",
    { param: "Idempotency-Key" },
  );
}

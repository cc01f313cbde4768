import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { Queries } from "./query.ts";
import type { RequestKey } from "../contract/journal.ts";

/** How long a key is kept. */
export const KEPT_MS = 8 * 24 * 60 * 60 * 1_000;

/** Expired keys that the accept of another removes: more than it adds, so they do not pile up. */
const PURGED_AT_ONCE = 8;

/** Keys of requests as rows of `request_keys`. What changes them is called inside a batch of the writer. */
export class RequestKeys extends Queries {
  readonly #select = this.query(
    `SELECT t.id, k.digest FROM request_keys AS k CROSS JOIN turns AS t ON t.turn = k.turn
     CROSS JOIN sessions AS s ON s.id = t.session_id
     WHERE k.scope = ? AND k.key = ? AND k.created_at > ? AND s.key NOT NULL`,
    ([turnId, digest]: [string, string]) => ({ turnId, digest }),
  );
  // Takes the place of one that has expired, or whose session is being deleted.
  readonly #replace = this.query(`INSERT OR REPLACE INTO request_keys
    (turn, scope, key, digest, created_at, outlives_cancel) VALUES (?, ?, ?, ?, ?, ?)`);
  readonly #selectOf = this.query<[string]>(
    "SELECT k.key FROM turns AS t CROSS JOIN request_keys AS k ON k.turn = t.turn WHERE t.id = ?",
  );
  readonly #deleteOf = this.query(
    "DELETE FROM request_keys WHERE turn = ? AND outlives_cancel = 0",
  );
  readonly #deleteExpired = this.query(`DELETE FROM request_keys WHERE turn IN
    (SELECT turn FROM request_keys ORDER BY turn LIMIT ${PURGED_AT_ONCE}) AND created_at <= ?`);
  readonly #now: () => number;

  constructor(db: DatabaseSync, now: () => number) {
    super(db);
    this.#now = () => Math.floor(now());
  }

  /** Who has the key, unless that has expired or its session is gone. */
  find({ scope, key }: RequestKey): { turnId: string; digest: string } | undefined {
    return this.#select.get(scope, key, this.#now() - KEPT_MS);
  }

  /** Gives the key to a turn; `find` has said that it is free. */
  insert(turn: number, { scope, key, digest, outlivesCancel = false }: RequestKey): void {
    this.#replace.run(turn, scope, key, digest, this.#now(), outlivesCancel ? 1 : 0);
  }

  /** Frees the key of a turn that did nothing, if it has one that does not outlive that. */
  free(turn: number): void {
    this.#deleteOf.run(turn);
  }

  /** The key of a turn, by its id; undefined when it has none. */
  of(turnId: string): string | undefined {
    return this.#selectOf.get(turnId)?.[0];
  }

  /** Removes some of those that have expired. */
  purge(): void {
    this.#deleteExpired.run(this.#now() - KEPT_MS);
  }
}

/** The error for a key that another request has used. The key itself is the caller's to know. */
export function keyConflict(): ServiceError {
  return new ServiceError(
    "idempotency_conflict",
    "Cannot use this Idempotency-Key: it was used with another request, a new one needs another key",
    { param: "Idempotency-Key" },
  );
}

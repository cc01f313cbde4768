import type { DatabaseSync } from "node:sqlite";
import { query } from "./query.ts";
import type { ResponseEntry } from "../contract/journal.ts";

/** Entries of the index. */
const CAPACITY = 4_096;

/** The index of responses as rows. What changes it is called inside a batch of the writer. */
export interface ResponseIndex {
  /** Adds a turn as the newest; the least recently used goes when there are too many. */
  insert(turn: number, credential: string, request: string): void;
  /** `newest`: it is the most recently used. Undefined also for another credential. */
  find(
    turnId: string,
    credential: string,
  ): { turn: number; newest: boolean; entry: ResponseEntry } | undefined;
  /** Makes an entry the most recently used, if it is still there. */
  touch(turn: number): void;
  /** Whether there was one. */
  remove(turnId: string, credential: string): boolean;
  /** Others removed turns, or a batch was undone: what is kept in memory has to be read again. */
  forget(): void;
}

/** A {@linkcode ResponseIndex} over the table `responses`. */
export function createResponseIndex(db: DatabaseSync, capacity = CAPACITY): ResponseIndex {
  const countAll = query<[number]>(db, "SELECT count(*) FROM responses");
  const insert = query(
    db,
    `INSERT INTO responses (turn, credential, request, used)
     VALUES (?, ?, ?, coalesce((SELECT max(used) FROM responses), 0) + 1)`,
  );
  const evict = query(
    db,
    "DELETE FROM responses WHERE turn = (SELECT turn FROM responses ORDER BY used LIMIT 1)",
  );
  const select = query<[number, number, string, string]>(
    db,
    `SELECT r.turn, r.used = (SELECT max(used) FROM responses), s.key, r.request
     FROM turns AS t CROSS JOIN responses AS r ON r.turn = t.turn
     CROSS JOIN sessions AS s ON s.id = t.session_id
     WHERE t.id = ? AND r.credential = ? AND s.key NOT NULL`,
  );
  const update = query(
    db,
    `UPDATE responses SET used = (SELECT max(used) FROM responses) + 1
     WHERE turn = ? AND used < (SELECT max(used) FROM responses)`,
  );
  const remove = query(
    db,
    `DELETE FROM responses WHERE turn =
       (SELECT t.turn FROM turns AS t CROSS JOIN sessions AS s ON s.id = t.session_id
        WHERE t.id = ? AND s.key NOT NULL)
     AND credential = ?`,
  );
  /** Entries; undefined until they are counted, which takes a look at each. */
  let count: number | undefined;

  return {
    insert(turn, credential, request) {
      count ??= countAll.get()![0];
      insert.run(turn, credential, request);
      for (count++; count > capacity; count--) evict.run();
    },
    find(turnId, credential) {
      const row = select.get(turnId, credential);
      if (row === undefined) return undefined;
      const [turn, newest, sessionKey, request] = row;
      return {
        turn,
        newest: newest === 1,
        entry: { turnId, sessionKey, credential, request: JSON.parse(request) },
      };
    },
    touch(turn) {
      update.run(turn);
    },
    remove(turnId, credential) {
      const removed = remove.run(turnId, credential) > 0;
      if (removed && count !== undefined) count--;
      return removed;
    },
    forget() {
      count = undefined;
    },
  };
}

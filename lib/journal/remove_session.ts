import type { DatabaseSync } from "node:sqlite";
import { query } from "./query.ts";
import type { JournalParts } from "./turn_writes.ts";
import type { Writer } from "./writer.ts";

/** Rows that one write removes, so that others need not wait long. */
const ROWS_A_WRITE = 1_000;

/** Pages of 4 KiB that one write gives back to the file system. */
const PAGES_A_WRITE = 500;

/** What {@linkcode createSessionRemoval} needs. */
export interface SessionRemovalDependencies {
  db: DatabaseSync;
  writer: Writer;
  parts: Pick<JournalParts, "events" | "files" | "responses" | "search">;
  /** Ends those who read the session. */
  endFollowers: (sessionId: number) => void;
  /** Told of the files that nobody refers to now. */
  onFilesFree: (sha256s: string[]) => void;
}

/** Removes the rows of a session whose key is gone, in steps that hold nobody up. */
export interface SessionRemoval {
  remove(id: number): Promise<void>;
  /** Gives what is free to the file system; after that the files hold nothing of what was removed. */
  giveBackSpace(): Promise<void>;
}

/** {@linkcode SessionRemoval} over the tables. */
export function createSessionRemoval(
  { db, writer, parts, endFollowers, onFilesFree }: SessionRemovalDependencies,
): SessionRemoval {
  const removals = [
    `DELETE FROM events WHERE session_id = ?1 AND seq <= coalesce(
       (SELECT seq FROM events WHERE session_id = ?1 ORDER BY seq LIMIT 1 OFFSET ${ROWS_A_WRITE}),
       ${Number.MAX_SAFE_INTEGER})`,
    "DELETE FROM context_starts WHERE session_id = ?",
    "DELETE FROM said_waiting WHERE session_id = ?",
    `DELETE FROM messages WHERE session_id = ?1 AND id <= coalesce(
       (SELECT id FROM messages WHERE session_id = ?1 ORDER BY id LIMIT 1 OFFSET ${ROWS_A_WRITE}),
       ${Number.MAX_SAFE_INTEGER})`,
    `DELETE FROM inputs WHERE turn IN
       (SELECT t.turn FROM turns AS t JOIN inputs USING (turn)
        WHERE t.session_id = ? LIMIT ${ROWS_A_WRITE})`,
    `DELETE FROM turns WHERE turn IN
       (SELECT turn FROM turns WHERE session_id = ? LIMIT ${ROWS_A_WRITE})`,
    "DELETE FROM sessions WHERE id = ?",
  ].map((sql) => query(db, sql));
  const freePages = query<[number]>(db, "PRAGMA freelist_count");

  async function remove(id: number): Promise<void> {
    await writer.write("normal", () => parts.events.drop(id));
    await removeFiles(id);
    while (await writer.write("normal", () => parts.search().remove(id)) > 0);
    for (const removal of removals) {
      while (
        await writer.write("normal", () => {
          // Entries of the index go with their turns.
          parts.responses.forget();
          return removal.run(id);
        }) > 0
      );
    }
    // Those that came to wait while rows were going.
    endFollowers(id);
  }

  async function removeFiles(id: number): Promise<void> {
    for (;;) {
      const { taken, free } = await writer.write(
        "normal",
        () => parts.files.take(id, ROWS_A_WRITE),
      );
      if (taken === 0) return;
      if (free.length > 0) onFilesFree(free);
    }
  }

  async function giveBackSpace(): Promise<void> {
    await parts.search().purge();
    for (let free = Infinity;;) {
      const left = await writer.write("normal", () => {
        db.exec(`PRAGMA incremental_vacuum(${PAGES_A_WRITE})`);
        return freePages.get()![0];
      });
      if (left === 0 || left >= free) break;
      free = left;
    }
    // Until then the write-ahead log holds what was deleted.
    if (db.isOpen) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  return { remove, giveBackSpace };
}

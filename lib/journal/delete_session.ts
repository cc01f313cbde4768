import type { DatabaseSync } from "node:sqlite";
import type { Removable } from "../contract/retention.ts";
import { invalid } from "./checks.ts";
import type { Epochs } from "./epochs.ts";
import { query } from "./query.ts";
import type { RemovableSessions } from "./removable_sessions.ts";
import type { JournalParts } from "./turn_writes.ts";
import { Refused, type Writer } from "./writer.ts";

/** Rows that one write removes, so that others need not wait long. */
const ROWS_A_WRITE = 1_000;

/** Pages of 4 KiB that one write gives back to the file system. */
const PAGES_A_WRITE = 500;

/** What deletes sessions. */
export interface SessionDeletion {
  /** See `Journal.deleteSession`. */
  delete(key: string): Promise<boolean>;
  /** Deletes those that nothing needs and that are as they were listed; which ones. */
  deleteUnneeded(sessions: readonly Removable[]): Promise<Removable[]>;
  /** Goes on with what a crash cut off. */
  finish(): Promise<void>;
}

/** What {@linkcode createSessionDeletion} needs. */
export interface SessionDeletionDependencies {
  db: DatabaseSync;
  writer: Writer;
  parts: Pick<JournalParts, "sessions" | "turns" | "events" | "files" | "responses">;
  epochs: Pick<Epochs, "deleted">;
  removable: Pick<RemovableSessions, "find" | "needs">;
  /** Ends those who read the session. */
  endFollowers: (sessionId: number) => void;
  /** Told of the files that nobody refers to now. */
  onFilesFree: (sha256s: string[]) => void;
}

/**
 * Deletes sessions in steps: first the key goes, which hides the session, frees the key and ends its
 * references to files, then its rows, some at a time, then the space that they took; after that the
 * files hold nothing of it. A crash in between is made up for by `finish`.
 */
export function createSessionDeletion(
  { db, writer, parts, epochs, removable, endFollowers, onFilesFree }: SessionDeletionDependencies,
): SessionDeletion {
  const hide = query(db, "UPDATE sessions SET key = NULL WHERE id = ?");
  const selectHidden = query<[number]>(db, "SELECT id FROM sessions WHERE key IS NULL");
  const removals = [
    `DELETE FROM events WHERE session_id = ?1 AND seq <= coalesce(
       (SELECT seq FROM events WHERE session_id = ?1 ORDER BY seq LIMIT 1 OFFSET ${ROWS_A_WRITE}),
       ${Number.MAX_SAFE_INTEGER})`,
    "DELETE FROM context WHERE session_id = ?",
    "DELETE FROM context_starts WHERE session_id = ?",
    "DELETE FROM said_waiting WHERE session_id = ?",
    `DELETE FROM messages WHERE id IN
       (SELECT id FROM messages WHERE session_id = ? LIMIT ${ROWS_A_WRITE})`,
    `DELETE FROM inputs WHERE turn IN
       (SELECT t.turn FROM turns AS t JOIN inputs USING (turn)
        WHERE t.session_id = ? LIMIT ${ROWS_A_WRITE})`,
    `DELETE FROM turns WHERE turn IN
       (SELECT turn FROM turns WHERE session_id = ? LIMIT ${ROWS_A_WRITE})`,
    "DELETE FROM sessions WHERE id = ?",
  ].map((sql) => query(db, sql));
  const freePages = query<[number]>(db, "PRAGMA freelist_count");

  /** Its key is free from then on; inside a batch of the writer. */
  function hideNow(id: number, key: string): void {
    hide.run(id);
    epochs.deleted(key, id);
  }

  async function remove(id: number): Promise<void> {
    await writer.write("normal", () => parts.events.drop(id));
    await removeFiles(id);
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

  return {
    async delete(key) {
      const id = await writer.write("full", () => {
        const session = parts.sessions.find(key);
        if (session === undefined) return undefined;
        if (parts.turns.hasOpen(session.id)) {
          return new Refused(
            invalid("key", `Cannot delete session ${JSON.stringify(key)}: a turn is open in it`),
          );
        }
        hideNow(session.id, key);
        return session.id;
      });
      if (id === undefined) return false;
      endFollowers(id);
      await remove(id);
      await giveBackSpace();
      return true;
    },
    async deleteUnneeded(sessions) {
      const hidden = await writer.write("full", () => {
        const isNeeded = removable.needs();
        const gone: [id: number, session: Removable][] = [];
        for (const session of sessions) {
          const id = removable.find(session, isNeeded);
          if (id === undefined) continue;
          hideNow(id, session.name);
          gone.push([id, session]);
        }
        return gone;
      });
      for (const [id] of hidden) {
        endFollowers(id);
        await remove(id);
      }
      await giveBackSpace();
      return hidden.map(([, session]) => session);
    },
    async finish() {
      const hidden = selectHidden.all();
      for (const [id] of hidden) await remove(id);
      if (hidden.length > 0) await giveBackSpace();
    },
  };
}

import type { Removable } from "../contract/retention.ts";
import { invalid } from "./checks.ts";
import type { Epochs } from "./epochs.ts";
import { query } from "./query.ts";
import type { RemovableSessions } from "./removable_sessions.ts";
import { createSessionRemoval, type SessionRemovalDependencies } from "./remove_session.ts";
import type { JournalParts } from "./turn_writes.ts";
import { Refused } from "./writer.ts";

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
export interface SessionDeletionDependencies extends SessionRemovalDependencies {
  parts: SessionRemovalDependencies["parts"] & Pick<JournalParts, "sessions" | "turns">;
  epochs: Pick<Epochs, "deleted">;
  removable: Pick<RemovableSessions, "find" | "needs">;
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
  const selectStale = query(db, "SELECT 1 FROM search_state WHERE one = 1 AND stale = 1");
  const { remove, giveBackSpace } = createSessionRemoval({
    db,
    writer,
    parts,
    endFollowers,
    onFilesFree,
  });
  /** Its key is free from then on; inside a batch of the writer. */
  function hideNow(id: number, key: string): void {
    hide.run(id);
    epochs.deleted(key, id);
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
      if (hidden.length > 0 || selectStale.get() !== undefined) await giveBackSpace();
    },
  };
}

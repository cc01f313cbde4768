import type { Migration } from "../../base/migrate.ts";
import { OWNER_COLUMN } from "./0004_chats.ts";

/**
 * The same in fewer pages: what a turn writes is mostly how many different pages it touches.
 *
 * Messages stand in the order of their session, so they need no index. A context is derived: the latest
 * summary, and the messages since its start that are neither summaries nor of a forgotten turn. Messages of
 * people are counted in the rows. Sessions are listed by time alone, along an index that tells their owner.
 * An id of a session is free again only when it was never seen: `openings` knows the highest deleted one.
 */
export const fewerPages: Migration = {
  version: 11,
  name: "fewer pages",
  sql: `
    CREATE TABLE new_messages (
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      -- Rises in its session.
      id INTEGER NOT NULL,
      -- 0 for one that no turn said.
      turn INTEGER NOT NULL,
      -- The session's last seq when it was written: text after it is in no message yet.
      seq INTEGER NOT NULL,
      tokens INTEGER NOT NULL,
      -- Messages of people in the session before it.
      users INTEGER NOT NULL,
      -- 1: it sums up what was before.
      summary INTEGER NOT NULL,
      -- JSON; NULL for the user message of the turn, whose parts stand in inputs.
      body TEXT,
      PRIMARY KEY (session_id, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO new_messages (session_id, id, turn, seq, tokens, users, summary, body)
      SELECT session_id, id, turn, seq, tokens,
        count(*) FILTER (WHERE body IS NULL) OVER (
          PARTITION BY session_id ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        coalesce(instr(body, '"summary"') > 0 AND body ->> '$.role' = 'summary', 0), body
      FROM messages ORDER BY session_id, id;
    DROP TABLE messages;
    ALTER TABLE new_messages RENAME TO messages;
    DROP TABLE context;
    -- There is nothing between the two, and a summary is in the context that it begins.
    UPDATE context_starts SET first = summary WHERE first > summary;

    ALTER TABLE openings ADD COLUMN last_deleted INTEGER NOT NULL DEFAULT 0;
    UPDATE openings SET last_deleted = coalesce(
      (SELECT seq FROM sqlite_sequence WHERE name = 'sessions'), 0);

    CREATE TABLE new_sessions (
      id INTEGER PRIMARY KEY,
      -- NULL while the session is being deleted.
      key TEXT UNIQUE,
      title TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      turns INTEGER NOT NULL,
      -- NULL for the configured model.
      model_preset TEXT,
      folder TEXT,
      pinned INTEGER NOT NULL DEFAULT 0,
      ${OWNER_COLUMN}
    ) STRICT;
    INSERT INTO new_sessions (id, key, title, created_at, updated_at, turns, model_preset, folder,
        pinned)
      SELECT id, key, title, created_at, updated_at, turns, model_preset, folder, pinned
      FROM sessions;
    DROP TABLE sessions;
    ALTER TABLE new_sessions RENAME TO sessions;
    CREATE INDEX sessions_by_update ON sessions (updated_at, owner);
  `,
};

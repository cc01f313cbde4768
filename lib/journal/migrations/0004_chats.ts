import type { Migration } from "../../base/migrate.ts";

const HEX_32 = "[0-9a-f]".repeat(32);

/** Whose a session is, by its key. */
export const OWNER_COLUMN = `owner TEXT NOT NULL GENERATED ALWAYS AS (
      CASE WHEN key GLOB 'websocket:${HEX_32}.*' THEN substr(key, 11, 32) ELSE '' END
    ) VIRTUAL`;

/**
 * What chats need: whether numbers seen before still count, whose a session is, messages that no turn
 * of the session said, and keys that a cancellation does not free.
 *
 * The owner is part of the key (`lib/contract/chat_session.ts`), so it is computed from it and stored in
 * the index alone; the list of one person's sessions is a walk along that index.
 */
export const chats: Migration = {
  version: 4,
  name: "chats",
  sql: `
    CREATE TABLE openings (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      -- Another one after an open that found the file not closed.
      epoch TEXT NOT NULL,
      closed INTEGER NOT NULL
    ) STRICT;
    INSERT INTO openings (one, epoch, closed) VALUES (1, lower(hex(randomblob(6))), 1);

    -- Keys whose session was deleted; by a hash, since of the session nothing is to stay.
    CREATE TABLE deleted_keys (
      key_hash TEXT PRIMARY KEY,
      -- Id of the session that was deleted last.
      generation INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    ALTER TABLE sessions ADD COLUMN ${OWNER_COLUMN};
    CREATE INDEX sessions_of_owner ON sessions (owner, updated_at);

    -- Messages from elsewhere that enter the context when the turn that runs has ended.
    CREATE TABLE said_waiting (
      said INTEGER PRIMARY KEY,
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX said_waiting_of_session ON said_waiting (session_id, said);

    -- 1: stays also when the turn is cancelled before a tool ran.
    ALTER TABLE request_keys ADD COLUMN outlives_cancel INTEGER NOT NULL DEFAULT 0;
  `,
};

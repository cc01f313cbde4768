import type { Migration } from "../../base/migrate.ts";

/**
 * What is written together with a turn's row for those who ask over HTTP, and the outbox.
 *
 * Keys and entries go with their turn, by the cascade, so that the steps in which a session is
 * deleted need to know nothing of them; each has the turn as its own key, so the cascade seeks. The
 * outbox refers to nothing: a message in it is accepted work, and outlives the session that sent it.
 *
 * Inputs changed in what their JSON holds only: images and documents refer to a file by its hash. An
 * image of the first version keeps its base64 in `data`, and is read like that for ever.
 */
export const requestsAndFiles: Migration = {
  version: 2,
  name: "requests and files",
  sql: `
    -- Turns rise in the order of acceptance, so the lowest are the first to expire.
    CREATE TABLE request_keys (
      turn INTEGER PRIMARY KEY REFERENCES turns (turn) ON DELETE CASCADE,
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      digest TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      UNIQUE (scope, key)
    ) STRICT;

    CREATE TABLE responses (
      turn INTEGER PRIMARY KEY REFERENCES turns (turn) ON DELETE CASCADE,
      credential TEXT NOT NULL,
      -- JSON.
      request TEXT NOT NULL,
      -- Higher than that of every entry that was used earlier.
      used INTEGER NOT NULL UNIQUE
    ) STRICT;

    CREATE TABLE session_files (
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      sha256 TEXT NOT NULL,
      PRIMARY KEY (session_id, sha256)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_of_file ON session_files (sha256);

    CREATE TABLE outbox (
      -- AUTOINCREMENT: a reader's place must not be taken by a later message.
      message INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      turn_id TEXT NOT NULL,
      channel TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      -- JSON string.
      content TEXT NOT NULL,
      state TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX outbox_by_expiry ON outbox (state, expires_at);
    CREATE INDEX outbox_waiting ON outbox (channel, expires_at) WHERE state = 'pending';
  `,
};

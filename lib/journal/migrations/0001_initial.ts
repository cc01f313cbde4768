import type { Migration } from "../../base/migrate.ts";

/**
 * The first shape of the journal.
 *
 * What is written at every step is never rewritten later: messages and inputs are immutable, and the
 * model's context is a small table of its own that names the messages in it. So compaction and
 * forgetting move small rows only, and a context is read without passing the history.
 *
 * Foreign keys lead to sessions and from inputs to turns, where an index serves the deletion; a
 * `turn` column elsewhere has none, because each deleted turn would then be looked for in every row.
 */
export const initial: Migration = {
  version: 1,
  name: "initial",
  sql: `
    PRAGMA application_id = 0x73727663;

    CREATE TABLE sessions (
      -- AUTOINCREMENT: an id is not used again, a reader may still hold that of a deleted session.
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      -- NULL while the session is being deleted.
      key TEXT UNIQUE,
      title TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      turns INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_update ON sessions (updated_at);

    CREATE TABLE turns (
      turn INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      channel TEXT NOT NULL,
      actor TEXT NOT NULL,
      durable INTEGER NOT NULL,
      status TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      -- Its events come after this seq of the session.
      after_seq INTEGER NOT NULL,
      -- Id of its user message, NULL until it has been started or ended.
      first_message INTEGER,
      accepted_at INTEGER NOT NULL,
      started_at INTEGER,
      ended_at INTEGER,
      usage TEXT,
      error TEXT
    ) STRICT;
    CREATE INDEX turns_of_session ON turns (session_id, turn);
    CREATE INDEX open_turns ON turns (session_id) WHERE ended_at IS NULL;

    -- What opened a turn; apart from the turn's row, which is rewritten as it goes on.
    CREATE TABLE inputs (
      turn INTEGER PRIMARY KEY REFERENCES turns (turn),
      tokens INTEGER NOT NULL,
      parts TEXT NOT NULL
    ) STRICT;

    CREATE TABLE messages (
      id INTEGER PRIMARY KEY,
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      turn INTEGER NOT NULL,
      -- The session's last seq when it was written: text after it is in no message yet.
      seq INTEGER NOT NULL,
      tokens INTEGER NOT NULL,
      -- JSON; NULL for the user message of the turn, whose parts stand in inputs.
      body TEXT
    ) STRICT;
    CREATE INDEX messages_of_session ON messages (session_id, id);

    CREATE TABLE context (
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      -- The message's id; 0 for the summary, which stands in front.
      place INTEGER NOT NULL,
      message INTEGER NOT NULL,
      turn INTEGER NOT NULL,
      PRIMARY KEY (session_id, place)
    ) STRICT, WITHOUT ROWID;

    -- A row is one event, or deltas of one stream with consecutive numbers.
    CREATE TABLE events (
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      -- Its last number; the first is seq_from.
      seq INTEGER NOT NULL,
      seq_from INTEGER NOT NULL,
      turn INTEGER NOT NULL,
      type TEXT NOT NULL,
      -- JSON of the stream's id, for deltas only.
      stream TEXT,
      -- The event as JSON; for deltas their texts as JSON strings with commas between.
      body TEXT NOT NULL,
      PRIMARY KEY (session_id, seq)
    ) STRICT, WITHOUT ROWID;

    -- Deltas that are committed and in no row of events yet: a row for each batch.
    CREATE TABLE delta_log (
      id INTEGER PRIMARY KEY,
      body TEXT NOT NULL
    ) STRICT;
  `,
};

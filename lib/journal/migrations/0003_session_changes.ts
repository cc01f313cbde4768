import type { Migration } from "../../base/migrate.ts";

/**
 * What people change of a session: its model, where its context begins, and where another session
 * branches off.
 *
 * A context is rebuilt for a fork as it was at an earlier message, so what shaped it is kept: where it
 * began anew, and which turns were forgotten. For older rows that is filled in as far as they tell: the
 * latest summary, and turns that went wrong and are in no context.
 */
export const sessionChanges: Migration = {
  version: 3,
  name: "session changes",
  sql: `
    -- NULL for the configured model.
    ALTER TABLE sessions ADD COLUMN model_preset TEXT;

    -- 1: its messages have left the context.
    ALTER TABLE turns ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
    UPDATE turns SET forgotten = 1
    WHERE ended_at NOT NULL AND status <> 'done' AND NOT EXISTS (
      SELECT 1 FROM context AS c
      WHERE c.session_id = turns.session_id AND c.turn = turns.turn AND c.place > 0
    );

    -- A row for each time that a context began anew.
    CREATE TABLE context_starts (
      start INTEGER PRIMARY KEY,
      session_id INTEGER NOT NULL REFERENCES sessions (id),
      -- Lowest message that stayed; past the last one when none did.
      first INTEGER NOT NULL,
      -- The turn that compacted it and its summary; NULL where somebody asked for a new context.
      turn INTEGER,
      summary INTEGER
    ) STRICT;
    CREATE INDEX context_starts_of_session ON context_starts (session_id, start);
    INSERT INTO context_starts (session_id, first, turn, summary)
    SELECT c.session_id, coalesce(
        (SELECT min(k.place) FROM context AS k WHERE k.session_id = c.session_id AND k.place > 0),
        c.message + 1
      ), c.turn, c.message
    FROM context AS c WHERE c.place = 0;

    -- The messages of people, which forks count.
    CREATE INDEX user_messages ON messages (session_id, id) WHERE body IS NULL;
  `,
};

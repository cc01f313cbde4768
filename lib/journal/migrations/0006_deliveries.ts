import type { Migration } from "../../base/migrate.ts";

/** States of messages that wait, or are being sent; one lane has one of the second kind at most. */
const WAITS = "('pending', 'sending')";

/** One where the state is among these, else 0. */
const is = (row: "old" | "new", states: string) => `(${row}.state IN ${states})`;

/**
 * What deliveries to channels need: the rest of a message with its row, an index by chat, counts by
 * channel that cost nothing to read, and how far the answer of a turn has been handed over.
 *
 * A message keeps its place in the index of its chat while it is sent, so that trying one changes its
 * row alone.
 */
export const deliveries: Migration = {
  version: 6,
  name: "deliveries",
  sql: `
    -- JSON; NULL for none.
    ALTER TABLE outbox ADD COLUMN media TEXT;
    ALTER TABLE outbox ADD COLUMN metadata TEXT;
    ALTER TABLE outbox ADD COLUMN event TEXT;
    -- Written before each try.
    ALTER TABLE outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN error TEXT;
    -- 1: text of a stream, which may have arrived as a part of it and not by this id.
    ALTER TABLE outbox ADD COLUMN piece INTEGER NOT NULL DEFAULT 0;

    DROP INDEX outbox_by_expiry;
    DROP INDEX outbox_waiting;
    CREATE INDEX outbox_lanes ON outbox (channel, chat_id, message) WHERE state IN ${WAITS};
    CREATE INDEX outbox_expiring ON outbox (expires_at) WHERE state IN ${WAITS};
    CREATE INDEX outbox_settled ON outbox (expires_at) WHERE state IN ('sent', 'expired');
    CREATE INDEX outbox_undecided ON outbox (expires_at) WHERE state IN ('unknown', 'dead');
    CREATE INDEX outbox_unknown ON outbox (channel, message) WHERE state = 'unknown';

    CREATE TABLE outbox_counts (
      channel TEXT PRIMARY KEY,
      waiting INTEGER NOT NULL,
      unknown INTEGER NOT NULL,
      dead INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO outbox_counts
      SELECT channel, sum(state IN ${WAITS}), sum(state = 'unknown'), sum(state = 'dead')
      FROM outbox GROUP BY channel;
    CREATE TRIGGER outbox_added AFTER INSERT ON outbox
    WHEN new.state IN ('pending', 'sending', 'unknown', 'dead') BEGIN
      INSERT INTO outbox_counts (channel, waiting, unknown, dead)
      VALUES (new.channel, ${is("new", WAITS)}, new.state = 'unknown', new.state = 'dead')
      ON CONFLICT (channel) DO UPDATE SET waiting = waiting + excluded.waiting,
        unknown = unknown + excluded.unknown, dead = dead + excluded.dead;
    END;
    CREATE TRIGGER outbox_changed AFTER UPDATE OF state ON outbox
    WHEN new.state <> old.state AND NOT (${is("new", WAITS)} AND ${is("old", WAITS)}) BEGIN
      UPDATE outbox_counts SET waiting = waiting + ${is("new", WAITS)} - ${is("old", WAITS)},
        unknown = unknown + (new.state = 'unknown') - (old.state = 'unknown'),
        dead = dead + (new.state = 'dead') - (old.state = 'dead')
      WHERE channel = new.channel;
    END;
    CREATE TRIGGER outbox_removed AFTER DELETE ON outbox
    WHEN old.state IN ('pending', 'sending', 'unknown', 'dead') BEGIN
      UPDATE outbox_counts SET waiting = waiting - ${is("old", WAITS)},
        unknown = unknown - (old.state = 'unknown'), dead = dead - (old.state = 'dead')
      WHERE channel = old.channel;
    END;

    -- Turns whose answer goes to a chat of a channel and has not been handed over whole.
    CREATE TABLE channel_turns (
      turn INTEGER PRIMARY KEY REFERENCES turns (turn) ON DELETE CASCADE,
      runtime TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      -- JSON.
      metadata TEXT NOT NULL,
      streaming INTEGER NOT NULL,
      -- Everything up to this event is in the outbox or has arrived.
      seq INTEGER NOT NULL,
      -- JSON of the id of the stream that is being sent, if one is; it begins after that event.
      stream TEXT,
      -- Of its text, characters that have arrived, and up to where a call is under way.
      acked INTEGER NOT NULL DEFAULT 0,
      sending INTEGER NOT NULL DEFAULT 0
    ) STRICT;
  `,
};

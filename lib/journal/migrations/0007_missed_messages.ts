import type { Migration } from "../../base/migrate.ts";

/** Messages of channels that came too late to be answered. */
export const missedMessages: Migration = {
  version: 7,
  name: "missed_messages",
  sql: `
    CREATE TABLE missed_messages (
      missed INTEGER PRIMARY KEY,
      runtime TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      -- By which a repeat is known; NULL where the platform has no id for it.
      name TEXT,
      sent_at INTEGER NOT NULL,
      received_at INTEGER NOT NULL,
      -- When its chat was told that it is not answered.
      told_at INTEGER,
      -- JSON; NULL once somebody has dealt with it: of that the row is all that stays.
      body TEXT
    ) STRICT;
    CREATE UNIQUE INDEX missed_by_name ON missed_messages (name) WHERE name NOT NULL;
    CREATE INDEX missed_of_runtime ON missed_messages (runtime, missed);
    CREATE INDEX missed_of_chat ON missed_messages (runtime, chat_id, told_at);
    CREATE INDEX missed_untold ON missed_messages (runtime, chat_id) WHERE told_at IS NULL;
    CREATE INDEX missed_by_age ON missed_messages (received_at);
  `,
};

import type { Migration } from "../../base/migrate.ts";

/**
 * What channels have heard and nobody has taken yet, and how far they have read. Before it each channel had
 * a file of its own, whose rows it brings along at its next start.
 */
export const intake: Migration = {
  version: 15,
  name: "intake",
  sql: `
    CREATE TABLE intake (
      -- Its runtime name.
      channel TEXT NOT NULL,
      lane TEXT NOT NULL,
      -- In the order in which they came, over all channels.
      seq INTEGER NOT NULL,
      id TEXT NOT NULL,
      added_at INTEGER NOT NULL,
      -- JSON.
      data TEXT NOT NULL,
      PRIMARY KEY (channel, lane, seq),
      UNIQUE (channel, lane, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE intake_cursors (
      channel TEXT NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (channel, name)
    ) STRICT, WITHOUT ROWID;
  `,
};

import type { Migration } from "../../base/migrate.ts";

/**
 * The index for searching in sessions. It holds terms and no text, which stays where it is, and is filled
 * when somebody searches, so that a turn costs nothing more.
 *
 * The tokenizer only splits at spaces: what is a term is `search_text.ts`' to say.
 */
export const search: Migration = {
  version: 12,
  name: "search",
  sql: `
    -- The rowid is the session's id, and in the lower 32 bits the message's; 0 is a title that was given.
    CREATE VIRTUAL TABLE search USING fts5 (
      text,
      -- Owner and channel of the session.
      whose,
      content = '', contentless_delete = 1, tokenize = 'ascii'
    );
    CREATE TABLE search_state (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      -- Sessions that changed later are not in the index as they are now.
      indexed_to INTEGER NOT NULL,
      -- 1: it still holds terms of what was deleted.
      stale INTEGER NOT NULL
    ) STRICT;
    INSERT INTO search_state (one, indexed_to, stale) VALUES (1, 0, 0);
  `,
};

import type { Migration } from "../../base/migrate.ts";

/** How many runs of a turn ended with a crash: a run that an orderly stop ended is none of them. */
export const crashes: Migration = {
  version: 8,
  name: "crashes",
  sql: `
    ALTER TABLE turns ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
    -- Until now each run of an open turn but the present one had ended so.
    UPDATE turns SET crashes = attempts - (status = 'running') WHERE ended_at IS NULL;
  `,
};

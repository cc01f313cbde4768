import type { Migration } from "../../base/migrate.ts";

/**
 * Automations and their runs, and of which automation a turn is.
 *
 * They stand in the journal's file, so that slots are claimed and their runs added in one transaction.
 * What a run waits for is kept with its automation (`head_*`), so that looking for what is due costs
 * the same however many wait.
 */
export const automations: Migration = {
  version: 5,
  name: "automations",
  sql: `
    -- JSON; NULL for the turn of a person.
    ALTER TABLE turns ADD COLUMN automation TEXT;

    CREATE TABLE automations (
      id TEXT PRIMARY KEY,
      -- JSON.
      spec TEXT NOT NULL,
      -- As in the spec.
      enabled INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      cursor INTEGER NOT NULL,
      next_at INTEGER,
      missed INTEGER NOT NULL,
      overlapped INTEGER NOT NULL,
      result_digest TEXT,
      -- The run that is next and when it may begin; NULL when none waits, or one runs.
      head_run INTEGER,
      head_not_before INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX automations_due ON automations (next_at) WHERE next_at NOT NULL;
    CREATE INDEX automations_on ON automations (cursor) WHERE enabled = 1;
    CREATE INDEX automations_ready ON automations (head_not_before, head_run)
      WHERE head_not_before NOT NULL;

    CREATE TABLE automation_runs (
      -- AUTOINCREMENT: the cursor of a history must not be taken by a later run.
      run INTEGER PRIMARY KEY AUTOINCREMENT,
      automation_id TEXT NOT NULL REFERENCES automations (id) ON DELETE CASCADE,
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      digest TEXT NOT NULL,
      -- NULL where somebody asked for it.
      slot_at INTEGER,
      claimed_at INTEGER NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      not_before INTEGER NOT NULL,
      turn_id TEXT,
      ended_at INTEGER,
      error TEXT,
      UNIQUE (automation_id, scope, key)
    ) STRICT;
    CREATE INDEX automation_runs_in_order ON automation_runs (automation_id, run);
    CREATE INDEX waiting_automation_runs ON automation_runs (automation_id, run)
      WHERE state = 'waiting';
    -- One at a time of each automation.
    CREATE UNIQUE INDEX running_automation_runs ON automation_runs (automation_id)
      WHERE state = 'running';
    CREATE INDEX running_runs ON automation_runs (run) WHERE state = 'running';
  `,
};

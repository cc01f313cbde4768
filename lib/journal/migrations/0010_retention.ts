import type { Migration } from "../../base/migrate.ts";

/** Sessions that retention never removes because somebody said so. */
export const retention: Migration = {
  version: 10,
  name: "retention",
  sql: "ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
};

import type { Migration } from "../../base/migrate.ts";

/** Which project a session works in. */
export const folders: Migration = {
  version: 9,
  name: "folders",
  sql: "ALTER TABLE sessions ADD COLUMN folder TEXT",
};

import type { Migration } from "../migrate.ts";

/** Which project a session works in. */
export const folders: Migration = {
  version: 9,
  name: "folders",
  sql: "ALTER TABLE sessions ADD COLUMN folder TEXT",
};

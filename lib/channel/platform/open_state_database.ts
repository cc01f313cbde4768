/**
 * The SQLite file in which a channel keeps what has to outlive its process: in its own folder, so that
 * nobody else reads or writes it.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";

/** Opens `<stateDir>/<name>.sqlite`; what is committed is on the disk. Throws what SQLite says. */
export function openStateDatabase(stateDir: string, name: string, schema: string): DatabaseSync {
  const database = new DatabaseSync(`${stateDir}/${name}.sqlite`);
  try {
    // A power cut may not take what the platform was told that we have.
    database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;",
    );
    database.exec(schema);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Runs `work` in one transaction; what it throws undoes all of it. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

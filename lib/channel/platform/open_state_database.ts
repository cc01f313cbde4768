/**
 * The SQLite file in which a channel keeps what has to outlive its process: in its own folder, so that
 * nobody else reads or writes it.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../../base/errors.ts";
import { migrate, type Migration, openWithCopy } from "../../base/migrate.ts";

/** How long another process is waited for. */
const BUSY_TIMEOUT_MS = 5_000;

/** What SQLite says of a file that no other try will find whole. */
const DAMAGED = /not a database|malformed/;

/**
 * Opens `<stateDir>/<name>.sqlite` in its newest shape; what is committed is on the disk. Of a file of an older
 * shape a copy is kept beside it. Throws with what is wrong, and what to do where the file is damaged or of
 * a later version.
 */
export function openStateDatabase(
  stateDir: string,
  name: string,
  migrations: readonly Migration[],
): DatabaseSync {
  const path = `${stateDir}/${name}.sqlite`;
  let database: DatabaseSync | undefined;
  try {
    database = openWithCopy({
      path,
      open: () => new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS }),
      migrations,
    });
    // A power cut may not take what the platform was told that we have.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    migrate(database, migrations, path);
    return database;
  } catch (error) {
    if (database?.isOpen) database.close();
    throw new Error(`Cannot use ${path}: ${wordsOf(error)}`, { cause: error });
  }
}

function wordsOf(error: unknown): string {
  const { message } = error as Error;
  if (error instanceof ServiceError && error.code === "database_newer") {
    return `${message}. Use the version of the program that wrote it, or a later one`;
  }
  if (!DAMAGED.test(message)) return message;
  return `${message}. Move it away, with the files beside it whose names begin with its own, and switch ` +
    "the channel off and on; what waited in it is lost";
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

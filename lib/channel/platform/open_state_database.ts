/**
 * The SQLite file in which a channel keeps what has to outlive its process: in its own folder, so that
 * nobody else reads or writes it.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";

/** Of the schemas of this program. A file of a later one may mean what this one would take apart. */
const VERSION = 1;

/** What SQLite says of a file that no other try will find whole. */
const DAMAGED = /not a database|malformed/;

/**
 * Opens `<stateDir>/<name>.sqlite`; what is committed is on the disk. Throws with what is wrong, and what to
 * do where the file is damaged or of a later version.
 */
export function openStateDatabase(stateDir: string, name: string, schema: string): DatabaseSync {
  const path = `${stateDir}/${name}.sqlite`;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // A power cut may not take what the platform was told that we have.
    database.exec(
      "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
    );
    checkVersion(database);
    database.exec(`${schema} PRAGMA user_version = ${VERSION};`);
    return database;
  } catch (error) {
    database?.close();
    throw new Error(`Cannot use ${path}: ${wordsOf(error)}`, { cause: error });
  }
}

function checkVersion(database: DatabaseSync): void {
  const version = Number(database.prepare("PRAGMA user_version").get()!.user_version);
  if (version <= VERSION) return;
  throw new Error(
    `it is of version ${version}, expected at most ${VERSION}: use the version of the program that ` +
      "wrote it, or a later one",
  );
}

function wordsOf(error: unknown): string {
  const { message } = error as Error;
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

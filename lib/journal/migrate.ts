import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";

/** One step of the schema: SQL that brings `version - 1` to `version`. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/**
 * Brings a database to the newest version, each step in a transaction of its own that also writes
 * `user_version`, so that a crash or a failure leaves the last whole step. Returns the version it
 * found. Throws `database_newer` for one that a later program has written.
 */
export function migrate(
  db: DatabaseSync,
  migrations: readonly Migration[],
  path: string,
): number {
  const found = userVersion(db);
  refuseNewer(path, found, migrations);
  for (const migration of migrations) {
    if (migration.version <= found) continue;
    db.exec("BEGIN IMMEDIATE");
    try {
      db.exec(migration.sql);
      db.exec(`PRAGMA user_version = ${migration.version}`);
      db.exec("COMMIT");
    } catch (cause) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw new ServiceError(
        "database_unusable",
        `Cannot bring the database "${path}" to version ${migration.version} ` +
          `(${migration.name}), it stays at ${migration.version - 1}: ${String(cause)}`,
        {},
        { cause },
      );
    }
  }
  return found;
}

/** The version that the database says it has; 0 for a new one. */
export function userVersion(db: DatabaseSync): number {
  return db.prepare("PRAGMA user_version").get()!.user_version as number;
}

/** Throws `database_newer`, naming both versions, when the program knows none as high as `version`. */
export function refuseNewer(
  path: string,
  version: number,
  migrations: readonly Migration[],
): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (version <= newest) return;
  throw new ServiceError(
    "database_newer",
    `Cannot open the database "${path}": it has version ${version}, written by a newer program, ` +
      `and this program knows versions up to ${newest}`,
  );
}

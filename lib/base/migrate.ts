/**
 * Brings a SQLite file to the newest shape, and keeps a copy as it was before.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "./errors.ts";

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
  const { foreign_keys: foreignKeys } = db.prepare("PRAGMA foreign_keys").get()!;
  // A table that others refer to is dropped and made anew, so references are checked after a step.
  db.exec("PRAGMA foreign_keys = OFF");
  try {
    for (const migration of migrations) {
      if (migration.version > found) step(db, migration, path);
    }
  } finally {
    db.exec(`PRAGMA foreign_keys = ${foreignKeys}`);
  }
  return found;
}

function step(db: DatabaseSync, { version, name, sql }: Migration, path: string): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    db.exec(sql);
    const broken = db.prepare("PRAGMA foreign_key_check").get();
    if (broken) throw new Error(`a row of "${broken.table}" refers to one that is not there`);
    db.exec(`PRAGMA user_version = ${version}`);
    db.exec("COMMIT");
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw new ServiceError(
      "database_unusable",
      `Cannot bring the database "${path}" to version ${version} (${name}), ` +
        `it stays at ${version - 1}: ${String(cause)}`,
      {},
      { cause },
    );
  }
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

/** A database file that may be of an older version. */
export interface OlderFile {
  path: string;
  /** Opens it; called again after the copy, for which it is closed. */
  open: () => DatabaseSync;
  migrations: readonly Migration[];
  /** Told of the copy that is kept. */
  onCopied?: (copy: string, version: number) => void;
}

/**
 * Opens a file, and keeps a copy of one of an older version, `<path>.v<version>`, before anything is changed
 * in it. Throws when no copy can be kept.
 */
export function openWithCopy(
  { path, open, migrations, onCopied = () => {} }: OlderFile,
): DatabaseSync {
  const db = open();
  try {
    const version = userVersion(db);
    const isFilled = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!.n !== 0;
    if (!isFilled || version >= (migrations.at(-1)?.version ?? 0)) return db;
    // All of it into the file. Closed for the copy, which would drop SQLite's locks on an open one.
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()!;
    db.close();
    onCopied(keepCopy(path, version, { isWhole: busy === 0 }), version);
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
  return open();
}

/**
 * Copies a database file that is closed; the copy's path. One of the same version gives way to it, so
 * that a migration that fails at each start does not fill the disk.
 */
function keepCopy(path: string, version: number, { isWhole }: { isWhole: boolean }): string {
  const copy = `${path}.v${version}`;
  const unfinished = `${copy}.unfinished`;
  try {
    if (!isWhole) throw new Error("another program has the database open; close it there");
    Deno.copyFileSync(path, unfinished);
    if (Deno.build.os !== "windows") Deno.chmodSync(unfinished, 0o600);
    using file = Deno.openSync(unfinished, { write: true });
    file.syncSync();
    Deno.renameSync(unfinished, copy);
    return copy;
  } catch (cause) {
    try {
      Deno.removeSync(unfinished);
    } catch {
      // There is none, or the disk takes nothing at all.
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`it has to be migrated, and no copy of it can be kept as "${copy}": ${reason}`);
  }
}

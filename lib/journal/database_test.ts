import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { crashCopy, withFolder } from "./testing/steps.ts";

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
/** Asserts that the file cannot be opened and is byte for byte as before; returns the error. */
function assertRefused(path: string): ServiceError {
  const before = Deno.readFileSync(path);
  const error = assertThrows(() => openDatabase(path, MIGRATIONS), ServiceError);
  assertEquals(Deno.readFileSync(path), before);
  assertStringIncludes(error.message, `"${path}"`);
  return error;
}

Deno.test({
  ...needs("openDatabase() makes a file of mode 0600, its log included", "Unix"),
  fn: () =>
    withFolder((folder) => {
      const path = `${folder}/new.db`;
      const db = openDatabase(path, MIGRATIONS);
      assertEquals(modeOf(path), 0o600);
      assertEquals(modeOf(`${path}-wal`), 0o600);
      db.close();
    }),
});

Deno.test({
  ...needs("openDatabase() takes the rights of others from a file that has them", "Unix"),
  fn: () =>
    withFolder((folder) => {
      const path = `${folder}/open.db`;
      openDatabase(path, MIGRATIONS).close();
      Deno.chmodSync(path, 0o644);
      openDatabase(path, MIGRATIONS).close();
      assertEquals(modeOf(path), 0o600);
    }),
});

Deno.test("openDatabase() uses a write-ahead log, foreign keys and gives space back", () =>
  withFolder((folder) => {
    const db = openDatabase(`${folder}/a.db`, MIGRATIONS);
    const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0];
    assertEquals(pragma("journal_mode"), "wal");
    assertEquals(pragma("foreign_keys"), 1);
    assertEquals(pragma("auto_vacuum"), 2);
    assertEquals(pragma("user_version"), MIGRATIONS.length);
    db.close();
  }));

Deno.test("openDatabase() takes an empty file and one that was cut off before its first table", () =>
  withFolder((folder) => {
    const path = `${folder}/empty.db`;
    Deno.writeFileSync(path, new Uint8Array());
    openDatabase(path, MIGRATIONS).close();
    const begun = `${folder}/begun.db`;
    const db = new DatabaseSync(begun);
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    db.close();
    openDatabase(begun, MIGRATIONS).close();
  }));

Deno.test("openDatabase() refuses a file that is no database and leaves it as it was", () =>
  withFolder((folder) => {
    for (const content of ["hello", "hello world, this is no database. ".repeat(300)]) {
      const path = `${folder}/text.db`;
      Deno.writeTextFileSync(path, content);
      assertStringIncludes(assertRefused(path).message, "it is not a SQLite database");
    }
  }));

Deno.test("openDatabase() refuses a damaged database and leaves it as it was", () =>
  withFolder((folder) => {
    const path = `${folder}/damaged.db`;
    openDatabase(path, MIGRATIONS).close();
    const bytes = Deno.readFileSync(path);
    bytes.fill(0xff, 100, 4_000);
    Deno.writeFileSync(path, bytes);
    assertStringIncludes(assertRefused(path).message, "malformed");
  }));

Deno.test("openDatabase() refuses the database of another program and leaves it as it was", () =>
  withFolder((folder) => {
    for (const id of [0, 1234]) {
      const path = `${folder}/other-${id}.db`;
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA application_id = ${id}; CREATE TABLE theirs (a)`);
      db.close();
      assertStringIncludes(assertRefused(path).message, "database of another program");
    }
  }));

Deno.test("openDatabase() refuses a newer database, naming both versions, and leaves it as it was", () =>
  withFolder((folder) => {
    const path = `${folder}/newer.db`;
    const db = openDatabase(path, MIGRATIONS);
    db.exec("PRAGMA user_version = 99");
    db.close();
    const error = assertRefused(path);
    assertEquals(error.code, "database_newer");
    assertStringIncludes(error.message, "version 99");
    assertStringIncludes(error.message, `up to ${MIGRATIONS.length}`);
  }));

Deno.test("openDatabase() refuses a newer version that stands in the log only", () =>
  withFolder((folder) => {
    const path = `${folder}/newer.db`;
    const db = openDatabase(path, MIGRATIONS);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.exec("PRAGMA user_version = 99");
    for (const suffix of ["", "-wal"]) {
      Deno.copyFileSync(path + suffix, `${folder}/copy.db${suffix}`);
    }
    db.close();
    const error = assertThrows(() => openDatabase(`${folder}/copy.db`, MIGRATIONS), ServiceError);
    assertEquals(error.code, "database_newer");
  }));

Deno.test("openDatabase() says why it cannot make a file", () =>
  withFolder((folder) => {
    const path = `${folder}/none/a.db`;
    const error = assertThrows(() => openDatabase(path, MIGRATIONS), ServiceError);
    assertEquals(error.code, "database_unusable");
    assertStringIncludes(error.message, `"${path}"`);
    const aFolder = assertThrows(() => openDatabase(folder, MIGRATIONS), ServiceError);
    assertStringIncludes(aFolder.message, folder);
  }));

/** A file of the version before the newest, with a row, part of it in the write-ahead log. */
function olderFile(folder: string, { hasCrashed }: { hasCrashed: boolean }): string {
  const path = `${folder}/a.db`;
  const db = openDatabase(path, MIGRATIONS.slice(0, -1));
  db.exec("INSERT INTO deleted_keys (key_hash, generation) VALUES ('kept', 7)");
  if (!hasCrashed) {
    db.close();
    return path;
  }
  const crashed = `${folder}/crashed.db`;
  crashCopy(path, crashed);
  db.close();
  return crashed;
}

for (const hasCrashed of [false, true]) {
  Deno.test(`openDatabase() keeps a copy before a migration, after a ${hasCrashed ? "crash" : "close"}`, () =>
    withFolder((folder) => {
      const path = olderFile(folder, { hasCrashed });
      const told: [string, number][] = [];
      openDatabase(path, MIGRATIONS, (...copied) => told.push(copied)).close();
      const before = MIGRATIONS.length - 1;
      const copy = `${path}.v${before}`;
      assertEquals(told, [[copy, before]]);
      assertEquals(Deno.statSync(copy).mode! & 0o777, 0o600);
      using db = new DatabaseSync(copy, { readOnly: true });
      assertEquals(db.prepare("PRAGMA user_version").get()!.user_version, before);
      assertEquals(db.prepare("SELECT generation FROM deleted_keys").get()!.generation, 7);
      // There is nothing to migrate any more.
      openDatabase(path, MIGRATIONS, (...copied) => told.push(copied)).close();
      assertEquals(told.length, 1);
    }));
}

Deno.test("openDatabase() migrates nothing that it cannot keep a copy of", () =>
  withFolder((folder) => {
    const path = olderFile(folder, { hasCrashed: false });
    Deno.mkdirSync(`${path}.v${MIGRATIONS.length - 1}`);
    const error = assertThrows(() => openDatabase(path, MIGRATIONS), ServiceError);
    assertStringIncludes(error.message, "no copy of it can be kept");
    using db = new DatabaseSync(path, { readOnly: true });
    assertEquals(db.prepare("PRAGMA user_version").get()!.user_version, MIGRATIONS.length - 1);
  }));

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Migration } from "../../base/migrate.ts";
import { inTransaction, openStateDatabase } from "./open_state_database.ts";

const SCHEMA: readonly Migration[] = [{
  version: 1,
  name: "initial",
  sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT",
}];

async function withFolder(run: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("openStateDatabase() says what to do about a file that is damaged", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/notes.sqlite`, "no database at all ".repeat(100));
    const { message } = assertThrows(() => openStateDatabase(folder, "notes", SCHEMA), Error);
    assertStringIncludes(message, `${folder}/notes.sqlite: file is not a database. Move it away`);
  }));

Deno.test("openStateDatabase() leaves a file of a later version alone", () =>
  withFolder((folder) => {
    const database = openStateDatabase(folder, "notes", SCHEMA);
    database.exec("PRAGMA user_version = 7");
    database.close();
    const { message } = assertThrows(() => openStateDatabase(folder, "notes", SCHEMA), Error);
    assertStringIncludes(message, "it has version 7, written by a newer program");
  }));

Deno.test("openStateDatabase() names a folder that it cannot write to", () =>
  withFolder((folder) => {
    assertThrows(() => openStateDatabase(`${folder}/gone`, "notes", SCHEMA), Error, "gone/notes");
  }));

Deno.test("inTransaction() undoes all of what throws", () =>
  withFolder((folder) => {
    const database = openStateDatabase(folder, "notes", SCHEMA);
    assertThrows(() =>
      inTransaction(database, () => {
        database.exec("INSERT INTO notes VALUES ('a')");
        throw new Error("stop");
      }), Error);
    assertEquals(database.prepare("SELECT count(*) AS n FROM notes").get()!.n, 0);
    database.close();
  }));

Deno.test("openStateDatabase() keeps a copy of a file of an older shape, and goes on in it", () =>
  withFolder((folder) => {
    const first = openStateDatabase(folder, "notes", SCHEMA);
    first.exec("INSERT INTO notes VALUES ('kept')");
    first.close();
    const sql = "ALTER TABLE notes ADD COLUMN at INTEGER NOT NULL DEFAULT 7";
    const later = [...SCHEMA, { version: 2, name: "times", sql }];
    const opened = openStateDatabase(folder, "notes", later);
    assertEquals({ ...opened.prepare("SELECT text, at FROM notes").get()! }, {
      text: "kept",
      at: 7,
    });
    opened.close();
    const names = () =>
      [...Deno.readDirSync(folder)].map(({ name }) => name)
        .filter((name) => !/-(wal|shm)$/.test(name)).sort();
    assertEquals(names(), ["notes.sqlite", "notes.sqlite.v1"]);
    using copy = new DatabaseSync(`${folder}/notes.sqlite.v1`, { readOnly: true });
    assertEquals(copy.prepare("SELECT * FROM notes").all().map((row) => ({ ...row })), [
      { text: "kept" },
    ]);

    const broken = [...later, { version: 3, name: "broken", sql: "DROP TABLE none" }];
    const { message } = assertThrows(() => openStateDatabase(folder, "notes", broken), Error);
    assertStringIncludes(message, "it stays at 2");
    openStateDatabase(folder, "notes", later).close();
    assertEquals(names(), ["notes.sqlite", "notes.sqlite.v1", "notes.sqlite.v2"]);
  }));

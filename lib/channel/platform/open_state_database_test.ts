import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { inTransaction, openStateDatabase } from "./open_state_database.ts";

const SCHEMA = "CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL) STRICT;";

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
    assertStringIncludes(message, "it is of version 7, expected at most 1");
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

import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { IntakeStore } from "./intake_store.ts";
import { Memory } from "./memory.ts";

/** Files of a channel as the first version has made them, before they had versions. */
const FIRST_INTAKE = `
  CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL,
    UNIQUE (lane, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entries_of_lane ON entries (lane, seq);
  CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO entries (lane, id, data) VALUES ('chat 1', 'm1', '"hello"'), ('chat 1', 'm2', '"again"');
  INSERT INTO cursors VALUES ('updates', '17');
`;

const FIRST_MEMORY = `
  CREATE TABLE IF NOT EXISTS things (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    UNIQUE (kind, name)
  ) STRICT;
  INSERT INTO things (kind, name, value) VALUES ('approval', 'apr_1', '{"message":7}');
`;

async function withFile(
  name: string,
  sql: string,
  run: (folder: string) => void,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const database = new DatabaseSync(`${folder}/${name}.sqlite`);
    database.exec(`PRAGMA journal_mode = WAL; ${sql}`);
    database.close();
    run(folder);
    assert(Deno.statSync(`${folder}/${name}.sqlite.v0`).isFile);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("IntakeStore opens a file of the first version, and loses no message that waits", () =>
  withFile("intake", FIRST_INTAKE, (folder) => {
    const before = Date.now();
    const store = new IntakeStore(folder);
    assertEquals([store.size, store.cursor("updates")], [2, "17"]);
    const first = store.next("chat 1")!;
    assertEquals([first.id, first.data], ["m1", '"hello"']);
    // It waits from now on, not since 1970: else it would be given up at once.
    assert(first.added_at >= before - 1_000, `${first.added_at}`);
    store.add([{ lane: "chat 1", id: "m3", data: '"more"' }], { updates: "18" }, 5_000);
    assertEquals(store.size, 3);
    store.close();
    const again = new IntakeStore(folder);
    assertEquals([again.size, again.cursor("updates")], [3, "18"]);
    again.close();
  }));

Deno.test("Memory opens a file of the first version, and remembers what was in it", () =>
  withFile("memory", FIRST_MEMORY, (folder) => {
    const memory = new Memory(folder);
    assertEquals(memory.get("approval", "apr_1"), { message: 7 });
    memory.close();
  }));

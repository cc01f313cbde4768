import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { chatSessionKey } from "../contract/chat_session.ts";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { openJournal } from "./open.ts";
import { createSessionRows } from "./sessions.ts";

const ANN = "a1".repeat(32);
const BOB = "b2".repeat(32);

Deno.test("sessions() lists one person's chats, those of nobody, or all", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (
    const key of ["api:default", "websocket:x", "websocket:0.y", `websocket:${"A1".repeat(16)}.z`]
  ) {
    await journal.setModelPreset(key, "fast");
  }
  for (const workspaceKey of [ANN, BOB]) {
    for (const chatId of ["one", "two"]) {
      await journal.setModelPreset(chatSessionKey({ chatId, workspaceKey }), "fast");
    }
  }
  const keys = (owner?: string | null) =>
    journal.sessions({ limit: 99, owner }).map(({ key }) => key);
  assertEquals(keys().length, 8);
  assertEquals(keys(null), [
    `websocket:${"A1".repeat(16)}.z`,
    "websocket:0.y",
    "websocket:x",
    "api:default",
  ]);
  assertEquals(keys(ANN.slice(0, 32)), [
    chatSessionKey({ chatId: "two", workspaceKey: ANN }),
    chatSessionKey({ chatId: "one", workspaceKey: ANN }),
  ]);
  assertEquals(keys("c".repeat(32)), []);
  const [newest] = journal.sessions({ limit: 1, owner: ANN.slice(0, 32) });
  const rest = journal.sessions({ limit: 9, owner: ANN.slice(0, 32), before: newest!.updatedAt });
  assertEquals(rest.map(({ key }) => key), [chatSessionKey({ chatId: "one", workspaceKey: ANN })]);
  await journal.deleteSession(rest[0]!.key);
  assertEquals(keys(ANN.slice(0, 32)).length, 1);
  await journal.close();
});

Deno.test("list() of an owner reads that owner's rows alone, beside 10,000 of others", () => {
  const db = openDatabase(":memory:", MIGRATIONS);
  const statements: string[] = [];
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    statements.push(sql);
    return prepare.call(this, sql);
  };
  let now = 0;
  const rows = createSessionRows({ db, now: () => ++now, lastSeq: () => 0, onMade: () => {} });
  DatabaseSync.prototype.prepare = prepare;
  db.exec("BEGIN");
  for (let n = 0; n < 10_000; n++) {
    const workspaceKey = n % 3 === 0 ? undefined : BOB;
    if (n % 1_000 === 7) rows.ensure(chatSessionKey({ chatId: `${n}`, workspaceKey: ANN }));
    rows.ensure(chatSessionKey({ chatId: `${n}`, workspaceKey }));
  }
  db.exec("COMMIT");
  assertEquals(rows.list(50, undefined, ANN.slice(0, 32)).length, 10);

  // The very statement, with a function in it that sees each row that it looks at.
  let read = 0;
  db.function("seen", (key) => {
    read++;
    return key;
  });
  const statement = statements.find((sql) => sql.includes("owner = ?"))!;
  const counting = db.prepare(statement.replace("key NOT NULL", "seen(key) NOT NULL"));
  for (const [owner, most] of [[ANN.slice(0, 32), 10], [BOB.slice(0, 32), 50], ["", 50]] as const) {
    read = 0;
    assertEquals(counting.all(owner, Number.MAX_SAFE_INTEGER, 50).length, most);
    assert(read <= most, `${read} rows were read for ${most}`);
  }
  db.close();
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import {
  begin,
  copiesOfDeletion,
  crashCopy,
  ending,
  newTurn,
  replay,
  text,
  withFolder,
} from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";
import { rounds } from "../../tests/support/rounds.ts";

const TABLES = [
  "sessions",
  "turns",
  "inputs",
  "messages",
  "context_starts",
  "events",
];

async function fill(journal: Journal, sessionKey: string, turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) {
    const id = `${sessionKey}-${n}`;
    await begin(journal, id, { sessionKey });
    await journal.append(id, [text("secret words ".repeat(50))]);
    await journal.addMessage(id, { role: "assistant", text: "secret words", calls: [] });
    await journal.end(id, ending());
  }
}

function rowsOf(path: string): number[] {
  const db = new DatabaseSync(path);
  const counts = TABLES.map((table) =>
    db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n as number
  );
  db.close();
  return counts;
}

Deno.test("deleteSession() removes every row and every word, and gives the space back", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await fill(journal, "test:keep", 1);
    await journal.close();
    const rows = rowsOf(path);
    const size = Deno.statSync(path).size;
    const again = openJournal({ path });
    await fill(again, "test:gone", 700);
    assertEquals(await again.deleteSession("test:gone"), true);
    assertEquals(again.session("test:gone"), undefined);
    assertEquals(again.turn("test:gone-0"), undefined);
    assertEquals(await again.deleteSession("test:gone"), false);
    for (const { name } of Deno.readDirSync(folder)) {
      const bytes = Deno.readFileSync(`${folder}/${name}`);
      const kept = new TextDecoder("latin1").decode(bytes).split("secret words").length - 1;
      // Once more in a delta and an answer each of the session that stays.
      assert(kept <= 51, `${kept} in ${name}`);
    }
    await again.close();
    assertEquals(rowsOf(path), rows);
    const left = Deno.statSync(path).size;
    assert(left < 3 * size + 64 * 1024, `${left} bytes are left, ${size} were before`);
  }));

Deno.test("deleteSession() refuses while a turn is queued or running", async () => {
  const journal = openJournal({ path: ":memory:" });
  await journal.accept(newTurn("a"));
  for (const step of [() => Promise.resolve(), () => journal.start("a")]) {
    await step();
    const error = await assertRejects(() => journal.deleteSession("test:a"), ServiceError);
    assertEquals(error.code, "invalid_request");
  }
  await journal.end("a", ending());
  assertEquals(await journal.deleteSession("test:a"), true);
  await journal.close();
});

Deno.test("deleteSession() frees the key: what comes next is another session from 1", async () => {
  const journal = openJournal({ path: ":memory:" });
  await fill(journal, "test:a", 2);
  const { id } = journal.session("test:a")!;
  await journal.deleteSession("test:a");
  const turn = await begin(journal, "new");
  assert(turn.sessionId > id);
  assertEquals((await replay(journal, turn.sessionId)).map(({ seq }) => seq), [1]);
  assertEquals(journal.session("test:a")!.turns, 1);
  assertEquals(journal.history(id, 0, 10), []);
  await journal.close();
});

Deno.test("deleteSession() gives its id to no later session, also after a restart", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await fill(journal, "test:a", 1);
    const { id } = journal.session("test:a")!;
    await journal.deleteSession("test:a");
    await journal.close();
    const again = openJournal({ path });
    assert((await begin(again, "new")).sessionId > id);
    await again.close();
  }));

Deno.test("deleteSession() keeps what other sessions are saying", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await fill(journal, "test:gone", 3);
    const { sessionId } = await begin(journal, "b", { sessionKey: "test:b" });
    await journal.append("b", [text("1"), text("2")]);
    const deleted = journal.deleteSession("test:gone");
    await journal.append("b", [text("3")]);
    await deleted;
    crashCopy(path, `${folder}/copy.db`);
    await journal.append("b", [text("4")]);
    assertEquals(
      (await replay(journal, sessionId, 1)).map(({ event }) => event),
      ["1", "2", "3", "4"].map((piece) => text(piece)),
    );
    const copy = openJournal({ path: `${folder}/copy.db` });
    assertEquals((await replay(copy, sessionId, 1)).length, 3);
    await copy.close();
    await journal.close();
  }));

Deno.test("recover() goes on with a deletion that a crash cut off, wherever that was", () =>
  withFolder(async (folder) => {
    const { path, copies } = await copiesOfDeletion(folder, "test:gone", async (journal) => {
      await fill(journal, "test:gone", rounds(100, 30));
      await fill(journal, "test:keep", 1);
    });
    assert(copies.length > 6, `${copies.length} steps`);
    for (const copied of copies) {
      const copy = openJournal({ path: copied });
      assertEquals(copy.sessions({ limit: 9 }).map(({ key }) => key), ["test:keep"]);
      assertEquals(copy.turn("test:gone-0"), undefined);
      await copy.recover();
      await copy.close();
      assertEquals(rowsOf(copied), rowsOf(path));
    }
  }));

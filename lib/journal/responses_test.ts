import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { openJournal } from "./open.ts";
import { createResponseIndex } from "./responses.ts";
import { ending, newTurn, withFolder } from "./testing/steps.ts";
import type { Journal, ResponseFacts } from "../contract/journal.ts";
import { rounds } from "../../tests/support/rounds.ts";

const facts = (credential = "me", n = 0): ResponseFacts => ({
  credential,
  request: { store: true, metadata: { n } },
});

async function respond(journal: Journal, id: string, response = facts()): Promise<void> {
  await journal.accept(newTurn(id), { response });
  await journal.end(id, ending());
}

Deno.test("find() gives what accept() was told, to the same credential alone", async () => {
  const journal = openJournal({ path: ":memory:" });
  const request = { text: "half \ud83d, NUL \0", nested: [null, { a: 1 }] };
  await journal.accept(newTurn("a"), { response: { credential: "me", request } });
  await journal.accept(newTurn("b"));
  const entry = { turnId: "a", sessionKey: "test:a", credential: "me", request };
  assertEquals(journal.responses.find("a", "me"), entry);
  for (const [id, who] of [["a", "you"], ["a", ""], ["b", "me"], ["none", "me"]] as const) {
    assertEquals(journal.responses.find(id, who), undefined);
  }
  await journal.close();
});

Deno.test("remove() takes an entry of the same credential, once, and leaves the turn", async () => {
  const journal = openJournal({ path: ":memory:" });
  await respond(journal, "a");
  await respond(journal, "b");
  assertEquals(await journal.responses.remove("a", "you"), false);
  assertEquals(await journal.responses.remove("none", "me"), false);
  const removals = [journal.responses.remove("a", "me"), journal.responses.remove("a", "me")];
  assertEquals(await Promise.all(removals), [true, false]);
  assertEquals(journal.responses.find("a", "me"), undefined);
  assertEquals(journal.turn("a")?.status, "done");
  assertEquals(journal.responses.find("b", "me")?.turnId, "b");
  await journal.close();
});

Deno.test("deleteSession() takes the entries of the session with it, at once", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await respond(journal, "a");
    await journal.accept(newTurn("b", { sessionKey: "test:b" }), { response: facts() });
    const deleted = journal.deleteSession("test:a");
    // In the batch of the first step, which hides the session; its rows go in later ones.
    await journal.accept(newTurn("c"));
    assertEquals(journal.responses.find("a", "me"), undefined);
    assertEquals(await journal.responses.remove("a", "me"), false);
    await deleted;
    await journal.close();
    const db = openDatabase(path, MIGRATIONS);
    assertEquals(db.prepare("SELECT count(*) AS n FROM responses").get()!.n, 1);
    db.close();
  }));

Deno.test("accept() keeps the 4,096 responses that were used last, over a restart too", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const CAPACITY = 4_096;
    let journal = openJournal({ path });
    const acceptMany = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, n) =>
          journal.accept(newTurn(`r${from + n}`), { response: facts("me", from + n) })),
      );
    await acceptMany(0, CAPACITY);
    // Used now, so the next oldest go in its place.
    assertEquals(journal.responses.find("r0", "me")?.turnId, "r0");
    await acceptMany(CAPACITY, CAPACITY + 2);
    const isThere = (n: number) => journal.responses.find(`r${n}`, "me") !== undefined;
    assertEquals([0, 1, 2, 3, CAPACITY + 1].map(isThere), [true, false, false, true, true]);
    await journal.close();

    // In the order of use: 4 …, then 0, 3 and the newest, which were looked at.
    journal = openJournal({ path });
    await acceptMany(CAPACITY + 2, CAPACITY + 4);
    assertEquals([0, 3, 4, 5, 6].map(isThere), [true, true, false, false, true]);
    await journal.close();
    const db = openDatabase(path, MIGRATIONS);
    assertEquals(db.prepare("SELECT count(*) AS n FROM responses").get()!.n, CAPACITY);
    db.close();
  }));

Deno.test("accept() lets none go for entries that went with a session or an undone batch", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const db = openDatabase(path, MIGRATIONS);
    db.exec(`CREATE TRIGGER failing BEFORE INSERT ON turns WHEN new.id LIKE 'failing%'
      BEGIN SELECT RAISE(ABORT, 'no'); END`);
    db.close();
    const journal = openJournal({ path });
    const acceptMany = (prefix: string, count: number) =>
      Promise.allSettled(
        Array.from({ length: count }, (_, n) =>
          journal.accept(newTurn(`${prefix}${n}`, { sessionKey: `test:${prefix}` }), {
            response: facts(),
          })),
      );
    await acceptMany("kept", 4_096 - 10);
    await acceptMany("gone", 10);
    await Promise.all(Array.from({ length: 10 }, (_, n) => journal.end(`gone${n}`, ending())));
    await journal.deleteSession("test:gone");
    const isThere = (id: string) => journal.responses.find(id, "me") !== undefined;
    await acceptMany("first", 1);
    assertEquals(isThere("kept0"), true);
    for (let n = 0; n < 5; n++) {
      // One batch: it is undone by the second, and the first is done again.
      const [done, failed] = await Promise.all([
        acceptMany(`next${n}-`, 1),
        acceptMany(`failing${n}-`, 1),
      ]);
      assertEquals([done[0]!.status, failed[0]!.status], ["fulfilled", "rejected"]);
    }
    await acceptMany("last", 4);
    assertEquals(["kept2", "next4-0", "last3"].map(isThere), [true, true, true]);
    await acceptMany("more", 1);
    assertEquals(["kept1", "kept3"].map(isThere), [false, true]);
    await journal.close();
  }));

Deno.test("find() writes the use down unless the entry is the newest already", async () => {
  let flush: (() => void) | undefined;
  const journal = openJournal({ path: ":memory:", schedule: (asked) => flush = asked });
  const done = <T>(promise: Promise<T>) => (flush?.(), promise);
  for (const id of ["a", "b"]) {
    const accepted = journal.accept(newTurn(id), { response: facts() });
    await done(accepted);
  }
  journal.responses.find("b", "me");
  journal.responses.find("a", "you");
  assertEquals(journal.counts().pendingWrites, 0);
  journal.responses.find("a", "me");
  assertEquals(journal.counts().pendingWrites, 1);
  flush!();
  journal.responses.find("a", "me");
  assertEquals(journal.counts().pendingWrites, 0);
  await journal.close();
});

Deno.test("find() does not fail because its use cannot be written down", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const db = openDatabase(path, MIGRATIONS);
    db.exec(
      `CREATE TRIGGER full BEFORE UPDATE ON responses BEGIN SELECT RAISE(ABORT, 'full'); END`,
    );
    db.close();
    const journal = openJournal({ path });
    await respond(journal, "a");
    await respond(journal, "b");
    assertEquals(journal.responses.find("a", "me")?.turnId, "a");
    // After it in the batch, so its failure has been seen by then.
    assertEquals(await journal.responses.remove("b", "me"), true);
    await journal.close();
  }));

Deno.test("accept() refuses a response that cannot be kept", async () => {
  const journal = openJournal({ path: ":memory:" });
  const noCredential = journal.accept(newTurn("a"), { response: facts("") });
  const error = await assertRejects(() => noCredential, ServiceError);
  assertEquals([error.code, error.details.param], ["invalid_request", "credential"]);
  const response = { credential: "me", request: { n: 1n } };
  await assertRejects(() => journal.accept(newTurn("a"), { response }), TypeError);
  assertEquals(journal.turn("a"), undefined);
  await journal.close();
});

type Step =
  | { does: "insert" | "find" | "remove"; turn: number }
  /** A batch that is undone, or rows that went with their turns. */
  | { does: "undone" | "forget" };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constantFrom("insert" as const, "find" as const, "remove" as const),
      turn: fc.integer({ min: 1, max: 8 }),
    }),
  },
  fc.record({ does: fc.constantFrom("undone" as const, "forget" as const) }),
);

Deno.test("createResponseIndex() lets the least recently used go, whatever was done before", () => {
  const CAPACITY = 3;
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const db = openDatabase(":memory:", MIGRATIONS);
      db.exec(
        `INSERT INTO sessions (id, key, title, created_at, updated_at, turns) VALUES (1, 'test:a', '', 0, 0, 8)`,
      );
      for (let turn = 1; turn <= 8; turn++) {
        db.exec(`INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts,
          after_seq, accepted_at) VALUES (${turn}, 't${turn}', 1, 'test', 'test', 0, 'done', 1, 0, 0)`);
      }
      const index = createResponseIndex(db, CAPACITY);
      /** Turns, the least recently used first. */
      let expected: number[] = [];
      for (const step of steps) {
        switch (step.does) {
          case "insert":
            if (expected.includes(step.turn)) break;
            index.insert(step.turn, "me", "{}");
            expected = [...expected, step.turn].slice(-CAPACITY);
            break;
          case "find": {
            const found = index.find(`t${step.turn}`, "me");
            assertEquals(found?.turn, expected.find((turn) => turn === step.turn));
            if (found === undefined) break;
            assertEquals(found.newest, expected.at(-1) === step.turn);
            index.touch(step.turn);
            expected = [...expected.filter((turn) => turn !== step.turn), step.turn];
            break;
          }
          case "remove":
            assertEquals(index.remove(`t${step.turn}`, "me"), expected.includes(step.turn));
            expected = expected.filter((turn) => turn !== step.turn);
            break;
          case "undone":
            db.exec("BEGIN");
            if (!expected.includes(1)) index.insert(1, "me", "{}");
            index.remove("t2", "me");
            db.exec("ROLLBACK");
            index.forget();
            break;
          case "forget":
            db.exec("DELETE FROM responses WHERE turn > 6");
            expected = expected.filter((turn) => turn <= 6);
            index.forget();
            break;
        }
        const rows = db.prepare("SELECT turn FROM responses ORDER BY used").all();
        assertEquals(rows.map(({ turn }) => turn), expected);
      }
      db.close();
    }),
    { numRuns: rounds(100, 20) },
  );
});

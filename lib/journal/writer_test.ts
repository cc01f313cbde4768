import { assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { ServiceError } from "../base/errors.ts";
import { query } from "./query.ts";
import { Refused, Writer } from "./writer.ts";

/** A writer whose batches end when the test says so. */
function setUp() {
  const db = new DatabaseSync(":memory:");
  db.exec(`CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE rows (id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`);
  const insertRow = query(db, "INSERT INTO rows (id, parent) VALUES (?, ?)");
  const selectIds = query<[number]>(db, "SELECT id FROM rows ORDER BY id");
  const flushes: (() => void)[] = [];
  const clock = fakeClock();
  const writer = new Writer(db, { schedule: (flush) => flushes.push(flush), clock });
  const batches: string[] = [];
  writer.participate({
    beforeCommit: () => {},
    afterCommit: () => batches.push("commit"),
    afterRollback: () => batches.push("rollback"),
  });
  const insert = (id: number, parent: number | null = null) =>
    writer.write("normal", () => {
      insertRow.run(id, parent);
      return id;
    });
  return {
    db,
    clock,
    writer,
    insert,
    batches,
    flushes,
    flush: () => flushes.splice(0).forEach((flush) => flush()),
    ids: () => selectIds.all().map(([id]) => id),
  };
}

Deno.test("write() commits everything of a turn of the event loop at once", async () => {
  const { writer, insert, flush, flushes, batches, ids } = setUp();
  const results = Promise.all([insert(1), insert(2), insert(3)]);
  assertEquals(writer.pending(), 3);
  assertEquals(flushes.length, 1);
  assertEquals(ids(), []);
  flush();
  assertEquals(await results, [1, 2, 3]);
  assertEquals(batches, ["commit"]);
  assertEquals(writer.pending(), 0);
  assertEquals(ids(), [1, 2, 3]);
});

Deno.test("write() has paced ones wait twice as long as the last commit took, and for nothing else", async () => {
  const { writer, clock, insert, flush, flushes, batches } = setUp();
  let tookMs = 3;
  const paced = () => writer.write("paced", () => clock.tick(tookMs));
  const first = paced();
  assertEquals(flushes.length, 1);
  flush();
  await first;
  const [one, two] = [paced(), paced()];
  assertEquals(flushes.length, 0);
  clock.tick(5);
  assertEquals(batches, ["commit"]);
  tookMs = 100;
  clock.tick(1);
  await Promise.all([one, two]);
  assertEquals(batches, ["commit", "commit"]);
  // Another write takes them along, and none is left to a timer.
  const order: string[] = [];
  const before = paced().then(() => order.push("paced"));
  const other = insert(1).then(() => order.push("other"));
  flush();
  await Promise.all([before, other]);
  assertEquals([order, batches.length, clock.timers()], [["paced", "other"], 3, 0]);
  clock.tick(8);
  const alone = paced();
  flush();
  await alone;
  const left = paced();
  writer.close();
  await left;
  assertEquals([batches.length, clock.timers()], [5, 0]);
});

Deno.test("write() resolves by itself when nobody flushes", async () => {
  const db = new DatabaseSync(":memory:");
  assertEquals(await new Writer(db).write("full", () => 7), 7);
});

Deno.test("write() rejects the one that throws, and the others are committed in their order", async () => {
  const { writer, insert, flush, ids } = setUp();
  const order: number[] = [];
  const noted = (id: number) => insert(id).then(() => order.push(id));
  const before = noted(1);
  const failing = writer.write("normal", () => {
    throw new Error("no");
  });
  const twice = insert(1);
  const after = noted(2);
  const checks = Promise.all([
    assertRejects(() => failing, Error, "no"),
    assertRejects(() => twice, Error, "UNIQUE"),
  ]);
  flush();
  await Promise.all([before, after, checks]);
  assertEquals(order, [1, 2]);
  assertEquals(ids(), [1, 2]);
});

Deno.test("write() rejects the one that makes the commit fail, and the others are committed", async () => {
  const { insert, flush, ids } = setUp();
  const good = [insert(1), insert(3)];
  const orphan = insert(2, 99);
  const check = assertRejects(() => orphan, Error, "FOREIGN KEY");
  flush();
  assertEquals(await Promise.all(good), [1, 3]);
  await check;
  assertEquals(ids(), [1, 3]);
});

Deno.test("write() rejects a refused one without undoing the batch", async () => {
  const { writer, insert, flush, batches, ids } = setUp();
  const good = insert(1);
  const refused = writer.write("normal", () => new Refused(new Error("not that")));
  const check = assertRejects(() => refused, Error, "not that");
  flush();
  await Promise.all([good, check]);
  assertEquals(batches, ["commit"]);
  assertEquals(ids(), [1]);
});

Deno.test("write() rejects all with the cause when there can be no transaction", async () => {
  const { db, insert, flush, batches } = setUp();
  const writes = [insert(1), insert(2)];
  const checks = Promise.all(writes.map((write) => assertRejects(() => write, Error)));
  db.exec("BEGIN");
  flush();
  await checks;
  // One attempt for all of them.
  assertEquals(batches, ["rollback"]);
});

Deno.test("write() commits at once when a batch is full, by count or by size", async () => {
  const { writer, insert, flush, batches } = setUp();
  const many = Array.from({ length: 1_500 }, (_, id) => insert(id));
  assertEquals(batches, ["commit"]);
  assertEquals(writer.pending(), 1_500 - 1_024);
  flush();
  await Promise.all(many);
  const large = writer.write("normal", () => {}, 9 * 1024 * 1024);
  assertEquals(writer.pending(), 0);
  await large;
});

Deno.test("write() is on the disk for `full`, and for a batch that has one such", async () => {
  const { db, writer, flush } = setUp();
  const level = () => db.prepare("PRAGMA synchronous").get()!.synchronous as number;
  const seen: number[] = [];
  for (const durabilities of [["normal"], ["normal", "full"], ["full"], ["normal"]] as const) {
    const writes = durabilities.map((durability) => writer.write(durability, level));
    flush();
    seen.push(...await Promise.all(writes));
  }
  const [NORMAL, FULL] = [1, 2];
  assertEquals(seen, [NORMAL, FULL, FULL, FULL, NORMAL]);
});

Deno.test("close() commits what waits and refuses what comes later", async () => {
  const { writer, insert, flush, ids } = setUp();
  const last = insert(1);
  writer.close();
  assertEquals(await last, 1);
  const error = await assertRejects(() => insert(2), ServiceError);
  assertEquals(error.code, "draining");
  flush();
  assertEquals(ids(), [1]);
});

Deno.test("write() waits for the end of the present turn of the event loop and for nothing else", async () => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY)");
  const insert = query(db, "INSERT INTO rows VALUES (NULL)");
  const count = query<[number]>(db, "SELECT count(*) FROM rows");
  const writer = new Writer(db);
  for (let n = 1; n <= 5; n++) {
    const written = writer.write("normal", () => insert.run());
    await Promise.resolve();
    assertEquals(count.get(), [n - 1]);
    // Asked for after the write and called in order, so it comes next in this very turn.
    await new Promise<void>((next) => setImmediate(next));
    assertEquals([count.get(), writer.pending()], [[n], 0]);
    await written;
  }
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { DatabaseSync } from "node:sqlite";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { ServiceError } from "../../base/errors.ts";
import { RetryLaterError } from "../delivery_error.ts";
import type { IntakeStore } from "../../contract/intake_store.ts";
import { openJournal } from "../../journal/open.ts";
import { Intake, type IntakeDeps } from "./intake.ts";
import { MemoryIntake } from "../testing/memory_intake.ts";
import { rounds } from "../../../tests/support/rounds.ts";

/** Hands out what was taken as it comes. */
class Consumer {
  readonly taken: string[] = [];
  readonly #held = new Map<string, PromiseWithResolvers<void>>();
  #changed = Promise.withResolvers<void>();
  failures = new Map<string, Error[]>();

  readonly take = async (text: string, signal: AbortSignal): Promise<void> => {
    const failure = this.failures.get(text)?.shift();
    if (failure !== undefined) throw failure;
    const held = this.#held.get(text);
    if (held !== undefined) {
      await Promise.race([
        held.promise,
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]);
    }
    this.taken.push(text);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  };

  hold(text: string): () => void {
    const held = Promise.withResolvers<void>();
    this.#held.set(text, held);
    return held.resolve;
  }

  async until(count: number): Promise<string[]> {
    while (this.taken.length < count) await this.#changed.promise;
    return this.taken;
  }
}

/** With an intake over a real journal. */
async function withIntake(
  run: (
    world: {
      /** Of this world, unless it is told otherwise; as after a kill where one is open. */
      open: (more?: Partial<IntakeDeps<string>>) => Promise<Intake<string>>;
      consumer: Consumer;
      clock: ReturnType<typeof fakeClock>;
      lines: string[];
      stateDir: string;
      /** How many entries wait. */
      waiting: () => number;
      /** Opens its file beside it. */
      file: <T>(change: (database: DatabaseSync) => T) => T;
    },
  ) => Promise<void>,
): Promise<void> {
  const stateDir = await Deno.makeTempDir();
  const consumer = new Consumer();
  const clock = fakeClock();
  const lines: string[] = [];
  const opened: Intake<string>[] = [];
  const path = `${stateDir}/service.db`;
  const journal = openJournal({ path, now: () => clock.now() });
  const store = journal.intake("irc");
  const file = <T>(change: (database: DatabaseSync) => T): T => {
    using database = new DatabaseSync(path);
    return change(database);
  };
  const log = { warning: (message: string) => void lines.push(message) };
  try {
    await run({
      async open(more = {}) {
        const deps = { store, stateDir, take: consumer.take, clock, log };
        const intake = await Intake.open({ ...deps, ...more });
        opened.push(intake);
        return intake;
      },
      consumer,
      clock,
      lines,
      file,
      stateDir,
      waiting: () => file((db) => Number(db.prepare("SELECT count(*) AS n FROM intake").get()!.n)),
    });
  } finally {
    await Promise.all(opened.map((intake) => intake.close()));
    await journal.close();
    await Deno.remove(stateDir, { recursive: true });
  }
}

async function untilEmpty(waiting: () => number): Promise<void> {
  while (waiting() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

const entry = (lane: string, id: string) => ({ lane, id, data: `${lane}${id}` });

Deno.test("add() keeps messages and cursors for the process after one that was killed (W1)", () =>
  withIntake(async ({ open, consumer, waiting }) => {
    const first = await open();
    await first.add([entry("a", "1"), entry("a", "2"), entry("b", "1")], { offset: "7" });
    // Never closed, as after a kill.
    const second = await open();
    assertEquals(second.cursor("offset"), "7");
    assertEquals(second.cursor("other"), undefined);
    second.start();
    assertEquals((await consumer.until(3)).toSorted(), ["a1", "a2", "b1"]);
    await untilEmpty(waiting);
  }));

Deno.test("a lane that is held up holds up no other, however much waits in it", () =>
  withIntake(async ({ open, consumer }) => {
    const intake = await open();
    const release = consumer.hold("a0");
    intake.start();
    await intake.add(Array.from({ length: 500 }, (_, at) => entry("a", String(at))));
    await intake.add([entry("b", "1")]);
    assertEquals(await consumer.until(1), ["b1"]);
    release();
    await consumer.until(501);
    assertEquals(consumer.taken.slice(1), Array.from({ length: 500 }, (_, at) => `a${at}`));
  }));

Deno.test("an edit is no repeat of its message, and the same edit is", () =>
  withIntake(async ({ open, consumer, waiting }) => {
    const intake = await open();
    const about = { lane: "a", id: "1" };
    const edit = { ...about, editedAt: 7, data: "new" };
    await intake.add([{ ...about, data: "old" }, edit, edit, { ...edit, editedAt: 8 }]);
    assertEquals(waiting(), 3);
    intake.start();
    assertEquals(await consumer.until(3), ["old", "new", "new"]);
  }));

Deno.test("an id that waits already is a repeat in its lane alone (W2)", () =>
  withIntake(async ({ open, consumer, waiting }) => {
    const intake = await open();
    await intake.add([entry("a", "1"), entry("a", "1"), entry("b", "1")]);
    await intake.add([{ lane: "a", id: "1", data: "another" }]);
    assertEquals(waiting(), 2);
    intake.start();
    assertEquals((await consumer.until(2)).toSorted(), ["a1", "b1"]);
  }));

Deno.test("what cannot be taken is tried again after 1, 2, 4 … 60 s, and its lane alone waits", () =>
  withIntake(async ({ open, consumer, clock, lines }) => {
    consumer.failures.set("a1", Array.from({ length: 8 }, () => new Error("the disk is full")));
    const intake = await open();
    intake.start();
    await intake.add([entry("a", "1"), entry("a", "2")]);
    for (const [index, waitS] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      while (lines.length <= index) await new Promise((resolve) => setTimeout(resolve, 0));
      await intake.add([entry("b", String(index))]);
      await consumer.until(index + 1);
      clock.tick(waitS * 1_000 - 1);
      assertEquals(clock.timers(), 1);
      clock.tick(1);
    }
    await consumer.until(10);
    assertEquals(consumer.taken.slice(-2), ["a1", "a2"]);
  }));

Deno.test("what cannot be taken is tried again no sooner than the platform says", () =>
  withIntake(async ({ open, consumer, clock, lines }) => {
    consumer.failures.set("a1", [new RetryLaterError("busy", 7_000)]);
    const intake = await open();
    intake.start();
    await intake.add([entry("a", "1")]);
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    clock.tick(6_999);
    assertEquals(clock.timers(), 1);
    clock.tick(1);
    assertEquals(await consumer.until(1), ["a1"]);
  }));

Deno.test("what no repeat mends is logged and dropped, and the next is taken", () =>
  withIntake(async ({ open, consumer, lines }) => {
    consumer.failures.set("a1", [new ServiceError("invalid_request", "content is a number")]);
    const intake = await open();
    intake.start();
    await intake.add([entry("a", "1"), entry("a", "2")]);
    assertEquals(await consumer.until(1), ["a2"]);
    assertEquals(lines, ["A message cannot be taken, and is dropped"]);
  }));

Deno.test("close() ends what is being taken, and leaves it for the next", () =>
  withIntake(async ({ open, consumer, waiting }) => {
    consumer.hold("a1");
    const first = await open();
    first.start();
    await first.add([entry("a", "1"), entry("b", "1")]);
    await consumer.until(1);
    await first.close();
    await first.close();
    await assertRejects(() => first.add([entry("a", "2")]), DOMException);
    const second = await open({ take: (text) => Promise.resolve(void consumer.taken.push(text)) });
    second.start();
    await untilEmpty(waiting);
    assertEquals(consumer.taken, ["b1", "a1"]);
  }));

Deno.test("add() leaves out what is too long, and takes what stands beside it", () =>
  withIntake(async ({ open, lines, waiting }) => {
    const intake = await open({ limits: { maxEntryChars: 10 } });
    const long = { lane: "a", id: "2", data: "x".repeat(9) };
    await intake.add([entry("a", "1"), long], { offset: "2" });
    assertEquals([waiting(), intake.cursor("offset")], [1, "2"]);
    assertEquals(lines, ["A message is too long to be taken, and is left out"]);
  }));

Deno.test("a message that cannot be taken lets its chat go on after a quarter of an hour", () =>
  withIntake(async ({ open, consumer, clock, lines, waiting }) => {
    const notes: string[] = [];
    const note = (text: string) => void notes.push(text);
    consumer.failures.set("a1", Array.from({ length: 80 }, () => new Error("no such file")));
    const intake = await open({ note });
    await intake.add([entry("a", "1"), entry("a", "2")]);
    intake.start();
    const failed = async (waitMs: number, until: () => boolean) => {
      while (!until()) {
        const { length } = lines;
        clock.tick(waitMs);
        while (lines.length === length && !until()) {
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      }
    };
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    await failed(60_000, () => consumer.taken.length > 0);
    assertEquals([consumer.taken, clock.elapsed()], [["a2"], 15 * 60_000]);
    assertEquals(notes, ["", "1 message could not be taken so far, the log says why"]);
    while (waiting() > 1) await new Promise((resolve) => setTimeout(resolve, 0));
    await intake.close();

    // A restart tries it again, and knows what it is.
    const second = await open({ note });
    second.start();
    assertEquals(notes.at(-1), "1 message could not be taken so far, the log says why");
    await failed(12 * 60 * 60_000, () => waiting() === 0);
    assertEquals(notes.at(-1), "");
    assertEquals(lines.at(-1), "A message could not be taken for six days, and is dropped");
    assert(clock.elapsed() > 6 * 24 * 60 * 60_000);
    assertEquals(consumer.taken, ["a2"]);
  }));

Deno.test("a message that was set aside is taken when it can be", () =>
  withIntake(async ({ open, consumer, clock, lines, waiting }) => {
    const notes: string[] = [];
    consumer.failures.set("a1", [new Error("away"), new Error("away")]);
    const intake = await open({ note: (text) => void notes.push(text) });
    intake.start();
    await intake.add([entry("a", "1"), entry("a", "2")]);
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    clock.tick(15 * 60_000);
    await consumer.until(1);
    clock.tick(60_000);
    assertEquals(await consumer.until(2), ["a2", "a1"]);
    await untilEmpty(waiting);
    assertEquals(notes.at(-1), "");
  }));

Deno.test("what was taken and cannot be removed is not handed on again, and kills nobody", () =>
  withIntake(async ({ open, consumer, clock, lines, file, waiting }) => {
    const intake = await open();
    file((database) =>
      database.exec(
        `CREATE TRIGGER full BEFORE DELETE ON intake
         BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`,
      )
    );
    intake.start();
    await intake.add([entry("a", "1")]);
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    file((database) => database.exec("DROP TRIGGER full"));
    clock.tick(1_000);
    await untilEmpty(waiting);
    assertEquals(consumer.taken, ["a1"]);
  }));

Deno.test("a message that is damaged on the disk holds up nothing", () =>
  withIntake(async ({ open, consumer, lines, file }) => {
    const intake = await open();
    await intake.add([entry("a", "1"), entry("a", "2")]);
    file((database) => database.exec("UPDATE intake SET data = '{' WHERE id = '1'"));
    intake.start();
    assertEquals(await consumer.until(1), ["a2"]);
    assertEquals(lines, ["A message on the disk is damaged, and is dropped"]);
  }));

Deno.test("start() finds every lane again, whatever stands in its name", () =>
  withIntake(async ({ open, consumer, waiting }) => {
    const first = await open();
    const names = ["a\0b", "a\0c", "\ud800", "a\u0001", "", "'; DROP TABLE entries", "عربي"];
    await first.add(names.map((lane) => ({ lane, id: "\0", data: lane })));
    await first.close();
    const second = await open();
    second.start();
    await consumer.until(names.length);
    assertEquals(consumer.taken.toSorted(), names.toSorted());
    await untilEmpty(waiting);
  }));

Deno.test("no more lanes are taken from at a time than it may", () =>
  withIntake(async ({ open }) => {
    let now = 0;
    let most = 0;
    let total = 0;
    const intake = await open({
      limits: { maxTaking: 3 },
      async take() {
        most = Math.max(most, ++now);
        await Promise.resolve();
        now -= 1;
        total += 1;
      },
    });
    intake.start();
    await intake.add(Array.from({ length: 100 }, (_, at) => entry(`lane ${at % 20}`, String(at))));
    while (total < 100) await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals(most, 3);
  }));

Deno.test("every message is taken once and in its lane's order, however often a process dies", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()), { maxLength: 30 }),
      (steps) =>
        withIntake(async ({ open, consumer, waiting }) => {
          let intake = await open();
          intake.start();
          const counts = [0, 0, 0, 0];
          for (const [lane, dies] of steps) {
            await intake.add([entry(`l${lane}-`, String(counts[lane]!++))]);
            if (!dies) continue;
            await intake.close();
            intake = await open();
            intake.start();
          }
          const total = counts.reduce((sum, count) => sum + count, 0);
          await untilEmpty(waiting);
          const inOrder = [...new Set(consumer.taken)];
          assertEquals(inOrder.length, total);
          for (const [lane, count] of counts.entries()) {
            assertEquals(
              inOrder.filter((text) => text.startsWith(`l${lane}-`)),
              Array.from({ length: count }, (_, at) => `l${lane}-${at}`),
            );
          }
        }),
    ),
    { numRuns: rounds(20) },
  );
});

Deno.test("what comes while something is stored is stored together", () =>
  withIntake(async ({ open, consumer }) => {
    const steps: number[] = [];
    const cursors: object[] = [];
    const store: IntakeStore = {
      ...{ next: () => Promise.resolve(undefined), move: () => Promise.resolve() },
      state: () => Promise.resolve({ lanes: [], cursors: {} }),
      async add(rows, places) {
        steps.push(rows.length);
        cursors.push(places);
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    };
    const intake = await open({ store });
    const adds = Array.from(
      { length: 50 },
      (_, at) => intake.add([entry("a", `${at}`)], { at: `${at}` }),
    );
    await Promise.all(adds);
    assertEquals([steps, intake.cursor("at")], [[1, 49], "49"]);
    // What is too much for one message to the service goes in several, the cursors with the last.
    steps.length = cursors.length = 0;
    const big = (id: string) => ({ lane: "b", id, data: "x".repeat(1_000_000) });
    await intake.add(["1", "2", "3", "4", "5"].map(big), { at: "end" });
    assertEquals([steps, cursors], [[2, 2, 1], [{}, {}, { at: "end" }]]);
    assertEquals(consumer.taken, []);
  }));

Deno.test("add() says what cannot be stored, and what comes later is stored", () =>
  withIntake(async ({ open, consumer, file }) => {
    const intake = await open();
    intake.start();
    file((database) =>
      database.exec(
        `CREATE TRIGGER full BEFORE INSERT ON intake
         BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`,
      )
    );
    await assertRejects(() => intake.add([entry("a", "1")], { at: "1" }), Error, "disk is full");
    assertEquals(intake.cursor("at"), undefined);
    file((database) => database.exec("DROP TRIGGER full"));
    await intake.add([entry("a", "1")], { at: "1" });
    assertEquals([await consumer.until(1), intake.cursor("at")], [["a1"], "1"]);
  }));

Deno.test("close() removes what was taken, no more at a time than may be asked", () =>
  withIntake(async ({ open }) => {
    const store = new MemoryIntake();
    const next = store.next.bind(store);
    let [now, most] = [0, 0];
    store.next = async (...asked) => {
      most = Math.max(most, ++now);
      return await next(...asked).finally(() => now -= 1);
    };
    let taken = 0;
    const all = Promise.withResolvers<void>();
    const intake = await open({
      store,
      limits: { maxTaking: 3 },
      take: () => Promise.resolve(++taken === 50 ? all.resolve() : undefined),
    });
    await intake.add(Array.from({ length: 50 }, (_, at) => entry(`lane ${at}`, "1")));
    intake.start();
    await all.promise;
    await intake.close();
    assertEquals([store.rows, most], [[], 3]);
  }));

Deno.test("close() ends an add() that waits for room", () =>
  withIntake(async ({ open }) => {
    const never = new Promise<void>(() => {});
    const store = new MemoryIntake();
    let calls = 0;
    store.add = () => {
      calls += 1;
      return never;
    };
    const intake = await open({ store });
    const late = ["1", "2"].map((id) =>
      assertRejects(() => intake.add([entry("d", id)]), DOMException)
    );
    await intake.close();
    await Promise.all(late);
    // A second call beside the first would be the channel's end.
    assertEquals(calls, 1);
  }));

/** Files of a channel as the first version and the last have made them. */
const FILES = ["", ", added_at INTEGER NOT NULL DEFAULT 0"].map((column) => `
  PRAGMA journal_mode = WAL;
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL${column},
    UNIQUE (lane, id)
  ) STRICT;
  CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO entries (lane, id, data) VALUES ('a', '1', '"a1"'), ('a\u00015', '2', '"a2"'), ('a', '3', '"a3"');
  INSERT INTO cursors VALUES ('updates', '17');
`);

for (const [index, sql] of FILES.entries()) {
  Deno.test(`Intake.open() brings along what waits in a channel's own file of version ${index}`, () =>
    withIntake(async ({ open, consumer, stateDir, waiting }) => {
      const database = new DatabaseSync(`${stateDir}/intake.sqlite`);
      database.exec(sql);
      database.close();
      await Deno.writeTextFile(`${stateDir}/intake.sqlite.v0`, "a copy");
      const notes: string[] = [];
      // One that is cut off loses nothing, and doubles nothing that still waits.
      const failing = new MemoryIntake();
      failing.fault = new Error("the disk is full");
      await assertRejects(() => open({ store: failing }), Error, "the disk is full");
      const intake = await open({ note: (text) => void notes.push(text) });
      assertEquals([waiting(), intake.cursor("updates")], [3, "17"]);
      assertEquals(
        [...Deno.readDirSync(stateDir)].filter(({ name }) => name.startsWith("intake")),
        [],
      );
      intake.start();
      assertEquals(notes, ["1 message could not be taken so far, the log says why"]);
      assertEquals((await consumer.until(3)).toSorted(), ["a1", "a2", "a3"]);
      assertEquals(consumer.taken.filter((text) => text !== "a2"), ["a1", "a3"]);
      await untilEmpty(waiting);
    }));
}

Deno.test("Intake.open() says what to do with a file that is damaged", () =>
  withIntake(async ({ open, stateDir }) => {
    await Deno.writeTextFile(
      `${stateDir}/intake.sqlite`,
      "no database at all, and a bit longer than that",
    );
    const error = await assertRejects(() => open(), Error, "intake.sqlite: file is not a database");
    assertStringIncludes(error.message, "Move it away");
    assert(Deno.statSync(`${stateDir}/intake.sqlite`).isFile);
  }));

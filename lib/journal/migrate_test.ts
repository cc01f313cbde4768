import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { migrate, type Migration, userVersion } from "../base/migrate.ts";
import { FIXTURES } from "./migrations/testing/fixtures.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { openJournal } from "./open.ts";
import { replay, withFolder } from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";

const STEPS: readonly Migration[] = [
  { version: 1, name: "one", sql: "CREATE TABLE one (a)" },
  { version: 2, name: "two", sql: "ALTER TABLE one ADD COLUMN b DEFAULT 'new'" },
  { version: 3, name: "three", sql: "CREATE TABLE three (a); INSERT INTO three SELECT a FROM one" },
];

function schemaOf(db: DatabaseSync): unknown {
  return db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").all();
}

Deno.test("migrate() goes on from every version and keeps the rows", () => {
  for (let from = 0; from <= STEPS.length; from++) {
    const db = new DatabaseSync(":memory:");
    assertEquals(migrate(db, STEPS.slice(0, from), "x"), 0);
    if (from > 0) db.exec("INSERT INTO one (a) VALUES (7)");
    assertEquals(migrate(db, STEPS, "x"), from);
    assertEquals(userVersion(db), 3);
    if (from > 0) assertEquals(db.prepare("SELECT b FROM one").get()!.b, "new");
    assertEquals(db.prepare("SELECT a FROM three").all().length, from === 1 || from === 2 ? 1 : 0);
    db.close();
  }
});

Deno.test("migrate() stays at the last whole step when one fails", () => {
  const db = new DatabaseSync(":memory:");
  const broken = { version: 2, name: "two", sql: "CREATE TABLE half (a); CREATE TABLE one (a)" };
  const error = assertThrows(() => migrate(db, [STEPS[0]!, broken], "x"), ServiceError);
  assertStringIncludes(error.message, "version 2 (two), it stays at 1");
  assertEquals(userVersion(db), 1);
  assertEquals(db.prepare("SELECT name FROM sqlite_schema").all().map(({ name }) => name), ["one"]);
  assertEquals(migrate(db, STEPS, "x"), 1);
  db.close();
});

Deno.test("migrate() drops a table that others refer to, and refuses a step that leaves them nothing", () => {
  const db = new DatabaseSync(":memory:");
  const start = {
    version: 1,
    name: "one",
    sql: `CREATE TABLE one (id INTEGER PRIMARY KEY);
      CREATE TABLE two (one INTEGER REFERENCES one (id));
      INSERT INTO one VALUES (1); INSERT INTO two VALUES (1)`,
  };
  const anew = "CREATE TABLE new (id INTEGER PRIMARY KEY)";
  const swap = "DROP TABLE one; ALTER TABLE new RENAME TO one";
  const lossy = { version: 2, name: "two", sql: `${anew}; ${swap}` };
  const error = assertThrows(() => migrate(db, [start, lossy], "x"), ServiceError);
  assertStringIncludes(error.message, 'a row of "two"');
  assertEquals(userVersion(db), 1);
  const whole = { ...lossy, sql: `${anew}; INSERT INTO new SELECT id FROM one; ${swap}` };
  assertEquals(migrate(db, [start, whole], "x"), 1);
  assertThrows(() => db.exec("DELETE FROM one"), Error, "FOREIGN KEY");
  db.close();
});

Deno.test("migrate() refuses a version that it does not know and changes nothing", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, STEPS, "x");
  const error = assertThrows(() => migrate(db, STEPS.slice(0, 2), "the file"), ServiceError);
  assertEquals(error.code, "database_newer");
  assertStringIncludes(error.message, `"the file"`);
  assertStringIncludes(error.message, "version 3");
  assertStringIncludes(error.message, "up to 2");
  assertEquals(userVersion(db), 3);
  db.close();
});

Deno.test("MIGRATIONS are numbered without a gap, and every version has a fixture", () => {
  assertEquals(MIGRATIONS.map(({ version }) => version), MIGRATIONS.map((_, index) => index + 1));
  assertEquals(FIXTURES.length, MIGRATIONS.length);
});

/** What came with version 2 and the fixtures hold from then on. */
function assertVersion2(journal: Journal): void {
  const FILE_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
  const FILE_B = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";
  const { id } = journal.session("api:files")!;
  assertEquals(journal.context(id).map(({ message }) => message), [
    { role: "user", parts: [{ type: "image", mediaType: "image/png", data: "AAAA" }] },
    {
      role: "user",
      parts: [
        { type: "image", mediaType: "image/png", file: { sha256: FILE_A, bytes: 1 } },
        {
          type: "document",
          name: "a.txt",
          mediaType: "text/plain",
          file: { sha256: FILE_B, bytes: 1 },
          text: "b",
        },
      ],
    },
  ]);
  assertEquals([FILE_A, FILE_B].map((sha256) => journal.hasFile(sha256)), [true, true]);
  const key = { scope: "someone api:default", key: "key-1", digest: "digest-1" };
  assertEquals(journal.repeated(key)?.id, "turn-1");
  const error = assertThrows(() => journal.repeated({ ...key, digest: "other" }), ServiceError);
  assertEquals(error.code, "idempotency_conflict");
  assertEquals(journal.responses.find("turn-1", "someone"), {
    turnId: "turn-1",
    sessionKey: "api:default",
    credential: "someone",
    request: { store: true, metadata: { n: "1" } },
  });
  assertEquals(journal.outbox(0, 2).map(({ id, content, state }) => [id, content, state]), [
    ["call-1", "hello", "pending"],
    ["call-2", "half \ud83d", "expired"],
  ]);
}

const OWNER = "0123456789abcdef0123456789abcdef";

/** What came with version 4 and the fixtures hold from then on. */
async function assertVersion4(journal: Journal): Promise<void> {
  const key = `websocket:${OWNER}.a`;
  assertEquals(journal.sessions({ limit: 9, owner: OWNER }).map(({ key }) => key), [key]);
  const others = journal.sessions({ limit: 9, owner: null }).map(({ key }) => key);
  assertEquals(others.slice(0, 3), ["api:default", "cli:default", "api:files"]);
  assert(!others.includes(key));
  const { id } = journal.session(key)!;
  assertEquals(journal.history(id, 0, 9).map(({ turnId, message }) => [turnId, message.role]), [
    ["", "assistant"],
  ]);
  assertEquals(await replay(journal, id), [
    { seq: 1, turnId: "", event: { type: "message", text: "The build is done." } },
  ]);
  assertEquals(await journal.say({ id: "said-1", sessionKey: key, text: "again" }), false);
  // It was not closed, and a session of that key was deleted.
  assert(!journal.epoch(key).startsWith("aabbccddeeff."));
  assertEquals(journal.epoch("cli:gone").split(".")[1], "3");
}

/** What came with version 5: what is due, what waits, what runs, and whose turn that is. */
async function assertAutomations(journal: Journal): Promise<void> {
  const { automations } = journal;
  const [a, b] = await automations.list("", 9);
  assertEquals(
    [a!.spec.schedule, a!.revision, a!.missed, a!.overlapped, a!.resultDigest, b!.nextAt],
    [{ every: 3600 }, 2, 4, 3, "result-1", undefined],
  );
  assertEquals((await automations.due(10_801_000, 9)).map(({ id }) => id), ["aut_a"]);
  const [run] = await automations.running(0, 9);
  assertEquals([run!.rowid, run!.turnId, run!.attempts], [2, "turn-6", 2]);
  assertEquals((await automations.ready(2_000, 9)).map(({ key }) => key.key), ["now:r1"]);
  assertEquals(await automations.wakeAt(), 2_000);
  assertEquals((await automations.history("aut_a", 9, 9)).map(({ state }) => state), [
    "running",
    "done",
  ]);
  assertEquals(journal.turn("turn-6")?.automation, {
    id: "aut_a",
    digest: "d1",
    maxSteps: 5,
    tokenBudget: 10_000,
    lastResult: "Nothing new.",
  });
  assertEquals(journal.turn("turn-1")?.automation, undefined);
}

/** What came with version 6: what is known of messages, counts of them, and answers under way. */
function assertDeliveries(journal: Journal): void {
  const { deliveries } = journal;
  const [hello, , , piece] = journal.outbox(0, 9);
  assertEquals(
    [hello!.media, hello!.metadata, hello!.event, hello!.attempts, hello!.notBefore, hello!.error],
    [["/data/a.png"], { message_id: "7" }, { type: "goal_status" }, 2, 3_000, "no answer"],
  );
  assertEquals([piece!.state, piece!.isPiece], ["unknown", true]);
  assertEquals(deliveries.counts("irc.b"), { waiting: 0, unknown: 1, dead: 0 });
  assertEquals(deliveries.turns(0, 9), [{
    rowid: 2,
    turnId: "turn-2",
    sessionId: 1,
    runtimeName: "irc.b",
    chatId: "#a",
    metadata: { message_id: "8" },
    streaming: true,
    seq: 6,
    stream: { streamId: "s2", acked: 2, sending: 4 },
  }]);
}

/** What came with version 7: what is listed, what is only known, and which chats were told. */
function assertMissed({ missed }: Journal): void {
  assertEquals(missed.list(undefined, 0, 9), [
    {
      rowid: 1,
      runtimeName: "irc.b",
      chatId: "#a",
      sentAt: 1_000,
      receivedAt: 4_000,
      senderId: "ann",
      senderName: "Ann",
      content: "hi \ud83d",
      files: ["a.png"],
      metadata: { message_id: "9" },
      messageId: "m9",
      streaming: true,
    },
    {
      rowid: 3,
      runtimeName: "irc.b",
      chatId: "#c",
      sentAt: 800,
      receivedAt: 4_003,
      senderId: "bob",
      content: "long",
      isCut: true,
      files: [],
      streaming: false,
    },
  ]);
  assertEquals([missed.has("name-2"), missed.count("irc.b"), missed.count("irc")], [true, 2, 0]);
  assertEquals(missed.untoldChats(9), [{ runtimeName: "irc.b", chatId: "#a" }]);
}

/** What came with version 3, on rows of any version: what is open and what is forgotten is told apart. */
async function assertForks(journal: Journal, { preset }: { preset?: string }): Promise<void> {
  const { id } = journal.session("api:default")!;
  const page = journal.historyPage(id, { limit: 2 });
  assertEquals(page.messages.map(({ id }) => id), [3, 4]);
  assertEquals([page.userIndex, page.before], [1, 3]);
  const fork = await journal.forkSession({
    sourceKey: "api:default",
    targetKey: "api:fork",
    beforeUserIndex: 2,
  });
  assertEquals([fork.title, fork.turns, fork.lastSeq], ["What is in notes.md?", 1, 0]);
  assertEquals(journal.context(fork.id).map(({ message }) => message), [
    { role: "summary", text: "They read notes." },
  ]);
  await journal.forkSession({
    sourceKey: "cli:default",
    targetKey: "cli:fork",
    beforeUserIndex: 1,
  });
  const failed = journal.session("cli:fork")!;
  assertEquals([journal.history(failed.id, 0, 9).length, journal.context(failed.id)], [1, []]);
  for (const key of ["api:fork", "cli:fork"]) assertEquals(await journal.deleteSession(key), true);
  assertEquals(journal.session("api:files")?.modelPreset, preset);
}

Deno.test("openJournal() reads an image that the first version kept in its input", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const old = new DatabaseSync(path);
    migrate(old, MIGRATIONS.slice(0, 1), path);
    old.exec(FIXTURES[0]!);
    const parts = [{ type: "image", mediaType: "image/png", data: "AAAA" }];
    old.prepare("UPDATE inputs SET parts = ? WHERE turn = 2").run(JSON.stringify(parts));
    old.close();
    const journal = openJournal({ path });
    assertEquals(journal.turn("turn-2")!.input as unknown, parts);
    assertEquals(journal.context(1).at(-1)!.message as unknown, { role: "user", parts });
    await journal.close();
  }));

for (const [index, fixture] of FIXTURES.entries()) {
  const version = index + 1;
  Deno.test(`openJournal() reads a database of version ${version} and goes on in it`, () =>
    withFolder(async (folder) => {
      const path = `${folder}/journal.db`;
      const old = new DatabaseSync(path);
      migrate(old, MIGRATIONS.slice(0, version), path);
      old.exec(fixture);
      old.close();

      const journal = openJournal({ path, now: () => 5_000 });
      assertEquals(
        journal.sessions({ limit: 10 }).map(({ key, title, turns, lastSeq }) => ({
          key,
          title,
          turns,
          lastSeq,
        })),
        [
          { key: "api:default", title: "What is in notes.md?", turns: 2, lastSeq: 8 },
          { key: "cli:default", title: "", turns: 1, lastSeq: 0 },
          ...version < 2 ? [] : [{ key: "api:files", title: "", turns: 2, lastSeq: 0 }],
          ...version < 4
            ? []
            : [{ key: `websocket:${OWNER}.a`, title: "Mine", turns: 0, lastSeq: 1 }],
          ...version < 5
            ? []
            : [{ key: "automation:aut_a", title: "What is new?", turns: 1, lastSeq: 0 }],
        ],
      );
      assertEquals(journal.turn("turn-3")?.error?.code, "provider_error");
      assertEquals(journal.turn("turn-1")?.usage?.inputTokens, 10);
      assertEquals(journal.context(1).map(({ message }) => message), [
        { role: "summary", text: "They read notes." },
        { role: "user", parts: [{ type: "text", text: "And then?" }] },
      ]);
      assertEquals(journal.history(1, 0, 10).length, 4);
      assertEquals((await replay(journal, 1, 1)).slice(0, 2), [
        { seq: 2, turnId: "turn-1", event: { type: "text_delta", streamId: "s1", text: "Two " } },
        { seq: 3, turnId: "turn-1", event: { type: "text_delta", streamId: "s1", text: "lines." } },
      ]);
      if (version >= 2) assertVersion2(journal);
      if (version >= 4) await assertVersion4(journal);
      await assertForks(journal, { preset: version < 3 ? undefined : "fast" });
      if (version >= 5) await assertAutomations(journal);
      const waiting = version < 2 ? 0 : 1;
      assertEquals(journal.deliveries.counts("telegram"), { waiting, unknown: 0, dead: 0 });
      if (version >= 6) assertDeliveries(journal);
      if (version >= 7) assertMissed(journal);
      const [used] = journal.usage(0, 0);
      assertEquals([used!.channel, used!.model, used!.turns], ["api", "local/qwen3", 1]);
      const { usage, models } = journal.turn("turn-1")!;
      // Of turns before version 14 their events tell, which these have only of the start.
      assertEquals(models?.map((each) => each.model), ["local/qwen3"]);
      if (version >= 14) assertEquals(models, [{ model: "local/qwen3", usage: usage! }]);
      assertEquals(journal.session("cli:default")!.pinned, version < 10 ? undefined : true);
      const { interrupted, resume } = await journal.recover();
      assertEquals(interrupted, 0);
      assertEquals(resume.map(({ id, attempts, crashes }) => ({ id, attempts, crashes })), [
        { id: "turn-2", attempts: 1, crashes: 1 },
        ...version < 5 ? [] : [{ id: "turn-6", attempts: 0, crashes: 0 }],
      ]);
      assertEquals((await replay(journal, 1, 5)).map(({ event }) => event), [
        { type: "turn_start", model: "local/qwen3" },
        { type: "text_delta", streamId: "s2", text: "Then \ud83d" },
        { type: "text_delta", streamId: "s2", text: "\ude00" },
        { type: "segment_end", streamId: "s2", resuming: true },
      ]);
      await journal.close();

      const opened = new DatabaseSync(path);
      const fresh = new DatabaseSync(":memory:");
      migrate(fresh, MIGRATIONS, ":memory:");
      assertEquals(schemaOf(opened), schemaOf(fresh));
      assertEquals(opened.prepare("PRAGMA integrity_check").get()!.integrity_check, "ok");
      assertEquals(opened.prepare("PRAGMA foreign_key_check").all(), []);
      opened.close();
      fresh.close();
    }));
}

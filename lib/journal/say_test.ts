import { assert, assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { assertWhole } from "./testing/assert_whole.ts";
import {
  begin,
  crashCopy,
  ending,
  hash,
  newTurn,
  replay,
  requestKey,
  text,
  withFolder,
} from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";

const KEY = "websocket:a";
const DAY_MS = 24 * 60 * 60 * 1_000;

function contextOf(journal: Journal, key = KEY): string[] {
  return journal.context(journal.session(key)!.id).map(({ message }) =>
    message.role === "assistant" ? message.text : message.role
  );
}

Deno.test("say() is event, message of the history and row of the outbox in one", async () => {
  const journal = openJournal({ path: ":memory:" });
  const media = [
    { name: "a.txt", path: `/data/media/${hash("a")}` },
    { name: "b.txt", path: "/elsewhere/b.txt" },
  ];
  const said = { id: "m", sessionKey: KEY, text: "half \ud83d", media, replyTo: "5", turnId: "t" };
  assertEquals(await journal.say(said), true);
  const session = journal.session(KEY)!;
  assertEquals([session.turns, session.title, session.lastSeq], [0, "", 1]);
  const event = { type: "message" as const, text: said.text, media, replyTo: "5" };
  assertEquals(await replay(journal, session.id), [{ seq: 1, turnId: "", event }]);
  assertEquals(journal.history(session.id, 0, 9).map(({ turnId, message }) => [turnId, message]), [
    ["", { role: "assistant", text: said.text, calls: [], media }],
  ]);
  assertEquals(
    journal.outbox(0, 9).map(({ id, turnId, channel, chatId, content, state }) => ({
      id,
      turnId,
      channel,
      chatId,
      content,
      state,
    })),
    [{
      id: "m",
      turnId: "t",
      channel: "websocket",
      chatId: "a",
      content: said.text,
      state: "sent",
    }],
  );
  assert(journal.hasFile(hash("a")));
  await journal.close();
});

Deno.test("W1 say() of one id says it once: twice, at once, after a crash, for 8 days", () =>
  withFolder(async (folder) => {
    let now = 1_000;
    const path = `${folder}/journal.db`;
    const said = { id: "m", sessionKey: KEY, text: "hi" };
    let journal = openJournal({ path, now: () => now });
    const results = await Promise.all(Array.from({ length: 50 }, () => journal.say(said)));
    assertEquals(results.filter((done) => done).length, 1);
    // Another chat does not get it either: the id is one of a message, wherever it was said.
    assertEquals(await journal.say({ ...said, sessionKey: "websocket:b" }), false);
    crashCopy(path, `${folder}/crashed.db`);
    await journal.close();
    journal = openJournal({ path: `${folder}/crashed.db`, now: () => now });
    await journal.recover();
    now += 8 * DAY_MS - 1;
    // Others come and tidy up meanwhile.
    for (let n = 0; n < 5; n++) {
      await journal.say({ ...said, id: `n${n}`, sessionKey: "websocket:c" });
    }
    assertEquals(await journal.say(said), false);
    assertEquals(contextOf(journal), ["hi"]);
    // Old rows go with their 24 hours and 8 days.
    now += DAY_MS + 1;
    for (let n = 5; n < 10; n++) {
      await journal.say({ ...said, id: `n${n}`, sessionKey: "websocket:c" });
    }
    assertEquals(journal.outbox(0, 99).some(({ id }) => id === "m"), false);
    await journal.close();
    assertRows(`${folder}/crashed.db`);
  }));

Deno.test("W1 say() makes of a row that waits a sent one, and of an expired one nothing", async () => {
  let now = 1_000;
  const journal = openJournal({ path: ":memory:", now: () => now });
  const message = { channel: "websocket", chatId: "a", content: "hi" };
  await journal.enqueue({ ...message, id: "expired" });
  now += DAY_MS;
  await journal.enqueue({ ...message, id: "waits" });
  assertEquals(await journal.say({ id: "expired", sessionKey: KEY, text: "hi" }), false);
  assertEquals(await journal.say({ id: "waits", sessionKey: KEY, text: "hi" }), true);
  assertEquals(await journal.say({ id: "waits", sessionKey: KEY, text: "hi" }), false);
  assertEquals(await journal.enqueue({ ...message, id: "waits" }), false);
  assertEquals(journal.outbox(0, 9).map(({ id, state }) => [id, state]), [
    ["expired", "expired"],
    ["waits", "sent"],
  ]);
  assertEquals(contextOf(journal), ["hi"]);
  await journal.close();
});

Deno.test("W5 say() into a turn stands behind it in the context, wherever a crash comes", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    for (const durable of [true, false]) {
      const run = openJournal({ path: `${path}.${durable}` });
      const sessionKey = KEY;
      await begin(run, "t1", { sessionKey, durable });
      await run.append("t1", [text("let me see")]);
      await run.addMessage("t1", {
        role: "assistant",
        text: "let me see",
        calls: [{ callId: "c", tool: "exec", args: {} }],
      }, {
        events: [
          { type: "segment_end", streamId: "s", resuming: true },
          { type: "tool_call", callId: "c", tool: "exec", args: {}, hint: "" },
        ],
      });
      await run.say({ id: "m", sessionKey, text: "meanwhile" });
      assertEquals(contextOf(run), ["user", "let me see"]);
      crashCopy(`${path}.${durable}`, `${path}.crashed`);
      await run.close();

      const journal = openJournal({ path: `${path}.crashed` });
      const { resume } = await journal.recover();
      assertEquals(resume.length, durable ? 1 : 0);
      if (durable) {
        assertEquals(contextOf(journal), ["user", "let me see", "tool"]);
        await journal.start("t1");
        await journal.addMessage("t1", { role: "assistant", text: "done", calls: [] });
        await journal.end("t1", ending());
      }
      assertEquals(contextOf(journal), [
        "user",
        "let me see",
        "tool",
        ...durable ? ["done"] : [],
        "meanwhile",
      ]);
      const { id } = journal.session(KEY)!;
      assertWhole(await replay(journal, id), journal.context(id));
      await journal.close();
      assertRows(`${path}.crashed`);
      for (const suffix of ["", "-wal", "-shm"]) {
        await Deno.remove(`${path}.crashed${suffix}`).catch(() => {});
      }
    }
  }));

Deno.test("say() stands before a turn that only waits, and outlives one that is forgotten", async () => {
  const journal = openJournal({ path: ":memory:" });
  await journal.accept(newTurn("t", { sessionKey: KEY }));
  await journal.say({ id: "1", sessionKey: KEY, text: "before" });
  assertEquals(contextOf(journal), ["before"]);
  await journal.start("t");
  await journal.say({ id: "2", sessionKey: KEY, text: "during" });
  await journal.end("t", ending("failed", true));
  assertEquals(contextOf(journal), ["before", "during"]);
  await journal.newContext(KEY);
  assertEquals(contextOf(journal), []);
  assertEquals(await journal.deleteSession(KEY), true);
  await journal.close();
});

Deno.test("forkSession() takes along what was said from elsewhere, with its files", async () => {
  const freed: string[] = [];
  const journal = openJournal({
    path: ":memory:",
    onFilesFree: (files) => void freed.push(...files),
  });
  const say = (id: string, character: string) =>
    journal.say({
      id,
      sessionKey: KEY,
      text: id,
      media: [{ name: "x", path: `/m/${hash(character)}` }],
    });
  await say("first", "a");
  await begin(journal, "t1", { sessionKey: KEY });
  await say("second", "b");
  await journal.end("t1", ending());
  await begin(journal, "t2", { sessionKey: KEY });
  await say("third", "c");
  await journal.end("t2", ending());
  const fork = await journal.forkSession({
    sourceKey: KEY,
    targetKey: "websocket:fork",
    beforeUserIndex: 1,
  });
  assertEquals(fork.turns, 1);
  assertEquals(contextOf(journal, "websocket:fork"), ["first", "user", "second"]);
  assertEquals(journal.history(fork.id, 0, 9).map(({ turnId }) => turnId === ""), [
    true,
    false,
    true,
  ]);
  await journal.deleteSession(KEY);
  assertEquals(freed, [hash("c")]);
  await journal.deleteSession("websocket:fork");
  assertEquals(freed.toSorted(), [hash("a"), hash("b"), hash("c")]);
  await journal.close();
});

Deno.test("say() refuses what it cannot use, and append() what is for it", async () => {
  const journal = openJournal({ path: ":memory:" });
  const said = { id: "m", sessionKey: KEY, text: "hi" };
  for (
    const wrong of [
      { id: "" },
      { id: "a\0" },
      { sessionKey: "websocket" },
      { sessionKey: ":a" },
      { sessionKey: "websocket:" },
      { text: " \n" },
      { replyTo: "" },
      { turnId: "\ud800" },
    ]
  ) {
    const error = await assertRejects(() => journal.say({ ...said, ...wrong }), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", Object.keys(wrong)[0]]);
  }
  assertEquals(journal.sessions({ limit: 9 }), []);
  await begin(journal, "t");
  await assertRejects(() => journal.append("t", [{ type: "message", text: "x" }]), ServiceError);
  await journal.close();
});

Deno.test("W2 a request key that outlives a cancellation opens no second turn after one", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const outlivesCancel of [true, false]) {
    const id = `t-${outlivesCancel}`;
    const key = { ...requestKey(id), outlivesCancel };
    await journal.accept(newTurn(id), { requestKey: key });
    await journal.end(id, ending("cancelled", true));
    assertEquals(journal.repeated(key)?.id, outlivesCancel ? id : undefined);
  }
  await journal.close();
});

Deno.test("the answer of a turn keeps the files that went out with it, in a fork of the session too", async () => {
  const journal = openJournal({ path: ":memory:" });
  const file = { name: "report.txt", path: `/m/${hash("a")}` };
  await begin(journal, "t1", { sessionKey: KEY });
  await journal.append("t1", [{ type: "files", files: [file] }], "full");
  assertEquals(journal.hasFile(hash("a")), true);
  await journal.addMessage("t1", { role: "assistant", text: "Here", calls: [] });
  await journal.end("t1", ending());
  const answerIn = (key: string) => journal.history(journal.session(key)!.id, 0, 9).at(-1)!.message;
  const answer = { role: "assistant" as const, text: "Here", calls: [], media: [file] };
  assertEquals(answerIn(KEY), answer);
  await journal.forkSession({ sourceKey: KEY, targetKey: "websocket:fork", beforeUserIndex: 1 });
  await journal.deleteSession(KEY);
  assertEquals([answerIn("websocket:fork"), journal.hasFile(hash("a"))], [answer, true]);
  await journal.close();
});

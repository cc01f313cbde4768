import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { Message } from "../contract/messages.ts";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { begin, crashCopy, ending, hash, newTurn, withFiles, withFolder } from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { cpuMs } from "../../tests/support/cpu_ms.ts";

const answer = (text: string): Message => ({ role: "assistant", text, calls: [] });

const messagesOf = (journal: Journal, key: string) =>
  journal.context(journal.session(key)!.id).map(({ message }) => message);

const historyOf = (journal: Journal, key: string) =>
  journal.history(journal.session(key)!.id, 0, 1_000).map(({ message }) => message);

async function say(journal: Journal, id: string): Promise<void> {
  await begin(journal, id);
  await journal.addMessage(id, answer(`to ${id}`));
  await journal.end(id, ending());
}

const fork = (journal: Journal, beforeUserIndex: number, targetKey = "test:fork") =>
  journal.forkSession({ sourceKey: "test:a", targetKey, beforeUserIndex });

Deno.test("forkSession() copies what stands before a message, and the source stays as it was", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const id of ["a", "b", "c"]) await say(journal, id);
  await journal.setModelPreset("test:a", "fast");
  const source = journal.session("test:a")!;
  const before = historyOf(journal, "test:a");
  const made = await fork(journal, 2);
  assertEquals(
    { ...made, id: 0, createdAt: 0, updatedAt: 0 },
    {
      id: 0,
      key: "test:fork",
      title: "input of a",
      modelPreset: "fast",
      createdAt: 0,
      updatedAt: 0,
      turns: 2,
      lastSeq: 0,
    },
  );
  assertEquals(historyOf(journal, "test:fork"), before.slice(0, 4));
  assertEquals(messagesOf(journal, "test:fork"), before.slice(0, 4));
  assertEquals([journal.session("test:a"), historyOf(journal, "test:a")], [source, before]);
  const turns = journal.turns(made.id, 0, 10);
  assertEquals(turns.map(({ status, input }) => [status, input]), [
    ["done", newTurn("a").input],
    ["done", newTurn("b").input],
  ]);
  assertEquals(
    journal.history(made.id, 0, 9).map(({ turnId }) => turnId),
    [turns[0]!.id, turns[0]!.id, turns[1]!.id, turns[1]!.id],
  );
  // It goes on by itself, also when the source is gone, and can be forked again.
  await journal.deleteSession("test:a");
  await begin(journal, "d", { sessionKey: "test:fork" });
  await journal.end("d", ending());
  const again = await journal.forkSession({
    sourceKey: "test:fork",
    targetKey: "test:again",
    beforeUserIndex: 3,
  });
  assertEquals(again.turns, 3);
  assertEquals(historyOf(journal, "test:again"), historyOf(journal, "test:fork"));
  await journal.close();
});

Deno.test("forkSession() takes an index from 0 to the number of messages, and no other", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const id of ["a", "b"]) await say(journal, id);
  const empty = await fork(journal, 0, "test:none");
  assertEquals([empty.title, empty.turns, historyOf(journal, "test:none")], ["", 0, []]);
  await fork(journal, 2, "test:all");
  assertEquals(messagesOf(journal, "test:all"), messagesOf(journal, "test:a"));
  for (const index of [3, -1, 1.5, NaN, 1e308]) {
    const error = await assertRejects(() => fork(journal, index), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", "before_user_index"]);
  }
  await assertRejects(() => fork(journal, 3), ServiceError, "from 0 to 2");
  const taken = await assertRejects(() => fork(journal, 1, "test:all"), ServiceError, "exists");
  assertEquals(taken.details.param, "targetKey");
  const missing = await assertRejects(
    () => journal.forkSession({ sourceKey: "test:x", targetKey: "test:y", beforeUserIndex: 0 }),
    ServiceError,
  );
  assertEquals([missing.code, journal.session("test:y")], ["not_found", undefined]);
  await journal.close();
});

Deno.test("forkSession() of one key at once makes one session", async () => {
  const journal = openJournal({ path: ":memory:" });
  await say(journal, "a");
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => fork(journal, 1)));
  assertEquals(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "rejected"]);
  assertEquals(historyOf(journal, "test:fork").length, 2);
  await journal.close();
});

Deno.test("forkSession() leaves out a turn that runs, and one that was cancelled beside it comes whole", async () => {
  const journal = openJournal({ path: ":memory:" });
  await say(journal, "a");
  await begin(journal, "runs");
  await journal.addMessage("runs", {
    role: "assistant",
    text: "",
    calls: [{ callId: "1", tool: "exec", args: {} }],
  });
  await journal.accept(newTurn("waits"));
  await journal.accept(newTurn("cancelled"));
  await journal.end("cancelled", ending("cancelled", true));
  await fork(journal, 3);
  assertEquals(
    historyOf(journal, "test:fork").map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  assertEquals(messagesOf(journal, "test:fork").length, 2);
  assertEquals(journal.counts().openTurns, 2);
  // The fork has nothing open: it can go.
  assertEquals(await journal.deleteSession("test:fork"), true);
  await journal.close();
});

Deno.test("forkSession() counts the references to files, each session its own", async () => {
  const free: string[] = [];
  const journal = openJournal({ path: ":memory:", onFilesFree: (files) => free.push(...files) });
  for (const [id, files] of [["a", "xy"], ["b", "x"], ["c", "z"]] as const) {
    await begin(journal, id, { input: withFiles(files) });
    await journal.end(id, ending());
  }
  await fork(journal, 2);
  await journal.deleteSession("test:a");
  assertEquals(free, [hash("z")]);
  assertEquals(["x", "y", "z"].map((file) => journal.hasFile(hash(file))), [true, true, false]);
  await journal.deleteSession("test:fork");
  assertEquals(free.sort(), ["x", "y", "z"].map(hash).sort());
  await journal.close();
});

Deno.test("forkSession() is on the disk whole once it resolves", () =>
  withFolder(async (folder) => {
    const journal = openJournal({ path: `${folder}/a.db` });
    for (const id of ["a", "b"]) await say(journal, id);
    const forking = fork(journal, 2);
    crashCopy(`${folder}/a.db`, `${folder}/before.db`);
    await forking;
    crashCopy(`${folder}/a.db`, `${folder}/after.db`);
    await journal.close();
    const before = openJournal({ path: `${folder}/before.db` });
    assertEquals(before.session("test:fork"), undefined);
    await before.close();
    const after = openJournal({ path: `${folder}/after.db` });
    await after.recover();
    assertEquals(historyOf(after, "test:fork").length, 4);
    await after.close();
  }));

type Step = { does: "say" | "compact" | "new"; keep: number; forget: boolean };

const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.constantFrom("say" as const, "say" as const, "compact", "new"),
    keep: fc.nat(5),
    forget: fc.boolean(),
  }),
  { maxLength: 12 },
);

Deno.test("forkSession() gives the context that the model had at that place, whatever came before and after", async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      const journal = openJournal({ path: ":memory:" });
      // What the context was before each message of a person, and in the end.
      const contexts: Message[][] = [];
      const now = () =>
        journal.session("test:a") === undefined ? [] : messagesOf(journal, "test:a");
      for (const [at, { does, keep, forget }] of steps.entries()) {
        if (does === "new") {
          await journal.newContext("test:a");
          continue;
        }
        contexts.push(now());
        const { sessionId } = await begin(journal, `t${at}`);
        if (does === "compact") {
          const ids = journal.context(sessionId).map(({ id }) => id);
          await journal.compact(`t${at}`, `summary ${at}`, ids[keep % ids.length]! + 1);
        }
        await journal.addMessage(`t${at}`, answer(`to t${at}`));
        await journal.end(
          `t${at}`,
          ending(forget ? "failed" : "done", forget),
        );
      }
      if (journal.session("test:a") === undefined) return await journal.close();
      contexts.push(now());
      for (const [index, context] of contexts.entries()) {
        await fork(journal, index, `test:${index}`);
        assertEquals(messagesOf(journal, `test:${index}`), context);
        // A fork of the fork is the same.
        const all = {
          sourceKey: `test:${index}`,
          targetKey: `test:${index}x`,
          beforeUserIndex: index,
        };
        await journal.forkSession(all);
        assertEquals(messagesOf(journal, `test:${index}x`), context);
      }
      await journal.close();
    }),
    { numRuns: rounds(100) },
  );
});

Deno.test("forkSession() of a long session takes a fraction of the time that its turns took", async () => {
  const journal = openJournal({ path: ":memory:" });
  const begun = cpuMs();
  for (let n = 0; n < 1_000; n++) await say(journal, `t${n}`);
  const said = cpuMs();
  await fork(journal, 1_000);
  assert(cpuMs() - said < said - begun);
  assertEquals(journal.history(journal.session("test:fork")!.id, 0, 3_000).length, 2_000);
  await journal.close();
});

Deno.test("accept() makes a session in its folder, which it keeps, and forkSession() gives it to the fork", async () => {
  const journal = openJournal({ path: ":memory:" });
  // Two that begin it at the same moment: one of them would work where it doesn't mean to.
  const both = await Promise.allSettled(
    ["/code", "/other"].map((folder) => journal.accept(newTurn(`in ${folder}`), { folder })),
  );
  assertEquals(both.map(({ status }) => status), ["fulfilled", "rejected"]);
  for (const folder of ["/code", undefined]) {
    await journal.accept(newTurn(`again in ${folder}`), { folder });
    assertEquals(journal.session("test:a")?.folder, "/code");
  }
  await say(journal, "b");
  assertEquals((await fork(journal, 0)).folder, "/code");
  await journal.accept(newTurn("c", { sessionKey: "test:c" }));
  assertEquals("folder" in journal.session("test:c")!, false);
  const error = await assertRejects(
    () => journal.accept(newTurn("c2", { sessionKey: "test:c" }), { folder: "/code" }),
    ServiceError,
    "works in the workspace",
  );
  assertEquals([error.code, error.details.param], ["conflict", "folder"]);
  await journal.close();
});

import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { begin, crashCopy, ending, newTurn, replay, text, withFolder } from "./testing/steps.ts";

const answer = (text: string) => ({ role: "assistant" as const, text, calls: [] });

Deno.test("renameSession() names a session and says so, once", async () => {
  const journal = openJournal({ path: ":memory:" });
  assertEquals(await journal.renameSession("test:a", "None"), undefined);
  await begin(journal, "a");
  const renamed = await journal.renameSession("test:a", " Notes ");
  assertEquals([renamed?.title, renamed?.lastSeq], ["Notes", 2]);
  await journal.renameSession("test:a", "Notes");
  assertEquals(await replay(journal, renamed!.id, 1), [{
    seq: 2,
    turnId: "",
    event: { type: "session_updated", scope: "title", title: "Notes" },
  }]);
  await assertRejects(() => journal.renameSession("test:a", "a\u202eb"), ServiceError, "U+202E");
  // The first message does not name it again.
  await journal.accept(newTurn("b"));
  assertEquals(journal.session("test:a")?.title, "Notes");
  await journal.close();
});

Deno.test("setModelPreset() makes the session, outlives a crash, and says how the session is", () =>
  withFolder(async (folder) => {
    const journal = openJournal({ path: `${folder}/a.db` });
    assertEquals((await journal.setModelPreset("test:a", "fast")).modelPreset, "fast");
    crashCopy(`${folder}/a.db`, `${folder}/b.db`);
    const crashed = openJournal({ path: `${folder}/b.db` });
    assertEquals(crashed.session("test:a")?.modelPreset, "fast");
    await crashed.close();
    const back = await journal.setModelPreset("test:a", undefined);
    assertEquals([back.modelPreset, back.turns, back.lastSeq], [undefined, 0, 2]);
    assertEquals((await journal.setModelPreset("test:a", undefined)).lastSeq, 2);
    assertEquals((await replay(journal, back.id)).map(({ event }) => event), [
      { type: "session_updated", scope: "model", modelPreset: "fast", title: "" },
      { type: "session_updated", scope: "model", title: "" },
    ]);
    await journal.close();
  }));

Deno.test("session_updated between the deltas of a turn keeps numbers and text whole", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { sessionId } = await begin(journal, "a");
  const following = Array.fromAsync(async function* () {
    for await (const stored of journal.follow(sessionId, { afterSeq: 0 })) {
      yield stored;
      if (stored.event.type === "turn_end") return;
    }
  }());
  await journal.append("a", [text("one "), text("two ")]);
  // In one commit with a delta on either side.
  await Promise.all([
    journal.append("a", [text("three ")]),
    journal.renameSession("test:a", "T"),
    journal.append("a", [text("four")]),
  ]);
  await journal.end("a", ending());
  const live = await following;
  assertEquals(live.map(({ seq }) => seq), live.map((_, at) => at + 1));
  assertEquals(await replay(journal, sessionId), live);
  assertEquals(
    live.map(({ event }) => event.type),
    [
      "turn_start",
      "text_delta",
      "text_delta",
      "text_delta",
      "session_updated",
      "text_delta",
      "segment_end",
      "turn_end",
    ],
  );
  await journal.close();
});

Deno.test("recover() after a crash under a turn leaves the numbers whole around a change", () =>
  withFolder(async (folder) => {
    const journal = openJournal({ path: `${folder}/a.db` });
    const { sessionId } = await begin(journal, "a");
    await journal.append("a", [text("one "), text("two ")]);
    await journal.renameSession("test:a", "T");
    await journal.append("a", [text("three")]);
    crashCopy(`${folder}/a.db`, `${folder}/b.db`);
    await journal.close();
    const crashed = openJournal({ path: `${folder}/b.db` });
    assertEquals((await crashed.recover()).interrupted, 1);
    const events = await replay(crashed, sessionId);
    assertEquals(events.map(({ seq }) => seq), events.map((_, at) => at + 1));
    assertEquals(events.map(({ event }) => event.type), [
      "turn_start",
      "text_delta",
      "text_delta",
      "session_updated",
      "text_delta",
      "segment_end",
      "error",
      "turn_end",
    ]);
    // No tool ran: it is forgotten, and a fork forgets it too.
    const fork = { sourceKey: "test:a", targetKey: "test:b", beforeUserIndex: 1 };
    const { id } = await crashed.forkSession(fork);
    assertEquals([crashed.context(sessionId), crashed.context(id)], [[], []]);
    assertEquals(crashed.history(id, 0, 9).map(({ message }) => message.role), ["user"]);
    await crashed.close();
  }));

Deno.test("newContext() keeps what was before on record and out of the context", async () => {
  const journal = openJournal({ path: ":memory:" });
  assertEquals(await journal.newContext("test:a"), undefined);
  const { sessionId } = await begin(journal, "a");
  await journal.addMessage("a", answer("hello"));
  const refused = await assertRejects(() => journal.newContext("test:a"), ServiceError);
  assertEquals([refused.code, journal.context(sessionId).length], ["invalid_request", 2]);
  await journal.end("a", ending());
  await journal.newContext("test:a");
  assertEquals([journal.context(sessionId), journal.contextTokens(sessionId)], [[], 0]);
  assertEquals(journal.history(sessionId, 0, 9).length, 2);
  await journal.newContext("test:a");
  await begin(journal, "b");
  assertEquals(journal.context(sessionId).map(({ turnId }) => turnId), ["b"]);
  assertEquals(journal.contextTokens(sessionId), journal.context(sessionId)[0]!.tokens);
  await journal.close();
});

Deno.test("newContext() refuses a turn that is accepted in the same batch", async () => {
  const journal = openJournal({ path: ":memory:" });
  await journal.accept(newTurn("a"));
  await journal.end("a", ending());
  const [accepted, begun] = await Promise.allSettled([
    journal.accept(newTurn("b")),
    journal.newContext("test:a"),
  ]);
  assertEquals([accepted.status, begun.status], ["fulfilled", "rejected"]);
  await journal.close();
});

Deno.test("historyPage() goes back page by page, whatever is said meanwhile", async () => {
  const journal = openJournal({ path: ":memory:" });
  let sessionId = 0;
  const say = async (id: string) => {
    ({ sessionId } = await begin(journal, id));
    await journal.addMessage(id, answer(`to ${id}`));
    await journal.end(id, ending());
  };
  for (let n = 0; n < 5; n++) await say(`t${n}`);
  await begin(journal, "other", { sessionKey: "test:other" });
  const all = journal.history(sessionId, 0, 100);
  const seen: typeof all = [];
  const indexes: number[] = [];
  for (let before: number | undefined, more = true; more;) {
    const page = journal.historyPage(sessionId, { limit: 3, before });
    seen.unshift(...page.messages);
    indexes.push(page.userIndex);
    before = page.before;
    more = before !== undefined;
    await say(`later${seen.length}`);
  }
  assertEquals(seen, all);
  assertEquals(indexes, [4, 2, 1, 0]);
  assertEquals(journal.historyPage(sessionId, { limit: 3, before: 0 }), {
    messages: [],
    userIndex: 0,
  });
  await journal.close();
});

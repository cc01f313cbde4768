import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "../journal/open.ts";
import { crashCopy, newTurn, replay, withFolder } from "../journal/testing/steps.ts";
import type { Journal } from "../contract/journal.ts";
import { createOutbox, type OutboxDeps } from "./outbox.ts";

const MESSAGE = { id: "m", turnId: "t", channel: "telegram", chatId: "1", content: "hi" };
const OWNER = "ab".repeat(16);

function fakeJournal(enqueue: Journal["enqueue"]): OutboxDeps["journal"] {
  return {
    enqueue,
    outbox: () => [],
    turn: () => undefined,
    append: () => Promise.reject(new Error("nothing is added")),
    requestKeyOf: () => undefined,
    say: () => Promise.reject(new Error("nothing is said")),
    deliveries: { counts: () => ({ waiting: 0, unknown: 0, dead: 0 }) },
  };
}

/** What was said in a session, as its events and its context have it. */
async function saidIn(
  journal: Journal,
  key: string,
): Promise<{ events: string[]; told: string[] }> {
  const session = journal.session(key);
  if (session === undefined) return { events: [], told: [] };
  const events = (await replay(journal, session.id))
    .flatMap(({ event }) => event.type === "message" ? [event.text] : []);
  const told = journal.context(session.id)
    .flatMap(({ message }) => message.role === "assistant" ? [message.text] : []);
  return { events, told };
}

Deno.test("enqueue() puts the message on record and says whether its channel runs", async () => {
  const enabled = new Set(["telegram"]);
  const ids: string[] = [];
  const outbox = createOutbox({
    journal: fakeJournal(({ id }) => Promise.resolve(!ids.includes(id) && ids.push(id) > 0)),
    isEnabled: (channel) => enabled.has(channel),
  });
  assertEquals(await outbox.enqueue(MESSAGE), { repeated: false, channelEnabled: true });
  assertEquals(await outbox.enqueue(MESSAGE), { repeated: true, channelEnabled: true });
  enabled.clear();
  const next = { ...MESSAGE, id: "n" };
  assertEquals(await outbox.enqueue(next), { repeated: false, channelEnabled: false });
  assertEquals(ids, ["m", "n"]);
});

Deno.test("enqueue() wakes the deliveries once the message is on record, and for no repeat", async () => {
  const steps: string[] = [];
  let isNew = true;
  const outbox = createOutbox({
    journal: fakeJournal(({ id }) => {
      steps.push(`on record ${id}`);
      return Promise.resolve(isNew);
    }),
    isEnabled: () => true,
    wake: (runtimeName, chatId) => void steps.push(`wake ${runtimeName} ${chatId}`),
  });
  await outbox.enqueue(MESSAGE);
  isNew = false;
  await outbox.enqueue(MESSAGE);
  assertEquals(steps, ["on record m", "wake telegram 1", "on record m"]);
});

Deno.test("enqueue() judges the channel once the message is on record", async () => {
  let running = true;
  const outbox = createOutbox({
    journal: fakeJournal(() => {
      running = false;
      return Promise.resolve(true);
    }),
    isEnabled: () => running,
  });
  assertEquals((await outbox.enqueue(MESSAGE)).channelEnabled, false);
});

Deno.test("enqueue() rejects with what the journal rejects with", async () => {
  const full = new ServiceError("overloaded", "10,000 messages wait");
  const outbox = createOutbox({
    journal: fakeJournal(() => Promise.reject(full)),
    isEnabled: () => true,
  });
  assertEquals(await assertRejects(() => outbox.enqueue(MESSAGE), ServiceError), full);
});

Deno.test("W1 enqueue() says a message for a chat once, however often and whenever it comes", () =>
  withFolder(async (folder) => {
    let now = 1_000;
    const path = `${folder}/journal.db`;
    const message = { id: "m", channel: "websocket", chatId: "a", content: "The build is done." };
    const first = openJournal({ path, now: () => now });
    const outbox = createOutbox({ journal: first, isEnabled: () => true });
    const results = await Promise.all(Array.from({ length: 20 }, () => outbox.enqueue(message)));
    assertEquals(results.filter(({ repeated }) => !repeated).length, 1);
    crashCopy(path, `${folder}/crashed.db`);
    await first.close();

    for (const path of [`${folder}/journal.db`, `${folder}/crashed.db`]) {
      const journal = openJournal({ path, now: () => now });
      await journal.recover();
      const outbox = createOutbox({ journal, isEnabled: () => true });
      now = 1_000 + 7 * 24 * 3_600_000;
      assertEquals(await outbox.enqueue(message), { repeated: true, channelEnabled: true });
      assertEquals(await outbox.sayWaiting(), 0);
      const text = [message.content];
      assertEquals(await saidIn(journal, "websocket:a"), { events: text, told: text });
      assertEquals(journal.outbox(0, 9).map(({ id, state }) => [id, state]), [["m", "sent"]]);
      await journal.close();
    }
  }));

Deno.test("sayWaiting() says what waited for chats, once, and nothing that has expired", async () => {
  let now = 1_000;
  const journal = openJournal({ path: ":memory:", now: () => now });
  let enabled = false;
  const outbox = createOutbox({ journal, isEnabled: () => enabled });
  const send = (id: string, channel = "websocket") =>
    outbox.enqueue({ id, channel, chatId: "a", content: `from ${id}` });
  await send("old");
  now += 24 * 3_600_000;
  assertEquals(await send("m1"), { repeated: false, channelEnabled: false });
  await send("elsewhere", "telegram");
  await send("m2");
  assertEquals(journal.session("websocket:a"), undefined);
  enabled = true;
  const said = await Promise.all([outbox.sayWaiting(), outbox.sayWaiting(), send("m1")]);
  assertEquals([said[0] + said[1], said[2].repeated ? 0 : 1].reduce((sum, n) => sum + n), 2);
  const texts = ["from m1", "from m2"];
  const found = await saidIn(journal, "websocket:a");
  assertEquals([found.events.toSorted(), found.told.toSorted()], [texts, texts]);
  assertEquals(
    journal.outbox(0, 9).filter(({ state }) => state === "pending").map(({ id }) => id),
    ["elsewhere"],
  );
  await journal.close();
});

Deno.test("enqueue() keeps to the workspace of the turn that sends, and to chats", async () => {
  const journal = openJournal({ path: ":memory:" });
  const outbox = createOutbox({ journal, isEnabled: () => true });
  await journal.accept(newTurn("mine", { sessionKey: `websocket:${OWNER}.a` }));
  await journal.accept(newTurn("ours", { sessionKey: "websocket:a" }));
  const automation = { id: "aut_a", digest: "d", maxSteps: 1, tokenBudget: 1 };
  await journal.accept(newTurn("run", { sessionKey: "automation:aut_a", automation }));
  const send = (id: string, chatId: string, turnId?: string) =>
    outbox.enqueue({ id, turnId, channel: "websocket", chatId, content: id });
  await send("1", "b", "mine");
  await send("2", "b", "ours");
  await send("3", `${OWNER}.c`);
  await send("4", `${OWNER}.c`, "run");
  await send("5", "b", "run");
  for (const [chatId, turnId] of [[`${OWNER}.b`, "ours"], ["a b", "mine"], ["x.b", undefined]]) {
    const error = await assertRejects(() => send("6", chatId!, turnId), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", "chat_id"]);
  }
  assertEquals((await saidIn(journal, `websocket:${OWNER}.b`)).events, ["1"]);
  assertEquals((await saidIn(journal, "websocket:b")).events, ["2", "5"]);
  assertEquals((await saidIn(journal, `websocket:${OWNER}.c`)).events, ["3", "4"]);
  await journal.close();
});

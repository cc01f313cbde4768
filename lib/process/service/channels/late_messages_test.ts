import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type FakeClock, fakeClock } from "../../../agent/testing/fake_clock.ts";
import { type TestAgent, testAgent } from "../../../agent/testing/test_agent.ts";
import type { InboundMessage, Published } from "../../../contract/inbound_message.ts";
import { testSpec } from "../../../delivery/manager/testing/channel_world.ts";
import { ServiceError } from "../../../base/errors.ts";
import { fakeDocuments } from "../../../http/testing/fake_documents.ts";
import { openJournal } from "../../../journal/open.ts";
import { withFolder } from "../../../journal/testing/steps.ts";
import type { Journal } from "../../../contract/journal.ts";
import type { Scrubber } from "../../../secrets/scrubber.ts";
import { answerMissed } from "./answer_missed.ts";
import { createInbound } from "./create_inbound.ts";
import type { Inbound } from "./inbound.ts";
import { LateMessages, missedWords } from "./late_messages.ts";

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SPEC = testSpec("irc.work", { senderVerified: true, catchUpS: 86_400 });
const clean = (text: string) => text.replaceAll("hunter2hunter2", "[secret]");
const scrubber = { text: clean, value: (value: unknown) => value } as unknown as Scrubber;

interface World {
  agent: TestAgent;
  clock: FakeClock;
  late: LateMessages;
  inbound: Inbound;
  /** Chats that are woken. */
  woken: string[];
  publish(changes?: Partial<InboundMessage>): Promise<Published>;
  /** Lets time pass, and what is due then come to its end. */
  pass(ms: number): Promise<void>;
  /** Texts of the outbox. */
  texts(): string[];
}

function world({ journal, clock = fakeClock() }: { journal: Journal; clock?: FakeClock }): World {
  const agent = testAgent({ journal, scrubber, idPrefix: crypto.randomUUID() });
  const woken: string[] = [];
  const deliveries = {
    follow: () => {},
    wake: (name: string, chatId?: string) => void woken.push(`${name} ${chatId}`),
  };
  const shared = { deliveries, scrub: clean, randomId: () => crypto.randomUUID() };
  const late = new LateMessages({
    ...shared,
    missed: journal.missed,
    clock,
    log: { info: () => {}, warning: () => {} },
  });
  const inbound = createInbound({
    ...shared,
    turns: agent.turns,
    journal,
    late,
    documents: fakeDocuments,
    dataDir: "/data",
    log: { warning: () => {} },
  });
  return {
    agent,
    clock,
    late,
    inbound,
    woken,
    publish: (changes = {}) =>
      inbound(
        SPEC,
        {
          senderId: "ann",
          chatId: "#a",
          content: "hello",
          streaming: false,
          sentAt: clock.now() - 2 * DAY_MS,
          ...changes,
        },
        NEVER,
      ),
    async pass(ms) {
      clock.tick(ms);
      // A write of the journal comes after whatever was asked before it.
      await journal.deliveries.tidy();
      await journal.deliveries.tidy();
    },
    texts: () => journal.outbox(0, 99).map(({ content }) => content),
  };
}

Deno.test("a message that is older than catchUpS is listed once and not answered, also after a restart", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const clock = fakeClock();
    let journal = openJournal({ path, now: clock.now });
    const first = world({ journal, clock });
    const sentAt = clock.now() - DAY_MS - 1;
    const message = {
      messageId: "m1",
      sentAt,
      senderName: "Ann",
      content: "the key is hunter2hunter2\ud83d",
      media: ["/data/channels/irc.work/in/a.png"],
      metadata: { message_id: "1" },
    };
    const late = await Promise.all(Array.from({ length: 3 }, () => first.publish(message)));
    assertEquals(late, Array.from({ length: 3 }, () => ({ kind: "late" })));
    const receivedAt = clock.now();
    const row = {
      rowid: 1,
      runtimeName: "irc.work",
      chatId: "#a",
      senderId: "ann",
      senderName: "Ann",
      content: "the key is [secret]\ufffd",
      files: ["a.png"],
      metadata: { message_id: "1" },
      messageId: "m1",
      streaming: false,
      sentAt,
      receivedAt,
    };
    assertEquals(journal.missed.list("irc.work", 0, 9), [row]);
    assertEquals([journal.sessions({ limit: 9 }), journal.outbox(0, 9)], [[], []]);
    first.late.stop();
    await journal.close();

    clock.tick(6 * DAY_MS);
    journal = openJournal({ path, now: clock.now });
    const again = world({ journal, clock });
    assertEquals(await again.publish({ ...message, content: "edited" }), { kind: "late" });
    assertEquals(journal.missed.list("irc.work", 0, 9), [row]);
    // What is known to be late stays so, even where more time is given by now.
    const month = { ...SPEC, catchUpS: 2_592_000 };
    const base = { senderId: "ann", chatId: "#a", streaming: false };
    assertEquals(await again.inbound(month, { ...base, ...message, media: [] }, NEVER), {
      kind: "late",
    });
    // The chat that was not told before the restart is told after it.
    await again.pass(15_000);
    assertEquals(again.texts().length, 1);
    again.late.stop();
    await journal.close();
  }));

Deno.test("a message in time, one without a time and one of the future are answered", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { clock, publish, agent } = world({ journal });
  const times = [clock.now() - DAY_MS, undefined, clock.now() + DAY_MS];
  for (const [at, sentAt] of times.entries()) {
    assertEquals((await publish({ sentAt, messageId: `m${at}` })).kind, "turn");
  }
  // One that was in time, and comes again when it is not, has its turn.
  clock.tick(DAY_MS);
  const repeat = await publish({ sentAt: times[0]!, messageId: "m0" });
  assert(repeat.kind === "turn" && repeat.repeated);
  assertEquals(journal.missed.list(undefined, 0, 9), []);
  await agent[Symbol.asyncDispose]();
});

Deno.test("a command that comes too late does nothing", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { publish, agent } = world({ journal });
  assertEquals(await publish({ content: "/stop", messageId: "m1" }), { kind: "late" });
  assertEquals(await publish({ content: "/approve 1 12345678" }), { kind: "late" });
  assertEquals([journal.missed.count("irc.work"), journal.outbox(0, 9)], [2, []]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("a chat is told once of what came too late, when nothing more comes", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { clock, publish, pass, texts, woken, late, agent } = world({ journal });
  const sentAt = clock.now() - 3 * DAY_MS;
  await publish({ sentAt, messageId: "1" });
  await publish({ chatId: "#b", messageId: "1" });
  await pass(14_000);
  await publish({ messageId: "2" });
  await pass(14_000);
  // That of #b, of which nothing more has come.
  assertEquals([texts().length, woken], [1, ["irc.work #b"]]);
  assertStringIncludes(texts()[0]!, "A message that came while I was away (from ");
  await pass(1_000);
  assertEquals(texts()[1], missedWords(2, sentAt));
  assertEquals(
    texts()[1]!.slice(0, 60),
    "2 messages that came while I was away (the oldest from 2026-",
  );
  assertEquals(woken, ["irc.work #b", "irc.work #a"]);
  // What trickles in within the hour is listed, and the chat knows already.
  await publish({ messageId: "3" });
  await pass(30_000);
  assertEquals([texts().length, journal.missed.count("irc.work")], [2, 4]);
  late.stop();
  await agent[Symbol.asyncDispose]();
});

Deno.test("a chat in which it does not stop is told after two minutes", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { publish, pass, texts, late, agent } = world({ journal });
  for (let at = 0; at < 11; at++) {
    await publish({ messageId: `${at}` });
    await pass(10_000);
  }
  assertEquals(texts(), []);
  await publish({ messageId: "last" });
  await pass(10_000);
  assertEquals(texts().length, 1);
  assertStringIncludes(texts()[0]!, "12 messages");
  late.stop();
  await agent[Symbol.asyncDispose]();
});

Deno.test("answerMissed() has a listed message answered as if it had just come, once", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { publish, inbound, late, agent } = world({ journal });
  const message = {
    messageId: "m1",
    content: "",
    parts: [
      { text: "see https://evil.example", provenance: "forwarded" as const, from: "Bob" },
      { text: "and now?" },
    ],
    media: ["/data/channels/irc.work/in/a.png"],
    metadata: { thread: "t" },
  };
  await publish(message);
  await publish({ messageId: "m2", content: "x".repeat(9_000) });
  const answer = (rowid: number, specs = [SPEC]) =>
    answerMissed(journal.missed.find(rowid)!, {
      missed: journal.missed,
      specs,
      inbound,
      signal: NEVER,
    });
  const off = [{ ...SPEC, enabled: false }];
  for (
    const [work, code] of [
      [() => answer(1, off), "not_enabled"],
      [() => answer(1, []), "not_enabled"],
      [() => answer(2), "invalid_request"],
    ] as const
  ) assertEquals((await assertRejects(work, ServiceError)).code, code);
  const answered = await answer(1);
  assert(answered.kind === "turn");
  const turn = journal.turn(answered.turnId)!;
  assertEquals([turn.actor, turn.input], ["irc:ann", [
    { type: "text", text: "see https://evil.example", provenance: "forwarded", from: "Bob" },
    { type: "text", text: "and now?" },
    { type: "text", text: "The file a.png came with it and was not kept", provenance: "file" },
  ]]);
  assertEquals(journal.deliveries.turn(turn.id)?.metadata, { thread: "t" });
  assertEquals(journal.missed.list(undefined, 0, 9).map(({ rowid }) => rowid), [2]);
  // The platform gives it again.
  assertEquals(await publish(message), { kind: "turn", turnId: turn.id, repeated: true });
  assertEquals(journal.missed.find(1), undefined);
  late.stop();
  await agent[Symbol.asyncDispose]();
});

import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers";
import type { StoredEvent } from "../../contract/events.ts";
import { calls, hangs, says, scriptedModel } from "../../agent/testing/scripted_model.ts";
import {
  type TestAgent,
  testAgent,
  type TestAgentOptions,
} from "../../agent/testing/test_agent.ts";
import type { ChatMessage, ChatPlace, Chats, Sent } from "../../contract/chats.ts";
import { ServiceError } from "../../base/errors.ts";
import { fakeDocuments } from "../../http/testing/fake_documents.ts";
import { openJournal } from "../../journal/open.ts";
import { withFolder } from "../../journal/testing/steps.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { MEDIA_LIMITS } from "../../contract/wire/envelopes.ts";
import { createChats } from "./chats.ts";

const NEVER = new AbortController().signal;
const ANN = { workspaceKey: "a1".repeat(32) };
const BOB = { workspaceKey: "b2".repeat(32) };
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const KEY = "websocket:a";

const clean = (text: string) => text.replaceAll("hunter2hunter2", "[secret]");
const scrubber = { text: clean, value: (value: unknown) => value } as unknown as Scrubber;

function chatsOf(agent: TestAgent): Chats {
  return createChats({
    turns: agent.turns,
    journal: agent.journal,
    documents: fakeDocuments,
    scrub: clean,
    clock: agent.clock,
  });
}

function world(options: TestAgentOptions = {}): { agent: TestAgent; chats: Chats } {
  const agent = testAgent({ scrubber, ...options });
  return { agent, chats: chatsOf(agent) };
}

function message(text: string, changes: Partial<ChatMessage> = {}): ChatMessage {
  return { chatId: "a", sender: { actor: "websocket:c" }, text, files: [], ...changes };
}

async function send(chats: Chats, asked: ChatMessage): Promise<Extract<Sent, { kind: "turn" }>> {
  const sent = await chats.send(asked, NEVER);
  if (sent.kind !== "turn") throw new Error(`a command: ${sent.text}`);
  return sent;
}

/** Events of a chat up to the end of so many turns. */
async function until(chats: Chats, place: ChatPlace, ends: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of chats.follow(place, { afterSeq: 0 })) {
    events.push(event);
    if (event.event.type === "turn_end" && --ends === 0) break;
  }
  return events;
}

async function refusal(work: Promise<unknown>): Promise<[string, string | undefined]> {
  const { code, details } = await assertRejects(() => work, ServiceError);
  return [code, details.param];
}

Deno.test("send() opens a durable turn that every follower sees alike, whenever it came", async () => {
  const { agent, chats } = world({ model: scriptedModel([says("Good ", "day"), says("Bye")]) });
  assertEquals(chats.head({ chatId: "a" }).seq, 0);
  const followers = [until(chats, { chatId: "a" }, 2)];
  const { turnId, repeated } = await send(chats, message("hello hunter2hunter2"));
  followers.push(until(chats, { chatId: "a" }, 2));
  await until(chats, { chatId: "a" }, 1);
  await send(chats, message("and?"));
  followers.push(until(chats, { chatId: "a" }, 2));
  const [first, ...others] = await Promise.all(followers);
  for (const other of others) assertEquals(other, first);
  assertEquals(first!.map(({ seq }) => seq), first!.map((_, at) => at + 1));
  assertEquals(chats.head({ chatId: "a" }).seq, first!.length);
  const turn = agent.journal.turn(turnId)!;
  assertEquals([repeated, turn.durable, turn.actor, turn.channel, turn.sessionKey], [
    false,
    true,
    "websocket:c",
    "websocket",
    KEY,
  ]);
  assertEquals(agent.journal.session(KEY)!.title, "hello [secret]");
  await agent[Symbol.asyncDispose]();
});

Deno.test("W2 send() of one client_msg_id is one turn: 50 at once, after a restart, a week later", () =>
  withFolder(async (folder) => {
    let now = 1_000;
    const path = `${folder}/journal.db`;
    const asked = message("hello", {
      clientMsgId: "m1",
      files: [{ name: "a.txt", bytes: new TextEncoder().encode("words") }],
    });
    let journal = openJournal({ path, now: () => now });
    const first = world({ journal });
    const sent = await Promise.all(Array.from({ length: 50 }, () => send(first.chats, asked)));
    assertEquals(new Set(sent.map(({ turnId }) => turnId)).size, 1);
    assertEquals(sent.filter(({ repeated }) => !repeated).length, 1);
    await until(first.chats, { chatId: "a" }, 1);
    await journal.close();

    now += 7 * 24 * 3_600_000;
    journal = openJournal({ path, now: () => now });
    const { chats, agent } = world({ journal, idPrefix: "later" });
    assertEquals(await send(chats, asked), { ...sent[0]!, repeated: true });
    assertEquals(journal.session(KEY)!.turns, 1);
    for (
      const change of [{ text: "other" }, { files: [] }, { files: [{ name: "b", bytes: PNG }] }]
    ) {
      assertEquals(await refusal(send(chats, { ...asked, ...change })), [
        "idempotency_conflict",
        "client_msg_id",
      ]);
    }
    for (const clientMsgId of ["", "a\0", "\ud800", "x".repeat(129)]) {
      assertEquals(await refusal(send(chats, { ...asked, clientMsgId })), [
        "invalid_request",
        "client_msg_id",
      ]);
    }
    // In another chat, of that name in another workspace too, it is another message.
    for (const place of [{ chatId: "b" }, ANN, BOB]) {
      assertEquals((await send(chats, { ...asked, ...place })).repeated, false);
    }
    assertEquals(agent.media.held, []);
    await journal.close();
  }));

Deno.test("W2 send() again after the turn was cancelled opens no second one", async () => {
  const { agent, chats } = world({ model: scriptedModel([hangs()]) });
  const asked = message("hello", { clientMsgId: "m1" });
  assertEquals(chats.cancel({ chatId: "a" }), false);
  const { turnId } = await send(chats, asked);
  assertEquals([chats.cancel({ chatId: "b" }), chats.cancel({ chatId: "a", ...ANN })], [
    false,
    false,
  ]);
  assertEquals(chats.cancel({ chatId: "a" }), true);
  const events = await until(chats, { chatId: "a" }, 1);
  const end = events.at(-1)!.event;
  assertEquals(end.type === "turn_end" && end.status, "cancelled");
  assertEquals(await send(chats, asked), { kind: "turn", turnId, repeated: true });
  assertEquals(chats.cancel({ chatId: "a" }), false);
  await agent[Symbol.asyncDispose]();
});

Deno.test("send() answers commands, with the scopes of the sender, and keeps them off the record", async () => {
  const { agent, chats } = world();
  const said = async (text: string, scopes?: string[]) => {
    const sender = { actor: "websocket:c", scopes };
    const sent = await chats.send(message(text, { sender, clientMsgId: "m" }), NEVER);
    return sent.kind === "command" ? sent.text : "";
  };
  assertMatch(await said("/status", ["read"]), /Session: websocket:a/);
  assertMatch(await said("/new", ["read"]), /needs the scope chat/);
  assertEquals(await said("/stop"), "Nothing is running here.");
  assertEquals(agent.journal.sessions({ limit: 9 }), []);
  await agent[Symbol.asyncDispose]();
});

Deno.test("W2 send() of a command again gives the answer of the first time and does nothing", async () => {
  const { agent, chats } = world({ model: scriptedModel([hangs()]) });
  const stop = message("/stop", { clientMsgId: "s1" });
  const first = await Promise.all([chats.send(stop, NEVER), chats.send(stop, NEVER)]);
  const { turnId } = await send(chats, message("hello"));
  assertEquals([await chats.send(stop, NEVER), ...first], Array(3).fill(first[0]));
  assertEquals(agent.journal.turn(turnId)!.endedAt, undefined);
  // Another id is another command, and so is the same one in another chat.
  await chats.send(message("/stop", { clientMsgId: "s1", chatId: "b" }), NEVER);
  assertEquals(agent.journal.turn(turnId)!.endedAt, undefined);
  await chats.send(message("/stop", { clientMsgId: "s2" }), NEVER);
  const ended = (await until(chats, { chatId: "a" }, 1)).at(-1)!.event;
  assert(ended.type === "turn_end" && ended.status === "cancelled");
});

Deno.test("send() takes images and documents; one bad file rejects all and leaves none", async () => {
  const { agent, chats } = world();
  const file = (name: string, text: string | Uint8Array<ArrayBuffer>) => ({
    name,
    bytes: typeof text === "string" ? new TextEncoder().encode(text) : text,
  });
  const good = [file("a.png", PNG), file("b.pdf", "%PDF-1"), file("c.md", "hunter2hunter2")];
  for (
    const [bad, code] of [
      [file("d.pdf", "%PDF-broken"), "unreadable_document"],
      [file("d.bin", new Uint8Array([0, 1, 2])), "unsupported_media_type"],
      [file("d.txt", ""), "invalid_request"],
    ] as const
  ) {
    const refused = await refusal(send(chats, message("see", { files: [...good, bad] })));
    assertEquals(refused, [code, "media[3]"]);
  }
  const { maxFileBytes, maxTotalBytes, maxCount } = MEDIA_LIMITS;
  const large = file("l", new Uint8Array(maxFileBytes));
  assert(maxTotalBytes < 4 * maxFileBytes);
  for (
    const [files, param] of [
      [Array.from({ length: maxCount + 1 }, () => file("a", "a")), "media"],
      [[file("a", "a"), file("l", new Uint8Array(maxFileBytes + 1))], "media[1]"],
      [[large, large, large, file("a", "a")], "media"],
    ] as const
  ) {
    assertEquals(await refusal(send(chats, message("see", { files }))), ["too_large", param]);
  }
  assertEquals([agent.media.files.size, agent.journal.sessions({ limit: 9 })], [0, []]);

  const { turnId } = await send(chats, message("", { files: good }));
  assertEquals(
    agent.journal.turn(turnId)!.input.map((part) =>
      part.type === "document" ? [part.type, part.name, part.text] : [part.type]
    ),
    [["image"], ["document", "b.pdf", "words of a PDF"], ["document", "c.md", "[secret]"]],
  );
  assertEquals([agent.media.files.size, agent.media.held], [3, []]);
  assertEquals((await refusal(send(chats, message(" ")))).at(0), "no_user_message");
  await agent[Symbol.asyncDispose]();
});

Deno.test("send() stops reading files when the connection is gone, and stores nothing", async () => {
  const { agent, chats } = world();
  const gone = new AbortController();
  const files = [{ name: "a.pdf", bytes: new TextEncoder().encode("%PDF-1") }];
  const sent = chats.send(message("see", { files }), gone.signal);
  gone.abort();
  assertEquals((await refusal(sent)).at(0), "turn_cancelled");
  assertEquals([agent.media.files.size, agent.journal.sessions({ limit: 9 })], [0, []]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("join() keeps turns attended; 60 s without a connection they are not, until one is back", async () => {
  const asked: (boolean | undefined)[] = [];
  const steps = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  const { agent, chats } = world({
    model: scriptedModel(Array.from({ length: 5 }, () => calls(["write", {}]))),
    async act({ context }) {
      asked.push(context.attended);
      await steps[asked.length - 1]!.promise;
      return { status: "ok", output: "done" };
    },
  });
  const place = { chatId: "a" };
  const next = async (count: number) => {
    steps[count - 1]!.resolve();
    while (asked.length <= count) await new Promise((resolve) => setImmediate(resolve));
  };
  const [one, two] = [chats.join(place), chats.join(place)];
  const other = chats.join({ ...place, ...ANN });
  await send(chats, message("go"));
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  one();
  one();
  agent.clock.tick(120_000);
  await next(1);
  two();
  agent.clock.tick(59_999);
  await next(2);
  agent.clock.tick(1);
  await next(3);
  const back = chats.join(place);
  await next(4);
  back();
  other();
  assertEquals(asked, [true, true, true, false, true]);
  steps.forEach(({ resolve }) => resolve());
  await until(chats, place, 1);
  await new Promise((resolve) => setImmediate(resolve));
  // Nothing is kept of a chat that nobody is in and where nothing runs.
  agent.clock.tick(60_000);
  assertEquals(agent.clock.timers(), 0);
  await agent[Symbol.asyncDispose]();
});

Deno.test("send() without a connection in the chat counts as 60 s of presence", async () => {
  const asked: (boolean | undefined)[] = [];
  const first = Promise.withResolvers<void>();
  const { agent, chats } = world({
    model: scriptedModel([calls(["write", {}]), calls(["write", {}])]),
    async act({ context }) {
      if (asked.push(context.attended) === 1) await first.promise;
      return { status: "ok", output: "done" };
    },
  });
  await send(chats, message("go"));
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  agent.clock.tick(60_000);
  first.resolve();
  await until(chats, { chatId: "a" }, 1);
  assertEquals(asked, [true, false]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("fork() makes a chat of another's beginning, in the own workspace alone", async () => {
  const { agent, chats } = world();
  for (const [at, text] of ["one", "two"].entries()) {
    await send(chats, message(text, ANN));
    await until(chats, { chatId: "a", ...ANN }, at + 1);
  }
  const fork = (chatId: string, place = ANN, beforeUserIndex = 1, sourceChatId = "a") =>
    chats.fork({ chatId, ...place, sourceChatId, beforeUserIndex });
  await fork("b");
  const forked = agent.journal.session(`websocket:${ANN.workspaceKey.slice(0, 32)}.b`)!;
  assertEquals([forked.turns, forked.lastSeq], [1, 0]);
  assertEquals(chats.head({ chatId: "b", ...ANN }).seq, 0);
  assertEquals(await refusal(fork("b")), ["invalid_request", "chat_id"]);
  assertEquals(await refusal(fork("c", ANN, 9)), ["invalid_request", "before_user_index"]);
  assertEquals(await refusal(fork("c", BOB)), ["not_found", "source_chat_id"]);
  const error = await assertRejects(() => fork("c", ANN, 0, "none"), ServiceError);
  assertEquals(error.message, 'There is no chat "none"');
  assertEquals(await refusal(fork("not a chat")), ["invalid_request", "chat_id"]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("say() puts a message into a chat once, without secrets", async () => {
  const { agent, chats } = world();
  const said = { chatId: "a", id: "m", text: "the key is hunter2hunter2", media: [] };
  await Promise.all([chats.say(said), chats.say(said)]);
  await chats.say(said);
  const { seq, epoch } = chats.head({ chatId: "a" });
  assertEquals(seq, 1);
  for await (const { event } of chats.follow({ chatId: "a" }, { afterSeq: 0 })) {
    assertEquals(event, { type: "message", text: "the key is [secret]" });
    break;
  }
  await agent.journal.deleteSession(KEY);
  assertEquals(chats.head({ chatId: "a" }).seq, 0);
  assertNotEquals(chats.head({ chatId: "a" }).epoch, epoch);
  await agent[Symbol.asyncDispose]();
});

Deno.test("transcribe() says that it is off, or what is said", async () => {
  const { agent, chats } = world();
  assertEquals(
    (await refusal(chats.transcribe("data:audio/wav;base64,", NEVER))).at(0),
    "not_enabled",
  );
  const heard = createChats({
    turns: agent.turns,
    journal: agent.journal,
    documents: fakeDocuments,
    scrub: clean,
    clock: agent.clock,
    transcribe: () => Promise.resolve("hello"),
  });
  assertEquals(await heard.transcribe("data:audio/wav;base64,", NEVER), "hello");
  await agent[Symbol.asyncDispose]();
});

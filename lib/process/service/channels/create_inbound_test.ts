import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { join } from "@std/path";
import { setImmediate } from "node:timers";
import { makePipe } from "../../../../tests/support/make_pipe.ts";
import { hangs, says, scriptedModel } from "../../../agent/testing/scripted_model.ts";
import {
  type TestAgent,
  testAgent,
  type TestAgentOptions,
} from "../../../agent/testing/test_agent.ts";
import type { InboundMessage, Published } from "../../../contract/inbound_message.ts";
import { PublishQueue } from "../../../channel_worker/publish_queue.ts";
import { channelStateDir } from "../../../base/state_dir.ts";
import { ServiceError } from "../../../base/errors.ts";
import { fakeDocuments } from "../../../http/testing/fake_documents.ts";
import { openJournal } from "../../../journal/open.ts";
import { withFolder } from "../../../journal/testing/steps.ts";
import type { Scrubber } from "../../../secrets/scrubber.ts";
import { createInbound, type InboundDeps } from "./create_inbound.ts";
import type { Inbound } from "./inbound.ts";
import { LateMessages } from "./late_messages.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

const NEVER = new AbortController().signal;
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const SPEC = { runtimeName: "irc.work", channel: "irc", senderVerified: true };
const WEEK_MS = 7 * 24 * 3_600_000;

const clean = (text: string) => text.replaceAll("hunter2hunter2", "[secret]");
const scrubber = { text: clean, value: (value: unknown) => value } as unknown as Scrubber;

interface World {
  agent: TestAgent;
  inbound: Inbound;
  /** Turns that are followed, chats that are woken. */
  told: string[];
  publish(changes?: Partial<InboundMessage>, signal?: AbortSignal): Promise<Published>;
}

function world(
  { agent = {}, deps = {}, dataDir = "/nowhere" }: {
    agent?: TestAgentOptions;
    deps?: Partial<InboundDeps>;
    dataDir?: string;
  } = {},
): World {
  const own = testAgent({ scrubber, ...agent });
  const told: string[] = [];
  const deliveries = {
    follow: (turnId: string) => void told.push(`follow ${turnId}`),
    wake: (name: string, chatId?: string) => void told.push(`wake ${name} ${chatId}`),
  };
  const late = new LateMessages({
    missed: own.journal.missed,
    deliveries,
    scrub: clean,
    randomId: () => crypto.randomUUID(),
    clock: own.clock,
    log: { info: () => {}, warning: () => {} },
  });
  const inbound = createInbound({
    turns: own.turns,
    journal: own.journal,
    deliveries,
    late,
    documents: fakeDocuments,
    dataDir,
    scrub: clean,
    randomId: () => crypto.randomUUID(),
    log: { warning: () => {} },
    ...deps,
  });
  const publish = (changes: Partial<InboundMessage> = {}, signal = NEVER) =>
    inbound(SPEC, message(changes), signal);
  return { agent: own, inbound, told, publish };
}

function message(changes: Partial<InboundMessage> = {}): InboundMessage {
  return { senderId: "ann", chatId: "#a", content: "hello", streaming: false, ...changes };
}

function turnOf(published: Published): Extract<Published, { kind: "turn" }> {
  if (published.kind !== "turn") throw new Error(`no turn: ${published.kind}`);
  return published;
}

async function refusal(work: Promise<unknown>): Promise<[string, string | undefined]> {
  const { code, details } = await assertRejects(() => work, ServiceError);
  return [code, details.param];
}

async function settle(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((go) => setImmediate(go));
}

/** Waits until something is so. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await settle(1);
}

Deno.test("a message opens a durable turn, and the journal knows where its answer goes", async () => {
  const { agent, publish, told } = world();
  const metadata = { message_id: 7, thread: ["a"] };
  const published = turnOf(
    await publish({ content: "my key is hunter2hunter2", metadata, streaming: true }),
  );
  assertEquals(published.repeated, false);
  assertEquals(told, [`follow ${published.turnId}`]);
  const turn = agent.journal.turn(published.turnId)!;
  assertEquals(
    [turn.sessionKey, turn.channel, turn.actor, turn.durable, turn.input],
    ["irc.work:#a", "irc", "irc:ann", true, [{ type: "text", text: "my key is [secret]" }]],
  );
  const { runtimeName, chatId, streaming, ...place } = agent.journal.deliveries.turn(turn.id)!;
  assertEquals([runtimeName, chatId, streaming], ["irc.work", "#a", true]);
  assertEquals(place.metadata, metadata);
  await agent[Symbol.asyncDispose]();
});

Deno.test("a message has its own session, and no two chats have one session", async () => {
  const { agent, publish } = world();
  const keyOf = async (changes: Partial<InboundMessage>) =>
    agent.journal.turn(turnOf(await publish(changes)).turnId)!.sessionKey;
  assertEquals(await keyOf({ sessionKey: "irc.work:thread.1" }), "irc.work:thread.1");
  assertEquals(await keyOf({ chatId: "my room" }), "irc.work:my%20room");
  assertEquals(await keyOf({ chatId: "my%20room" }), "irc.work:my%2520room");
  const long = ["a ".repeat(127) + "b", "a ".repeat(127) + "c", "%".repeat(256), "é".repeat(256)];
  const keys = await Promise.all(long.map((chatId) => keyOf({ chatId })));
  assertEquals(new Set(keys).size, long.length);
  for (const key of keys) assert(key.length <= "irc.work:".length + 256, key);
  await agent[Symbol.asyncDispose]();
});

Deno.test("a message that says nothing is refused, and nothing is stored", async () => {
  const { agent, publish, told } = world();
  assertEquals(await refusal(publish({ content: " \n\u200b" })), ["no_user_message", "input"]);
  assertEquals([agent.journal.sessions({ limit: 9 }), told], [[], []]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("(W2) a message that a platform sends again is one turn: 50 at once, after a restart, a week later, edited", () =>
  withFolder(async (folder) => {
    let now = 1_000;
    const path = `${folder}/journal.db`;
    let journal = openJournal({ path, now: () => now });
    const first = world({ agent: { journal } });
    const sent = await Promise.all(
      Array.from(
        { length: 50 },
        (_, at) => first.publish({ messageId: "m1", content: `hello ${at % 3}` }),
      ),
    );
    assertEquals(new Set(sent.map((each) => turnOf(each).turnId)).size, 1);
    assertEquals(sent.filter((each) => !turnOf(each).repeated).length, 1);
    assertEquals(first.told.length, 1);
    const { turnId } = turnOf(sent[0]!);
    await until(() => journal.turn(turnId)!.endedAt !== undefined);
    await journal.close();

    now += WEEK_MS;
    journal = openJournal({ path, now: () => now });
    const later = world({ agent: { journal, idPrefix: "later" } });
    const again: Partial<InboundMessage>[] = [
      { content: "hello 0" },
      { content: "an edit" },
      { content: "/stop" },
      { senderId: "bob", sessionKey: "irc.work:other" },
    ];
    for (const changes of again) {
      assertEquals(await later.publish({ ...changes, messageId: "m1" }), {
        kind: "turn",
        turnId,
        repeated: true,
      });
    }
    assertEquals([later.told, journal.outbox(0, 9)], [[], []]);
    // The id is the platform's in its chat: elsewhere it is another message.
    assertEquals(turnOf(await later.publish({ messageId: "m1", chatId: "#b" })).repeated, false);
    const other = { ...SPEC, runtimeName: "irc" };
    const elsewhere = await later.inbound(other, message({ messageId: "m1" }), NEVER);
    assertEquals(turnOf(elsewhere).repeated, false);
    await journal.close();
  }));

Deno.test("(W2) a message whose turn was cancelled is not answered when it comes again", async () => {
  const { agent, publish } = world({ agent: { model: scriptedModel([hangs()]) } });
  const { turnId } = turnOf(await publish({ messageId: "m1" }));
  await until(() => agent.journal.turn(turnId)!.status === "running");
  await publish({ content: "/stop", messageId: "m2" });
  await until(() => agent.journal.turn(turnId)!.endedAt !== undefined);
  assertEquals(await publish({ messageId: "m1" }), { kind: "turn", turnId, repeated: true });
  await agent[Symbol.asyncDispose]();
});

Deno.test("a command is done and answered once, however often the platform sends it", async () => {
  const { agent, publish, told } = world();
  const metadata = { message_id: 3 };
  const asked = { content: "/status", messageId: "m1", metadata };
  const answers: Published[] = await Promise.all([1, 2, 3].map(() => publish(asked)));
  answers.push(await publish({ ...asked, content: "/help" }), await publish({ messageId: "m1" }));
  assertEquals(answers.map(({ kind }) => kind), Array(5).fill("command"));
  const [row, ...others] = agent.journal.outbox(0, 9);
  assertEquals(others, []);
  assertEquals([row!.channel, row!.chatId, row!.metadata, row!.turnId], [
    "irc.work",
    "#a",
    metadata,
    undefined,
  ]);
  assertMatch(row!.content, /^Model: [^]*Session: irc\.work:#a$/m);
  assertEquals(told, ["wake irc.work #a"]);
  assertEquals(agent.journal.sessions({ limit: 9 }), []);
  // Without an id nothing tells a repeat.
  await publish({ content: "/help" });
  await publish({ content: "/help" });
  assertEquals(agent.journal.outbox(0, 9).length, 3);
  await agent[Symbol.asyncDispose]();
});

Deno.test("a command whose answer finds no room in the outbox is done once all the same", async () => {
  const full = () => Promise.reject(new ServiceError("overloaded", "10,000 wait"));
  const { publish, agent } = world({
    deps: { journal: { enqueue: full, hasMessage: () => false } },
  });
  assertEquals(await publish({ content: "/help", messageId: "m" }), { kind: "command" });
  await agent[Symbol.asyncDispose]();
});

Deno.test("a command that is sent again since its answer could not be kept does nothing to what came since", async () => {
  let fails = true;
  const other = testAgent();
  const model = scriptedModel([hangs(), hangs()]);
  const { publish, agent } = world({
    agent: { model },
    deps: {
      journal: {
        enqueue: async (message) => {
          if (fails) throw new Error("database or disk is full");
          return await other.journal.enqueue(message);
        },
        hasMessage: (id) => other.journal.hasMessage(id),
      },
    },
  });
  const statusOf = (published: Published) => agent.journal.turn(turnOf(published).turnId)!.status;
  const first = await publish({ messageId: "m1" });
  await until(() => model.requests.length === 1);
  await assertRejects(() => publish({ content: "/stop", messageId: "m2" }), Error, "full");
  await until(() => statusOf(first) === "cancelled");
  const second = await publish({ messageId: "m3" });
  await until(() => model.requests.length === 2);
  fails = false;
  for (let again = 0; again < 2; again++) {
    assertEquals(await publish({ content: "/stop", messageId: "m2" }), { kind: "command" });
  }
  await settle();
  assertEquals(statusOf(second), "running");
  assertEquals(other.journal.outbox(0, 9).length, 1);
  await agent[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

Deno.test("/approve and /deny are answers of senders alone whom the channel vouches for", async () => {
  const asked: unknown[] = [];
  const { agent, inbound } = world({
    agent: {
      operate: (...call) => {
        asked.push(call);
        return Promise.resolve({ id: "apr_1", outcome: "approved" });
      },
    },
  });
  const say = (senderVerified: boolean, content: string) =>
    inbound({ ...SPEC, senderVerified }, message({ content }), NEVER);
  await say(false, "/approve apr_1 12345678");
  await say(false, "/deny apr_1 no");
  assertEquals(asked, []);
  await say(true, "/approve apr_1 12345678");
  assertEquals(asked, [[
    { op: "approvals.approve", id: "apr_1", digest: "12345678" },
    { kind: "sender", sender: "irc:ann" },
  ]]);
  const said = agent.journal.outbox(0, 9).map(({ content }) => content);
  assertMatch(
    said[0]!,
    /^Not done: this channel does not prove who writes.* approvals approve ID\.$/,
  );
  assertMatch(said[1]!, /^Not done: this channel does not prove who writes.* approvals deny ID\.$/);
  assertEquals(said[2], "Approved apr_1.");
  await agent[Symbol.asyncDispose]();
});

Deno.test("files of the channel's folder come with the message, and no others", () =>
  withFolder(async (dataDir) => {
    const { agent, publish } = world({ dataDir });
    const folder = channelStateDir(dataDir, SPEC.runtimeName);
    await Deno.mkdir(join(folder, "sub"), { recursive: true });
    const write = async (name: string, bytes: Uint8Array | string) => {
      const path = join(folder, name);
      await Deno.writeFile(
        path,
        typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
      );
      return path;
    };
    const media = [
      await write("a.png", PNG),
      await write("sub/b.pdf", "%PDF-1"),
      await write("c.bin", new Uint8Array([0, 1, 2])),
      await write("d.md", "hunter2hunter2"),
    ];
    const { turnId } = turnOf(await publish({ content: "", media }));
    const parts = agent.journal.turn(turnId)!.input.map((part) =>
      part.type === "image"
        ? part.type
        : part.type === "text"
        ? part.text
        : `${part.name}: ${part.text}`
    );
    assertEquals([parts[0], parts[1], parts[3]], [
      "image",
      "b.pdf: words of a PDF",
      "d.md: [secret]",
    ]);
    assertMatch(parts[2]!, /^c\.bin: \[This file was not taken: .*unknown type\]$/);
    // They are copied: the channel removes its own.
    assertEquals(await Deno.readFile(media[0]!), PNG);

    const outside = join(dataDir, "secret.txt");
    await Deno.writeTextFile(outside, "secret");
    await Deno.symlink(outside, join(folder, "link.txt"));
    await Deno.symlink(dataDir, join(folder, "linked"));
    makePipe(join(folder, "pipe"));
    for (
      const [name, words] of [
        ["link.txt", "leads out of"],
        ["linked/secret.txt", "leads out of"],
        ["sub", "no regular file"],
        ["pipe", "no regular file"],
        ["none.txt", "no such file"],
      ] as const
    ) {
      const path = join(folder, name);
      const error = await assertRejects(() => publish({ media: [media[0]!, path] }), ServiceError);
      assertEquals([error.code, error.details.param], ["invalid_request", "media[1]"]);
      assertStringIncludes(error.message, words);
    }
    assertEquals(agent.journal.session("irc.work:#a")!.turns, 1);
    assertEquals(agent.media.held, []);
    await agent[Symbol.asyncDispose]();
  }));

Deno.test("files beyond the limits are left out and named; the message is taken all the same", () =>
  withFolder(async (dataDir) => {
    const { agent, publish } = world({ dataDir });
    const folder = channelStateDir(dataDir, SPEC.runtimeName);
    await Deno.mkdir(folder, { recursive: true });
    const write = async (name: string, bytes: number) => {
      const path = join(folder, name);
      await Deno.writeFile(path, new Uint8Array(bytes).fill(0x61));
      return path;
    };
    const MIB = 1024 * 1024;
    const media = [
      await write("large.txt", 8 * MIB),
      await write("larger.txt", 8 * MIB + 1),
      await write("large2.txt", 8 * MIB),
      await write("empty.txt", 0),
      await write("fifth.txt", 1),
    ];
    const shown = async (media: string[]) => {
      const { turnId } = turnOf(await publish({ content: "see", media }));
      return agent.journal.turn(turnId)!.input.map((part) =>
        part.type === "document" && part.text.startsWith("[")
          ? `${part.name}: ${part.text}`
          : part.type
      );
    };
    assertEquals(await shown(media), [
      "text",
      "document",
      "larger.txt: [This file was not taken: a file has 8388608 bytes at most]",
      "document",
      'empty.txt: [This file was not taken: media[3] ("empty.txt") is empty]',
      "fifth.txt: [This file was not taken: a message has 4 files at most]",
    ]);
    const [large] = media;
    assertEquals(await shown([large!, large!, large!, media[4]!]), [
      "text",
      "document",
      "document",
      "document",
      "fifth.txt: [This file was not taken: the files of a message have 25165824 bytes at most together]",
    ]);
    assertEquals(agent.media.held, []);
    await agent[Symbol.asyncDispose]();
  }));

Deno.test("(C34) while a session has too much to do its messages wait in order, commands and other chats do not", async () => {
  const { agent, publish, inbound } = world({ agent: { model: scriptedModel([hangs()]) } });
  const accepted: string[] = [];
  const sent = Array.from({ length: 70 }, async (_, at) => {
    const { turnId } = turnOf(await publish({ content: `${at}`, messageId: `m${at}` }));
    accepted.push(`${at}`);
    return turnId;
  });
  await until(() => agent.turns.counts().queued === 64);
  await settle();
  // One runs, 64 wait in the lane; the rest waits where it came from.
  assertEquals(accepted.length, 65);
  const gone = new AbortController();
  const left = publish({ content: "given up", messageId: "gone" }, gone.signal);
  const last = publish({ content: "last", messageId: "last" });
  const repeated = publish({ content: "0", messageId: "m66" });
  assertEquals(turnOf(await publish({ messageId: "m3" })).repeated, true);
  assertEquals(turnOf(await publish({ chatId: "#b" })).repeated, false);
  gone.abort(new ServiceError("draining", "The channel is gone"));
  assertEquals(await refusal(left), ["draining", undefined]);
  assertEquals(accepted.length, 65);
  assertEquals(await inbound(SPEC, message({ content: "/stop" }), NEVER), { kind: "command" });
  const ids = await Promise.all(sent);
  assertEquals(accepted, Array.from({ length: 70 }, (_, at) => `${at}`));
  const { turnId } = turnOf(await last);
  assertEquals(turnOf(await repeated), { kind: "turn", turnId: ids[66]!, repeated: true });
  await until(() => agent.journal.turn(turnId)!.endedAt !== undefined);
  const session = agent.journal.session("irc.work:#a")!;
  const order = agent.journal.turns(session.id, 0, 100).map(({ input }) =>
    input[0]!.type === "text" && input[0]!.text
  );
  assertEquals(order, [...Array.from({ length: 70 }, (_, at) => `${at}`), "last"]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("(C34) while memory is short messages wait for room, and with a service that stops they are refused", async () => {
  const { agent, publish } = world({
    agent: { model: scriptedModel([hangs(), hangs()]), maxInputChars: 100 },
  });
  const first = turnOf(await publish({ content: "x".repeat(90) }));
  const other = publish({ chatId: "#b", content: "y".repeat(20) });
  await settle();
  assertEquals(agent.turns.counts(), { running: 1, queued: 0 });
  assertEquals(agent.turns.cancelRunning("irc.work:#a"), true);
  const { turnId } = turnOf(await other);
  assert(first.turnId !== turnId);
  const late = publish({ chatId: "#c", content: "z".repeat(90) });
  await settle();
  await until(() => agent.turns.isRunning("irc.work:#b"));
  const drained = agent.turns.drain({ graceMs: 0 });
  agent.clock.tick(0);
  await drained;
  assertEquals(await refusal(late), ["draining", undefined]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("(C34) of thousands of messages of one chat none is lost, and another chat is answered in between", async () => {
  // A context that stays small: what is tried here is not how fast a long one is read.
  const { agent, publish } = world({ agent: { agent: { contextTokens: 2_000 } } });
  const queue = new PublishQueue();
  const COUNT = rounds(10_000, 1_200);
  let accepted = 0;
  let mostQueued = 0;
  const flood = Array.from({ length: COUNT }, (_, at) => {
    const content = `message ${at}`;
    return queue.run({ chat: "#a", chars: content.length }, async () => {
      await publish({ content, messageId: `m${at}` });
      accepted += 1;
      mostQueued = Math.max(mostQueued, agent.turns.counts().queued);
    });
  });
  for (let at = 0; at < rounds(20, 5); at++) {
    const before = accepted;
    const { turnId } = turnOf(
      await queue.run({ chat: "#b", chars: 5 }, () => publish({ chatId: "#b" })),
    );
    await until(() => agent.journal.turn(turnId)!.endedAt !== undefined);
    assert(accepted < COUNT, "the flood was over before the other chat had its answers");
    assert(accepted - before < 200, `${accepted - before} of the flood came first`);
  }
  await Promise.all(flood);
  assertEquals([accepted, agent.journal.session("irc.work:#a")!.turns], [COUNT, COUNT]);
  assert(mostQueued <= 66, `${mostQueued} waited in lanes`);
  await agent[Symbol.asyncDispose]();
});

Deno.test("a message that a model answers at once comes with what the journal delivers", async () => {
  const { agent, publish } = world({ agent: { model: scriptedModel([says("Good ", "day")]) } });
  const { turnId } = turnOf(await publish());
  await until(() => agent.journal.turn(turnId)!.endedAt !== undefined);
  assertEquals(agent.journal.deliveries.turns(0, 9).map((each) => each.turnId), [turnId]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("an edit changes a message while it waits, for its sender alone, and nothing once it was begun", async () => {
  const model = scriptedModel([hangs(), says("done")]);
  const { agent, publish } = world({ agent: { model } });
  const edit = (replaces: string, content: string, more: Partial<InboundMessage> = {}) =>
    publish({ messageId: `${replaces}~1`, replaces, content, ...more });
  const [first, second, third] = await Promise.all(
    ["begun", "buy milk", "never mind"].map(async (content, at) =>
      turnOf(await publish({ messageId: `${at + 1}`, content })).turnId
    ),
  );
  const said = (turnId: string) => {
    const { status, input: [part] } = agent.journal.turn(turnId)!;
    return [status, part?.type === "text" && part.text];
  };
  await model.asked(1);
  const nothing: Published = { kind: "edit", counts: false };
  assertEquals(await edit("1", "too late"), nothing);
  assertEquals(await edit("2", "not mine", { senderId: "mallory" }), nothing);
  assertEquals(await edit("9", "never came"), nothing);
  assertEquals(await edit("2", "buy oat milk hunter2hunter2"), { kind: "edit", counts: true });
  assertEquals(said(second!), ["queued", "buy oat milk [secret]"]);
  assertEquals(await edit("3", " "), { kind: "edit", counts: true });
  assertEquals(said(third!), ["cancelled", "never mind"]);
  // The message itself, told again, is no edit.
  const again = await publish({ messageId: "2", content: "buy milk" });
  assertEquals(again, { kind: "turn", turnId: second!, repeated: true });
  agent.turns.find(first!)!.cancel();
  const { messages } = await model.asked(2);
  assertStringIncludes(JSON.stringify(messages), "buy oat milk [secret]");
  assertEquals(JSON.stringify(messages).includes("buy milk"), false);
  assertEquals(said(first!)[1], "begun");
  await agent[Symbol.asyncDispose]();
});

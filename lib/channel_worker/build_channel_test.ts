import { MemoryIntake } from "../channel/testing/memory_intake.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { systemClock } from "../base/clock.ts";
import { ServiceError } from "../base/errors.ts";
import { UncertainDeliveryError } from "../channel/delivery_error.ts";
import { ManualClock } from "../http/testing/manual_clock.ts";
import type { BuiltChannel } from "../channel/channel_link.ts";
import type { InboundMessage } from "../contract/inbound_message.ts";
import type { OutboundMessage } from "../contract/outbound_message.ts";
import { buildChannel, type BuildChannelDeps } from "./build_channel.ts";
import { PING_MS, READY_TIMEOUT_MS } from "./worker_client.ts";
import { MAX_CALLING, MAX_PUBLISHING, MAX_TRANSCRIBING } from "./protocol.ts";
import { FakeWorker } from "./testing/fake_worker.ts";

const MESSAGE: OutboundMessage = {
  id: "m",
  channel: "x",
  chatId: "c",
  content: "hi",
  media: [],
  metadata: {},
};
const INBOUND = { senderId: "a", chatId: "c", content: "hi", streaming: false };

interface Built {
  worker: FakeWorker;
  channel: BuiltChannel;
  clock: ManualClock;
  lines: { message: string; [field: string]: unknown }[];
}

function deps(clock: ManualClock, more: Partial<BuildChannelDeps> = {}) {
  const lines: Built["lines"] = [];
  const line = (message: string, fields?: object) => void lines.push({ message, ...fields });
  const all: BuildChannelDeps = {
    spec: { runtimeName: "x", channel: "x", senderVerified: false },
    inbound: () => Promise.resolve({ kind: "command" }),
    intake: new MemoryIntake(),
    onStranger: () => {},
    transcribe: () => Promise.resolve("text"),
    stateDir: "/data/channels/x",
    clock,
    log: { debug: line, info: line, warning: line, error: line },
    ...more,
  };
  return { all, lines };
}

async function build(more: Partial<BuildChannelDeps> = {}): Promise<Built> {
  const worker = new FakeWorker();
  const clock = new ManualClock();
  const { all, lines } = deps(clock, more);
  worker.ready();
  const channel = await buildChannel(() => Promise.resolve(worker.opened), all);
  return { worker, channel, clock, lines };
}

/** Lets what is on a port arrive. */
async function arrive(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => {
      port2.onmessage = resolve;
      port1.postMessage(1);
    });
    await new Promise<void>((resolve) => systemClock.after(0, resolve));
  }
  port1.close();
  port2.close();
}

Deno.test("buildChannel() rejects in words when a worker never becomes ready, and leaves nothing", async () => {
  const attempt = async (then: (worker: FakeWorker, clock: ManualClock) => void, words: string) => {
    const worker = new FakeWorker();
    const clock = new ManualClock();
    const building = buildChannel(() => Promise.resolve(worker.opened), deps(clock).all);
    const rejects = assertRejects(() => building, ServiceError, words);
    await arrive();
    then(worker, clock);
    await rejects;
    assert(worker.closed);
    assertEquals(clock.timers, 0);
  };
  await attempt((_, clock) => clock.advance(READY_TIMEOUT_MS), "did not load within 30 s");
  await attempt((worker) => worker.unusable("no"), "Cannot start x: no");
  await attempt((worker) => worker.end("it fell over"), "Cannot start x: it fell over");
  await attempt(
    (worker) => worker.say({ type: "notice", name: "running", data: true }),
    "before it was ready",
  );
  await assertRejects(
    () =>
      buildChannel(
        () => Promise.reject(new ServiceError("config_invalid", "token is not set")),
        deps(new ManualClock()).all,
      ),
    ServiceError,
    "token is not set",
  );
});

for (
  const [name, message, words] of [
    ["no message", "hello", "no known frame"],
    ["nothing", null, "no known frame"],
    ["a list", [1], "no known frame"],
    ["an unknown kind", { type: "operate" }, "no known frame"],
    ["a huge kind", { type: "x".repeat(1e6) }, "no known frame"],
    ["an unknown call", { type: "call", id: 1, method: "operate" }, 'it asked for "operate"'],
    ["an unknown notice", { type: "notice", name: "shout" }, 'it told of "shout"'],
    ["a second ready", { type: "answer", id: 1, result: {} }, "answered a call that nobody made"],
    ["an answer to nothing", { type: "answer", id: 77 }, "answered a call that nobody made"],
    ["an answer without an id", { type: "answer", id: "1" }, "no known frame"],
    ["a fault of its own kind", { type: "error", id: 2, error: { kind: "x" } }, "unknown kind"],
    ["a huge answer", { type: "answer", id: 2, result: "x".repeat(1e6) }, "expected nothing"],
    [
      "a huge log line",
      { type: "notice", name: "log", data: { level: "info", message: "x".repeat(1e6) } },
      "it said log as nothing that is one",
    ],
    [
      "a log of its own level",
      { type: "notice", name: "log", data: { level: "fatal", message: "x" } },
      "it said log as nothing that is one",
    ],
    [
      "a huge detail",
      { type: "notice", name: "detail", data: "x".repeat(1e6) },
      "it said detail as nothing that is one",
    ],
    [
      "a message that is none",
      { type: "call", id: 1, method: "publish", params: 7 },
      "message is 7",
    ],
    [
      "a session of another channel",
      { type: "call", id: 1, method: "publish", params: { ...INBOUND, sessionKey: "websocket:a" } },
      "sessionKey",
    ],
    [
      "a file of somebody else",
      {
        type: "call",
        id: 1,
        method: "publish",
        params: { ...INBOUND, media: ["/data/service.db"] },
      },
      "media",
    ],
    [
      "audio of somebody else",
      { type: "call", id: 1, method: "transcribe", params: "/data/channels/x/../y/a.ogg" },
      "not in its folder",
    ],
  ] as const
) {
  Deno.test(`buildChannel() ends a worker that says ${name}`, async () => {
    const { worker, channel, clock } = await build({
      inbound: () => Promise.reject(new Error("nothing is to come")),
      transcribe: () => Promise.reject(new Error("nothing is to come")),
    });
    // It may have been done: nobody knows any more.
    const sending = assertRejects(
      () => channel.send(MESSAGE),
      UncertainDeliveryError,
      "The channel is gone",
    );
    worker.say(message);
    assertStringIncludes(await channel.lost, words);
    await sending;
    const late = await assertRejects(() => channel.send(MESSAGE), Error, "The channel is gone");
    assertEquals(late.name, "Error");
    assert(worker.closed);
    assertEquals(clock.timers, 0);
    await channel.stop(1);
  });
}

Deno.test("buildChannel() ends a worker that publishes or transcribes more than it may at once", async () => {
  const never = () => new Promise<never>(() => {});
  const publishing = await build({ inbound: never });
  for (let id = 1; id <= MAX_PUBLISHING + 1; id++) {
    publishing.worker.say({ type: "call", id, method: "publish", params: INBOUND });
  }
  assertStringIncludes(await publishing.channel.lost, "too many messages at once");
  const transcribing = await build({ transcribe: never });
  for (let id = 1; id <= MAX_TRANSCRIBING + 1; id++) {
    transcribing.worker.say({
      type: "call",
      id,
      method: "transcribe",
      params: "/data/channels/x/a",
    });
  }
  assertStringIncludes(await transcribing.channel.lost, "too many transcriptions");
  const intake = new MemoryIntake();
  intake.add = never;
  const storing = await build({ intake });
  for (const id of [1, 2]) {
    const params = { rows: [{ lane: "c", id: `${id}`, data: "1" }], cursors: {} };
    storing.worker.say({ type: "call", id, method: "intake_add", params });
  }
  assertStringIncludes(await storing.channel.lost, "too much of its intake at once");
});

Deno.test("buildChannel() stores what a worker has heard, and tells it in words why not", async () => {
  const intake = new MemoryIntake(() => 5);
  const { worker } = await build({ intake });
  const ask = async (id: number, method: string, params: unknown) => {
    worker.say({ type: "call", id, method, params });
    const isAnswer = (frame: object) => "id" in frame && frame.id === id;
    while (!worker.heard.some(isAnswer)) await arrive();
    return worker.heard.find(isAnswer) as { result?: unknown; error?: { message: string } };
  };
  const rows = [{ lane: "c", id: "1", data: `"hi"` }];
  await ask(1, "intake_add", { rows, cursors: { seen: "7" } });
  const state = await ask(2, "intake_state", null);
  assertEquals(state.result, { lanes: ["c"], cursors: { seen: "7" } });
  const next = await ask(3, "intake_next", { lane: "c", taken: null });
  assertEquals(next.result, { ...rows[0], seq: 1, addedAt: 5 });
  await ask(4, "intake_move", { lane: "c", seq: 1, to: "d" });
  assertEquals(intake.rows.map(({ lane }) => lane), ["d"]);
  intake.fault = new Error("database or disk is full");
  const failed = await ask(5, "intake_next", { lane: "d", taken: 1 });
  assertEquals(failed.error!.message, "The service could not store it: database or disk is full");
  intake.fault = undefined;
  assertEquals((await ask(6, "intake_next", { lane: "d", taken: 1 })).result, null);
});

Deno.test("buildChannel() ends a worker that never stops talking, and logs a part of it", async () => {
  const { worker, channel, lines } = await build();
  for (let at = 0; at < 5_000; at++) {
    const data = { level: "info", message: `${at}`, data: { channel: "other" } };
    worker.say({ type: "notice", name: "log", data });
  }
  assertEquals(await channel.lost, "it says too much");
  assertEquals(lines.length, 200);
  assertEquals(lines[0], { message: "0", channel: "x" });
});

Deno.test("buildChannel() answers each message by itself: one that waits holds up no other", async () => {
  const slow = Promise.withResolvers<void>();
  const seen: InboundMessage[] = [];
  let signal: AbortSignal | undefined;
  const { worker, channel } = await build({
    async inbound(_spec, message, its) {
      seen.push(message);
      signal = its;
      if (message.chatId === "slow") await slow.promise;
      return { kind: "turn", turnId: message.chatId, repeated: false };
    },
  });
  const publish = (id: number, message: object) =>
    worker.say({ type: "call", id, method: "publish", params: { ...INBOUND, ...message } });
  publish(1, { chatId: "slow" });
  publish(2, { chatId: "fast", more: "dropped" });
  await arrive();
  assertEquals(worker.heard, [
    { type: "answer", id: 2, result: { kind: "turn", turnId: "fast", repeated: false } },
  ]);
  slow.resolve();
  await arrive();
  assertEquals(worker.heard.length, 2);
  assertEquals(seen[1], { ...INBOUND, chatId: "fast" });
  assertEquals(signal!.aborted, false);
  worker.answerAll();
  await channel.stop(1_000);
  assert(signal!.aborted);
});

Deno.test("buildChannel() declares a worker lost that answers no ping, and no other", async () => {
  const silent = await build();
  for (let at = 0; at < 4; at++) silent.clock.advance(PING_MS);
  assertEquals(silent.worker.closed, false);
  silent.clock.advance(PING_MS);
  assertStringIncludes(await silent.channel.lost, "answered nothing for 60 s");
  assert(silent.worker.closed);
  assertEquals(silent.clock.timers, 0);

  const alive = await build();
  alive.worker.answerAll();
  for (let at = 0; at < 20; at++) {
    alive.clock.advance(PING_MS);
    await arrive();
  }
  assertEquals(alive.worker.closed, false);
  // A machine that slept is no reason.
  alive.clock.advance(PING_MS);
  await arrive();
  await alive.channel.stop(1_000);
});

Deno.test("buildChannel() takes only so many calls at a time, and only plain data", async () => {
  const { worker, channel } = await build();
  const calls = Array.from({ length: MAX_CALLING }, () => channel.send(MESSAGE));
  const ended = Promise.allSettled(calls);
  await assertRejects(() => channel.send(MESSAGE), Error, `${MAX_CALLING} calls to answer`);
  worker.end("over");
  await ended;
  const other = await build();
  await assertRejects(() => other.channel.send({ ...MESSAGE, metadata: { big: 1n } }), Error);
  other.worker.answerAll();
  await other.channel.send(MESSAGE);
  await other.channel.stop(1_000);
});

Deno.test("buildChannel() gives a worker up that answers pings and none of all its calls", async () => {
  const { worker, channel, clock } = await build();
  worker.onCall = ({ id, method }) => {
    if (method === "ping") worker.say({ type: "answer", id });
  };
  const calls = Array.from({ length: MAX_CALLING }, () => channel.send(MESSAGE));
  const ended = Promise.allSettled(calls);
  for (let at = 0; at < 40; at++) {
    clock.advance(PING_MS);
    await arrive();
  }
  assertEquals(worker.closed, false);
  clock.advance(PING_MS);
  assertStringIncludes(await channel.lost, "none of 256 calls for 10 minutes");
  assertEquals((await ended).filter(({ status }) => status === "rejected").length, MAX_CALLING);
});

Deno.test("BuiltChannel.stop() waits so long, then ends the worker; lost says nothing of it", async () => {
  const { worker, channel, clock, lines } = await build();
  let lost = false;
  channel.lost.then(() => lost = true);
  const started = channel.start();
  const failing = assertRejects(() => started, Error, "it was stopped");
  const stopping = channel.stop(5_000);
  await arrive();
  assertEquals(worker.closed, false);
  clock.advance(5_000);
  await stopping;
  await failing;
  assert(worker.closed);
  assertEquals(lines[0]!.message, "A channel did not stop in time and was ended");
  await arrive();
  assertEquals(lost, false);
  assertEquals(clock.timers, 0);
});

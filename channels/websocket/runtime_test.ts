import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  answering,
  calls,
  fails,
  finish,
  hangs,
  says,
  scriptedModel,
  yields,
} from "../../lib/agent/testing/scripted_model.ts";
import { readFrame, type ServerFrame } from "../../lib/contract/wire/frames.ts";
import { WireClient } from "../../lib/contract/wire/wire_client.ts";
import { FakeChats } from "./testing/fake_chats.ts";
import { openTestChannel, type WireEnd } from "./testing/test_channel.ts";

const textOf = (frames: readonly ServerFrame[]) =>
  frames.map((frame) => (frame.event === "delta" ? frame.text : "")).join("");

/** Every number once, from the first on. */
function assertWhole(frames: WireEnd["numbered"], from = 1): void {
  for (const { seq, seq_from = seq } of frames) {
    assertEquals(seq_from, from);
    from = seq + 1;
  }
}

/** A model that says one piece each time that it is told to. */
function steppedModel() {
  const pieces: (string | undefined)[] = [];
  let wake = Promise.withResolvers<void>();
  const model = answering(async function* () {
    for (;;) {
      if (pieces.length === 0) await wake.promise;
      wake = Promise.withResolvers();
      for (const text of pieces.splice(0)) {
        if (text === undefined) return yield finish();
        yield { type: "text", text };
      }
    }
  });
  return {
    model,
    say(text?: string) {
      pieces.push(text);
      wake.resolve();
    },
  };
}

Deno.test("WebsocketChannel answers a plain text with a turn, piece by piece", async () => {
  await using service = await openTestChannel({
    agent: { model: scriptedModel([calls(["read", {}]), says("Hel", "lo")]) },
  });
  const client = await service.connect("client_id=me");
  assertEquals(client.frames[0], { event: "ready", chat_id: "chat-1", client_id: "me" });
  client.say("hi");
  assertEquals((await client.until("turn_end")).status, "done");
  assertEquals(textOf(client.frames), "Hello");
  assertEquals(client.of("progress").map(({ text, tool_hint }) => [text, tool_hint]), [[
    "read!",
    true,
  ]]);
  assertWhole(client.numbered);
  const { turn_id } = await client.until("message_accepted");
  assert(client.numbered.every((frame) => !("turn_id" in frame) || frame.turn_id === turn_id));
  assertEquals(service.journal.session("websocket:chat-1")?.lastSeq, client.numbered.at(-1)!.seq);
  await client.close();
});

Deno.test("WebsocketChannel shows the same frames to all who follow a chat, whenever they came (W3)", async () => {
  const { model, say } = steppedModel();
  await using service = await openTestChannel({ agent: { model } });
  const first = await service.connect();
  first.say({ type: "message", chat_id: "x", content: "hi" });
  await first.until("turn_start");
  const others = await Promise.all(Array.from({ length: 50 }, async (_, at) => {
    const client = await service.connect(`client_id=c${at}`);
    client.say({ type: "attach", chat_id: "x", after_seq: 0 });
    await client.until("attached");
    return client;
  }));
  for (const text of ["a", "b", "c"]) {
    say(text);
    await first.until("delta", (delta) => delta.text === text);
  }
  say();
  await Promise.all([first, ...others].map((client) => client.until("turn_end")));
  assertWhole(first.numbered);
  for (const { numbered } of others) assertEquals(numbered, first.numbered);
  await Promise.all([first, ...others].map((client) => client.close()));
});

Deno.test("WebsocketChannel goes on without a gap for a client that is cut off at every frame (W3)", async () => {
  const { model, say } = steppedModel();
  await using service = await openTestChannel({ agent: { model } });
  const steady = await service.connect("client_id=steady");
  steady.say({ type: "attach", chat_id: "x", after_seq: 0 });
  await steady.until("attached");
  steady.say({ type: "message", chat_id: "x", content: "hi" });
  const seen: WireEnd["numbered"] = [];
  let epoch = "";
  for (let at = 0; seen.at(-1)?.event !== "turn_end"; at++) {
    say(at < 20 ? `${at} ` : undefined);
    const client = await service.connect("client_id=cut");
    client.say({
      type: "attach",
      chat_id: "x",
      after_seq: seen.at(-1)?.seq ?? 0,
      ...epoch !== "" && { epoch },
    });
    ({ epoch } = await client.until("attached"));
    while (client.numbered.length === 0) {
      await new Promise((resolve) => client.socket.once("message", resolve));
    }
    seen.push(client.numbered[0]!);
    client.socket.terminate();
    await client.closed.promise;
  }
  await steady.until("turn_end");
  assertEquals(seen, steady.numbered);
  assertWhole(seen);
  assertEquals(textOf(seen), Array.from({ length: 20 }, (_, at) => `${at} `).join(""));
  await steady.close();
});

Deno.test("WebsocketChannel and the wire's client lose nothing while connections break (W2, W3)", async () => {
  const { model, say } = steppedModel();
  await using service = await openTestChannel({ agent: { model } });
  const sockets: WebSocket[] = [];
  const frames: ServerFrame[] = [];
  let next = Promise.withResolvers<void>();
  const until = async (is: (frame: ServerFrame) => boolean) => {
    while (!frames.some(is)) await next.promise;
  };
  const client = new WireClient({
    url: service.url,
    readFrame,
    onFrame(frame) {
      frames.push(frame);
      next.resolve();
      next = Promise.withResolvers();
    },
    open(url, protocols) {
      const socket = new WebSocket(url, protocols);
      sockets.push(socket);
      return socket;
    },
  });
  const { chat_id } = await client.connect();
  const sending = client.send(chat_id, "hi");
  await until(({ event }) => event === "turn_start");
  for (let at = 0; at < 3; at++) {
    say(`${at} `);
    await until((frame) => frame.event === "delta" && frame.text.includes(`${at}`));
    sockets.at(-1)!.close();
  }
  say();
  await until(({ event }) => event === "turn_end");
  await sending;
  assertEquals(textOf(frames), "0 1 2 ");
  assertEquals(frames.filter(({ event }) => event === "turn_start").length, 1);
  client.close();
});

Deno.test("WebsocketChannel cuts a reader that stops off alone, and that one resumes (W3, W13)", async () => {
  const chats = new FakeChats();
  await using service = await openTestChannel({ chats });
  const clients = await Promise.all(Array.from({ length: 5 }, async (_, at) => {
    const client = await service.connect(`client_id=c${at}`);
    client.say({ type: "attach", chat_id: "x", after_seq: 0 });
    await client.until("attached");
    return client;
  }));
  const [stuck, ...others] = clients as [WireEnd, ...WireEnd[]];
  stuck.socket.pause();
  const PIECES = 120;
  for (let seq = 1; seq <= PIECES; seq++) {
    const text = `${seq}`.padEnd(256 * 1024, ".");
    chats.append("x", [{ type: "text_delta", streamId: "s", text }]);
    await Promise.all(others.map((client) => client.until("delta", (delta) => delta.seq === seq)));
  }
  stuck.socket.resume();
  // It may not read what is said at the end, which waits behind much else.
  const { code } = await stuck.closed.promise;
  assert([1013, 1006].includes(code), `${code}`);
  assertEquals(service.channel.counts().troubles.slow_reader, 1);
  const back = await service.connect("client_id=c0");
  back.say({ type: "attach", chat_id: "x", after_seq: stuck.numbered.at(-1)?.seq ?? 0 });
  await back.until("delta", ({ seq }) => seq === PIECES);
  const resumed = [...stuck.numbered, ...back.numbered];
  assertWhole(resumed);
  for (const { numbered } of others) {
    assertWhole(numbered);
    assert(textOf(numbered) === textOf(resumed));
  }
  await Promise.all([back, ...others].map((client) => client.close()));
});

Deno.test("WebsocketChannel takes a flood of messages in order, and says of each what became of it", async () => {
  await using service = await openTestChannel();
  const client = await service.connect();
  const ids = Array.from({ length: 300 }, (_, at) => `m${at}`);
  for (const id of ids) {
    client.say({ type: "message", chat_id: "x", content: id, client_msg_id: id });
  }
  await Promise.all(ids.map((id) =>
    Promise.race([
      client.until("message_accepted", ({ client_msg_id }) => client_msg_id === id),
      client.until("error", ({ client_msg_id }) => client_msg_id === id),
    ])
  ));
  const accepted = client.of("message_accepted").map(({ client_msg_id }) =>
    Number(client_msg_id!.slice(1))
  );
  assertEquals(accepted, accepted.toSorted((a, b) => a - b));
  assert(client.of("error").every(({ code }) => code === "queue_full"));
  const turns = new Set(client.of("message_accepted").map(({ turn_id }) => turn_id));
  while (client.of("turn_end").length < turns.size) {
    await new Promise((resolve) => client.socket.once("message", resolve));
  }
  assertWhole(client.numbered);
  await client.close();
});

Deno.test("WebsocketChannel starts one turn for a message that is sent again on another connection (W2)", async () => {
  await using service = await openTestChannel({ agent: { model: scriptedModel([says("once")]) } });
  const envelope = { type: "message", chat_id: "x", content: "hi", client_msg_id: "m-1" };
  const first = await service.connect();
  first.say(envelope);
  first.say(envelope);
  const { turn_id } = await first.until("message_accepted");
  await first.until("turn_end");
  await first.close();
  const second = await service.connect();
  second.say(envelope);
  assertEquals((await second.until("message_accepted")).turn_id, turn_id);
  // The same id for something else is a mistake of the client, and said.
  second.say({ ...envelope, content: "other" });
  const error = await second.until("error");
  assertEquals([error.code, error.client_msg_id], ["idempotency_key_reused", "m-1"]);
  assertEquals(service.journal.session("websocket:x")?.lastSeq, first.numbered.at(-1)!.seq);
  await second.close();
});

Deno.test("WebsocketChannel without streaming gives the whole answer as one message, resumed too (W3, C29)", async () => {
  await using service = await openTestChannel({
    section: { streaming: false, sendToolHints: false },
    agent: {
      model: scriptedModel([
        yields(
          [{ type: "text", text: "Let me " }, { type: "text", text: "look." }],
          calls(["read", {}]),
        ),
        says("a", "b", "c"),
      ]),
    },
  });
  const client = await service.connect();
  client.say({ type: "message", chat_id: "x", content: "hi" });
  await client.until("turn_end");
  const said = client.numbered.map((frame) => [frame.event, "text" in frame ? frame.text : ""]);
  assertEquals(said, [
    ["turn_start", ""],
    ["progress", "Let me look."],
    ["message", "abc"],
    ["turn_end", ""],
  ]);
  assertWhole(client.numbered);
  const [, , message, end] = client.numbered;
  client.say({ type: "attach", chat_id: "x", after_seq: message!.seq_from! + 1 });
  await client.until("turn_end", (frame) => frame !== end);
  const again = client.numbered[4]!;
  assert(again.event === "message" && again.text === "abc");
  assertEquals([again.seq_from, again.seq], [message!.seq_from! + 2, message!.seq]);
  await client.close();
});

Deno.test("WebsocketChannel without streaming gives no half answer as a message (W6)", async () => {
  const half = { type: "text" as const, text: "The answer is" };
  await using service = await openTestChannel({
    section: { streaming: false },
    agent: {
      model: scriptedModel([yields([half], fails("provider_error")), yields([half], hangs())]),
    },
  });
  const client = await service.connect();
  client.say({ type: "message", chat_id: "x", content: "fail" });
  const failed = await client.until("turn_end");
  assertEquals([failed.status, client.of("error").length], ["failed", 1]);
  client.say({ type: "message", chat_id: "x", content: "hang" });
  await client.until("turn_start", ({ seq }) => seq > failed.seq);
  while ((service.journal.session("websocket:x")?.lastSeq ?? 0) < failed.seq + 2) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  client.say({ type: "cancel", chat_id: "x" });
  assertEquals((await client.until("turn_end", ({ seq }) => seq > failed.seq)).status, "cancelled");
  assertEquals(client.of("message"), []);
  assertEquals(client.of("progress").map(({ text }) => text), [half.text, half.text]);
  await client.close();
});

Deno.test("WebsocketChannel answers commands, cancels turns, and tells of chats that are deleted", async () => {
  const { model } = steppedModel();
  await using service = await openTestChannel({ agent: { model } });
  const client = await service.connect();
  client.say({ type: "message", chat_id: "x", content: "/help", client_msg_id: "h" });
  const help = await client.until("message");
  assertEquals([help.seq, help.client_msg_id], [undefined, "h"]);
  client.say({ type: "message", chat_id: "x", content: "hi" });
  await client.until("turn_start");
  client.say({ type: "cancel", chat_id: "x" });
  assertEquals((await client.until("turn_end")).status, "cancelled");
  client.say({ type: "attach", chat_id: "x" });
  const { epoch } = await client.until("attached");
  await service.journal.deleteSession("websocket:x");
  const deleted = await client.until("session_updated");
  assertEquals([deleted.scope, deleted.seq], ["deleted", undefined]);
  const anew = await client.until("attached", (attached) => attached.epoch !== epoch);
  assertEquals(anew.last_seq, 0);
  client.say({ type: "message", chat_id: "x", content: "again" });
  assertEquals((await client.until("turn_start", ({ seq }) => seq === 1)).chat_id, "x");
  client.say({ type: "cancel", chat_id: "x" });
  await client.until("turn_end", ({ seq }) => seq < 10);
  await client.close();
});

Deno.test("WebsocketChannel tells everybody of another default model", async () => {
  await using service = await openTestChannel();
  const clients = [await service.connect(), await service.connect("scopes=read")];
  for (const tell of service.listeners) tell({ name: "a/b", preset: "fast" });
  for (const tell of service.listeners) tell({ name: "c/d" });
  for (const client of clients) {
    await client.until("runtime_model_updated", ({ model_name }) => model_name === "c/d");
    assertEquals(client.of("runtime_model_updated"), [
      { event: "runtime_model_updated", model_name: "a/b", model_preset: "fast" },
      { event: "runtime_model_updated", model_name: "c/d" },
    ]);
    await client.close();
  }
});

Deno.test("WebsocketChannel.send() puts a message into a chat once, and refuses what is no chat", async () => {
  await using service = await openTestChannel();
  const client = await service.connect();
  client.say({ type: "attach", chat_id: "x" });
  await client.until("attached");
  const message = {
    id: "out-1",
    channel: "websocket",
    chatId: "x",
    content: "Good morning",
    media: [],
    metadata: {},
  };
  await service.channel.send(message);
  await service.channel.send(message);
  await service.channel.send({ ...message, event: { type: "progress", toolHint: true } });
  assertEquals((await client.until("message")).text, "Good morning");
  assertEquals(service.journal.session("websocket:x")?.lastSeq, 1);
  await assertRejects(() => service.channel.send({ ...message, chatId: "a b" }), Error, "chat_id");
  await client.close();
});

Deno.test("WebsocketChannel.start() runs until stop(), which says 1001 and leaves nothing", async () => {
  const service = await openTestChannel();
  const client = await service.connect();
  assertEquals(service.channel.isRunning, true);
  await assertRejects(() => service.channel.start(), Error, "a second time");
  await service.channel.stop();
  await service.running;
  assertEquals((await client.closed.promise).code, 1001);
  assertEquals(service.channel.isRunning, false);
  assertEquals(service.channel.counts().open, 0);
  assertEquals(service.listeners.size, 0);
  await service.channel.stop();
  await service[Symbol.asyncDispose]();
});

Deno.test("WebsocketChannel.start() rejects when the port cannot be opened, and so does port", async () => {
  await assertRejects(
    () => openTestChannel({ host: { openPort: () => Promise.reject(new Error("taken")) } }),
    Error,
    "taken",
  );
});

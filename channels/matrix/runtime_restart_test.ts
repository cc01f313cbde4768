import { assertEquals, assertRejects } from "@std/assert";
import { Intake, Memory } from "../../lib/channel/platform/mod.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { TestChannel } from "./testing/test_channel.ts";

/** A server and a folder that outlive the channels on them. */
async function lasting() {
  const [server, host] = [await FakeHomeserver.open(), await FakeHost.open({ name: "matrix" })];
  return {
    server,
    host,
    async [Symbol.asyncDispose]() {
      await server.close();
      await host.close();
    },
  };
}

Deno.test("MatrixChannel begins now at its first start, and reads once what came while it was down", async () => {
  await using given = await lasting();
  const { server, host } = given;
  const say = (text: string) => server.say(text, { mentions: [server.me] });
  say("before the first start");
  {
    await using test = await TestChannel.connected({}, given);
    say("one");
    await test.heard("one");
  }
  say("two");
  say("three");
  {
    await using test = await TestChannel.connected({}, given);
    await test.heard("three");
    say("four");
    await test.heard("four");
  }
  assertEquals(host.published.map(({ content }) => content), ["one", "two", "three", "four"]);
});

Deno.test("MatrixChannel fills what a long absence has left out, in pages and in order", async () => {
  await using given = await lasting();
  const { server, host } = given;
  await (await TestChannel.connected({}, given)).stop();
  const texts = Array.from({ length: 260 }, (_, index) => `message ${index}`);
  for (const text of texts) server.say(text, { mentions: [server.me] });
  await using test = await TestChannel.connected({}, given);
  await test.heard("message 259");
  assertEquals(host.published.map(({ content }) => content), texts);
  // 50 came with the sync, and 100 with each page.
  assertEquals(test.calls("GET", /\/messages$/).length, 3);
});

Deno.test("MatrixChannel answers nothing from before its first start, also where a server knows no end of a gap", async () => {
  await using given = await lasting();
  const { server, host } = given;
  const messages = server.rooms.messages.bind(server.rooms);
  server.rooms.messages = (roomId, asked) => messages(roomId, { ...asked, to: 0 });
  server.rooms.now = () => host.clock.now() - 2 * 60 * 60_000;
  for (let index = 0; index < 120; index += 1) server.say("old", { mentions: [server.me] });
  await (await TestChannel.connected({}, given)).stop();
  server.rooms.now = () => host.clock.now();
  for (let index = 0; index < 60; index += 1) server.say("new", { mentions: [server.me] });
  await using test = await TestChannel.connected({}, given);
  await test.until(() => test.texts.length === 60);
  assertEquals(new Set(test.texts), new Set(["new"]));
});

Deno.test("MatrixChannel fetches a bounded part of what came while it was away, and says that there was more", async () => {
  await using given = await lasting();
  const { server, host } = given;
  await (await TestChannel.connected({}, given)).stop();
  for (let index = 0; index < 1_200; index += 1) server.say("for nobody");
  server.say("the newest", { mentions: [server.me] });
  await using test = await TestChannel.connected({}, given);
  await test.heard("the newest");
  assertEquals(test.calls("GET", /\/messages$/).length, 10);
  assertEquals(host.lines.some(({ message }) => /More was written/.test(message)), true);
});

Deno.test("MatrixChannel keeps what it was told while the service took nothing, over a restart, once (W2)", async () => {
  await using given = await lasting();
  const { server, host } = given;
  const release = host.hold();
  const first = await TestChannel.connected({}, given);
  server.say("keep me", { mentions: [server.me] });
  await first.until(() => host.offered.length === 1);
  // The place that was read up to is behind the message, which waits on the disk.
  await first.polls();
  const stopped = first.stop();
  host.failNext(new Error("the service is gone"));
  release();
  await stopped;
  assertEquals(host.published, []);
  await using test = await TestChannel.connected({}, given);
  const { messageId } = await test.heard("keep me");
  await test.settled();
  assertEquals(host.published.length, 1);
  assertEquals(messageId, host.offered[0]!.messageId);
});

Deno.test("MatrixChannel gives what the server delivers three times the same id each time (W2)", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const event = server.say("once", { mentions: [server.me] });
  await server.redeliver(event);
  await server.redeliver(event);
  await test.settled();
  const kinds = new Set(host.published.map(({ messageId }) => messageId));
  assertEquals(kinds, new Set([event.event_id]));
});

Deno.test("MatrixChannel sends what was cut off again, also after a restart, and it is there once (W1)", async () => {
  await using given = await lasting();
  const { server } = given;
  const path = /\/send\/m\.room\.message\//;
  const first = await TestChannel.connected({}, given);
  const file = `${first.host.stateDir}/plan.txt`;
  await Deno.writeTextFile(file, "the plan");
  const message = first.message(`${"long ".repeat(3_000)}end`, { media: [file] });
  // The first part is taken without a word, the second is refused for now.
  server.fail("PUT", path, "cut");
  const error = await assertRejects(() => first.channel.send(message));
  assertEquals((error as Error).name, "RetryLaterError");
  server.refuse("temporary");
  await assertRejects(() => first.channel.send(message));
  await first.stop();
  await using test = await TestChannel.connected({}, given);
  await test.channel.send(message);
  await test.channel.send(message);
  const sent = server.sent();
  assertEquals(sent.length, 3);
  assertEquals(sent.map(({ text }) => text).join(" ").match(/\w+/g)!.length, 3_001);
  assertEquals(sent[2]!.files, ["plan.txt"]);
});

Deno.test("MatrixChannel goes on from now when the server does not know the place any more", async () => {
  await using given = await lasting();
  const { server, host } = given;
  await (await TestChannel.connected({}, given)).stop();
  server.api.lostSince = `s${server.rooms.pos}`;
  server.say("lost", { mentions: [server.me] });
  await using test = await TestChannel.connected({}, given);
  server.say("found", { mentions: [server.me] });
  await test.heard("found");
  assertEquals(test.texts, ["found"]);
  assertEquals(host.lines.some(({ message }) => /how far was read/.test(message)), true);
});

Deno.test("MatrixChannel connects again to a server that was away, and has lost nothing", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  await server.goDown();
  await test.says(/not connected: it cannot be reached.*again in 1 s|again in 2 s/);
  const error = await assertRejects(() => test.send("nobody there"), Error);
  assertEquals(error.name, "RetryLaterError");
  server.say("while it was away", { mentions: [server.me] });
  host.clock.tick(1_500);
  await test.until(() => host.details.filter((one) => /not connected/.test(one)).length > 1);
  server.comeUp();
  await test.tickUntil(() => test.texts.length > 0);
  await test.says(/^connected/);
  assertEquals(test.texts, ["while it was away"]);
  await test.send("back again");
  assertEquals(server.sent().map(({ text }) => text), ["back again"]);
});

Deno.test("MatrixChannel is held up in one chat by a flood there, and in no other", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  server.rooms.create("!dm:example.org", [server.senders[1], server.me]);
  await test.polls();
  const { publish } = host;
  const flooded = Promise.withResolvers<void>();
  host.publish = async (message) => {
    if (message.chatId === server.chatId) await flooded.promise;
    return await publish.call(host, message);
  };
  for (let index = 0; index < 500; index += 1) {
    server.say(`flood ${index}`, { mentions: [server.me] });
  }
  server.say("quick", { roomId: "!dm:example.org", sender: server.senders[1] });
  await test.heard("quick");
  assertEquals(test.texts, ["quick"]);
  flooded.resolve();
  await test.heard("flood 499");
  assertEquals(test.texts.length, 501);
});

Deno.test("MatrixChannel goes on behind a page without events: what was filtered out of it is no end", async () => {
  await using given = await lasting();
  const { server, host } = given;
  await (await TestChannel.connected({}, given)).stop();
  const texts = Array.from({ length: 120 }, (_, index) => `message ${index}`);
  for (const text of texts) server.say(text, { mentions: [server.me] });
  const messages = server.rooms.messages.bind(server.rooms);
  let isFirst = true;
  server.rooms.messages = (roomId, asked) => {
    if (!isFirst) return messages(roomId, asked);
    isFirst = false;
    // As from a server that has looked at three events, and may show none of them.
    return { start: `s${asked.from}`, chunk: [], end: `s0${asked.from}` };
  };
  await using test = await TestChannel.connected({}, given);
  await test.heard("message 119");
  assertEquals(host.published.map(({ content }) => content), texts);
});

Deno.test("MatrixChannel fetches what it missed although its clock was ahead at its first start", async () => {
  await using given = await lasting();
  const { server, host } = given;
  const tenYearsMs = 10 * 365 * 24 * 60 * 60_000;
  const { now } = host.clock;
  host.clock.now = () => now() + tenYearsMs;
  await (await TestChannel.connected({}, given)).stop();
  host.clock.now = now;
  server.rooms.now = () => host.clock.now();
  for (let index = 0; index < 60; index += 1) server.say("new", { mentions: [server.me] });
  await using test = await TestChannel.connected({}, given);
  await test.until(() => test.texts.length === 60);
});

Deno.test("MatrixChannel hears the other rooms while what was missed in one of them cannot be had", async () => {
  await using given = await lasting();
  const { server, host } = given;
  const broken = "!broken:example.org";
  server.rooms.create(broken, [...server.senders, server.me]);
  await (await TestChannel.connected({}, given)).stop();
  for (const roomId of [broken, server.chatId]) {
    for (let index = 0; index < 60; index += 1) {
      server.say(`${index} in ${roomId}`, { roomId, mentions: [server.me] });
    }
  }
  server.fail("GET", /\/rooms\/!broken(:|%3A)example\.org\/messages$/, {
    status: 500,
    body: { errcode: "M_UNKNOWN", error: "Internal server error" },
  }, 1_000);
  await using test = await TestChannel.start({}, given);
  await test.tickUntil(() => test.texts.includes(`59 in ${broken}`), 10_000);
  await test.until(() => test.texts.includes(`59 in ${server.chatId}`));
  assertEquals(test.texts.filter((text) => text.endsWith(server.chatId)).length, 60);
  // Those that came with the answer itself.
  assertEquals(test.texts.filter((text) => text.endsWith(broken)).length, 50);
  assertEquals(host.lines.some(({ message }) => /cannot be fetched/.test(message)), true);
});

Deno.test("MatrixChannel comes back to more than one answer can hold, room by room", async () => {
  await using given = await lasting();
  const { server, host } = given;
  await (await TestChannel.connected({}, given)).stop();
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  for (const text of texts) server.say(text, { mentions: [server.me] });
  const answer = server.api.answer.bind(server.api);
  server.api.answer = (call, signal) => {
    const isLarge = call.query.has("since") &&
      !/"limit":1\b/.test(call.query.get("filter") ?? "") &&
      call.query.get("timeout") === "0";
    return isLarge
      ? Promise.resolve({ status: 200, raw: new Uint8Array(65 * 1024 * 1024) })
      : answer(call, signal);
  };
  await using test = await TestChannel.start({}, given);
  await test.tickUntil(() => test.texts.length === texts.length, 100);
  assertEquals(host.published.map(({ content }) => content), texts);
});

Deno.test("MatrixChannel answers nothing older of a room that it came into right before it was killed", async () => {
  await using given = await lasting();
  const { server, host } = given;
  await (await TestChannel.connected({}, given)).stop();
  const rooms = [["!few:example.org", 1], ["!many:example.org", 60]] as const;
  for (const [roomId, count] of rooms) {
    server.rooms.create(roomId, [...server.senders]);
    server.say("helper: older", { roomId });
    server.rooms.setMember(roomId, server.me, "invite", server.senders[0]);
    server.rooms.setMember(roomId, server.me, "join");
    for (let index = 0; index < count; index += 1) server.say("helper: newer", { roomId });
  }
  await using test = await TestChannel.connected({}, given);
  await test.until(() => test.texts.length === 61);
  assertEquals(new Set(host.published.map(({ content }) => content)), new Set(["newer"]));
});

Deno.test("MatrixChannel goes on with what the version before it has kept", async () => {
  await using given = await lasting();
  const { server, host } = given;
  const note = server.say("reading", { sender: server.me, msgtype: "m.notice" });
  const common = { roomId: server.chatId, chatId: server.chatId, senderId: server.senders[0] };
  const more = { senderName: "alice", isShared: true };
  const intake = await Intake.open({ ...host, store: host.intake, take: () => Promise.resolve() });
  const place = `s${server.rooms.pos}`;
  await intake.add([
    {
      lane: server.chatId,
      id: "$1",
      data: { kind: "message", eventId: "$1", content: "one", ...common, ...more },
    },
    {
      lane: server.chatId,
      id: "$2",
      data: { kind: "command", eventId: "$2", content: "/deny apr_0", ...common },
    },
  ], { sync: place, begun: "1" });
  await intake.close();
  const memory = new Memory(host.stateDir);
  const ref = { chatId: server.chatId, eventId: note.event_id };
  memory.set("status_note", "a-note", { ref, texts: 3 });
  memory.close();
  await using test = await TestChannel.connected({}, given);
  await test.until(() => test.texts.length === 2);
  assertEquals(test.texts.toSorted(), ["/deny apr_0", "one"]);
  await test.until(() => server.sent().some(({ text }) => text === "✓ Steps: 3"));
  assertEquals(
    test.calls("GET", /\/sync$/).some(({ query }) => query.get("since") === place),
    true,
  );
});

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Memory } from "../../lib/channel/platform/memory.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { TestChannel } from "./testing/test_channel.ts";

Deno.test("MatrixChannel hears in a room what is addressed to it, and everything where it is told so", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  const me = server.me;
  server.say("not for it");
  server.say("a mention", { mentions: [me] });
  server.say("Helper: by its name");
  server.say("would helper know?");
  server.say("unhelpers and helper_two are other words");
  server.say(`${me} by its id`);
  server.say("a pill", {
    content: { formatted_body: `<a href="https://matrix.to/#/${me}">Helper</a> a pill` },
  });
  server.say("/new is a command");
  server.say("helper: /stop is one, too");
  await test.settled();
  assertEquals(test.texts, [
    "a mention",
    "by its name",
    "would helper know?",
    "by its id",
    "a pill",
    "/new is a command",
    "/stop is one, too",
  ]);

  await using all = await TestChannel.connected({ respond: "all" });
  all.server.say("not for it either");
  assertEquals((await all.heard("not for it")).senderName, "alice");
});

Deno.test("MatrixChannel hears a reply to one of its messages, without the quote in front of it", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  await test.send("What do you want?");
  const [mine] = server.shownEvents();
  const theirs = server.say("something else");
  const reply = (eventId: string, body: string) =>
    server.say(body, {
      content: { "m.relates_to": { "m.in_reply_to": { event_id: eventId } } },
    });
  reply(mine!.event.event_id, `> <${server.me}> What do\n> you want?\n\nThe moon`);
  reply(theirs.event_id, "> <@alice:example.org> something else\n\nnot for it");
  reply("$unknown", "not for it");
  await test.settled();
  assertEquals(test.texts, ["The moon"]);
});

Deno.test("MatrixChannel takes nothing that others wrote for the sender's own words", async () => {
  await using test = await TestChannel.connected({ respond: "all" });
  test.server.say("> <@bob:x> see\nhttps://evil.example\n\nwhat is it?");
  assertEquals((await test.heard("what is it?")).parts, [
    { text: "> <@bob:x> see\nhttps://evil.example", provenance: "quoted" },
    { text: "what is it?" },
  ]);
  const bob = "@bob:example.org";
  test.server.rooms.add(test.server.chatId, {
    type: "m.room.member",
    sender: bob,
    state_key: bob,
    content: { membership: "join", displayname: "x https://evil.example/" },
  });
  test.server.say("ask x https://evil.example/ about it", { mentions: [bob] });
  assertEquals((await test.heard("ask")).content, "ask x @https_evil.example_ about it");
});

Deno.test("MatrixChannel has a chat for each thread, and answers there", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  const root = server.say("about the garden");
  server.say("helper, what about roses?", {
    content: {
      "m.relates_to": {
        rel_type: "m.thread",
        event_id: root.event_id,
        is_falling_back: true,
        "m.in_reply_to": { event_id: root.event_id },
      },
    },
  });
  const { chatId, metadata } = await test.heard("roses");
  assertEquals(chatId, `${server.chatId}/${root.event_id}`);
  await test.send("Water them", { chatId, metadata });
  const { content } = server.shownEvents()[0]!;
  assertEquals(content["m.relates_to"], {
    rel_type: "m.thread",
    event_id: root.event_id,
    is_falling_back: true,
    "m.in_reply_to": { event_id: metadata!.eventId },
  });
  assertEquals(content["m.mentions"], { user_ids: ["@alice:example.org"] });
});

Deno.test("MatrixChannel opens a thread for each question in a room where it is told so, and hears all of it", async () => {
  await using test = await TestChannel.connected({ threads: "always" });
  const { server } = test;
  const question = server.say("helper: when?");
  const { chatId } = await test.heard("when?");
  assertEquals(chatId, `${server.chatId}/${question.event_id}`);
  server.say("tomorrow, I mean", {
    content: { "m.relates_to": { rel_type: "m.thread", event_id: question.event_id } },
  });
  assertEquals((await test.heard("tomorrow")).chatId, chatId);
});

Deno.test("MatrixChannel leaves out notices, itself, strangers and what holds nothing (C37)", async () => {
  await using test = await TestChannel.connected({
    respond: "all",
    allowFrom: ["@alice:example.org"],
  });
  const { server } = test;
  server.say("the first text");
  server.say("of a bot", { msgtype: "m.notice" });
  server.say("of itself", { sender: server.me });
  server.say("of bob", { sender: "@bob:remote.example" });
  server.say("of somebody like alice", { sender: "@alice:example.org2" });
  server.say("  ");
  server.say("a place", { msgtype: "m.location" });
  server.say("waves", { msgtype: "m.emote" });
  // As a server shows a message that was deleted.
  server.rooms.add(server.chatId, {
    type: "m.room.message",
    sender: server.senders[0],
    content: {},
  });
  await test.settled();
  assertEquals(test.texts, ["the first text", "* alice waves"]);
});

for (const threads of ["follow", "always"] as const) {
  Deno.test(`MatrixChannel tells what a message says since it was edited, and that it was removed, threads: ${threads}`, async () => {
    await using test = await TestChannel.connected({ threads });
    const { server, host } = test;
    const [alice, bob] = [server.senders[0], server.senders[1]];
    const first = server.say("helper: buy milk");
    const edit = server.edit(first.event_id, "buy oat milk");
    await test.heard("buy oat milk");
    // Nobody edits what others have written.
    server.edit(first.event_id, "helper: buy poison", { sender: bob });
    const second = server.say("helper: buy bread");
    await test.heard("buy bread");
    server.redact(second, alice);
    await test.until(() => host.published.length === 4);
    // By a moderator, who is not heard.
    server.redact(first, "@moderator:example.org", true);
    await test.until(() => host.published.length === 5);
    const other = server.say("not for it");
    server.edit(other.event_id, "not for it either");
    server.redact(other, alice);
    await test.settled();
    const { chatId } = host.published[0]!;
    assertEquals(
      host.published.map((one) => [one.content, one.replaces, one.chatId === chatId]),
      [
        ["buy milk", undefined, true],
        ["buy oat milk", first.event_id, true],
        ["buy bread", undefined, threads === "follow"],
        ["", second.event_id, threads === "follow"],
        ["", first.event_id, true],
      ],
    );
    assertEquals(host.published[1]!.messageId, edit.event_id);
    assertEquals(host.published.map(({ senderId }) => senderId), Array(5).fill(alice));
  });
}

Deno.test("MatrixChannel hears an edit of what it did not hear as that message, and the next one as its edit", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const bob = server.senders[1];
  const first = server.say("buy milk");
  server.edit(first.event_id, "helper: buy milk");
  await test.heard("buy milk");
  server.edit(first.event_id, "helper: buy oat milk");
  server.edit(first.event_id, "helper: buy poison", { sender: bob });
  server.edit("$unknown", "helper: it is not known either", { sender: bob });
  server.edit("no id", "helper: of nothing", { sender: bob });
  await test.settled();
  assertEquals(host.published.map((one) => [one.content, one.replaces]), [
    ["buy milk", undefined],
    ["buy oat milk", first.event_id],
    ["it is not known either", undefined],
    ["of nothing", undefined],
  ]);
  assertEquals(host.published[0]!.messageId, first.event_id);
});

Deno.test("MatrixChannel loses no edit of what it did not hear in a round that fails", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const bob = server.senders[1];
  const first = server.say("buy milk");
  await test.polls();
  await server.goDown();
  server.edit(first.event_id, "helper: buy milk");
  // What it asks for next fails, and the round is made again.
  const reply = { "m.relates_to": { "m.in_reply_to": { event_id: "$unknown" } } };
  server.say("is that so?", { sender: bob, content: reply });
  server.fail("GET", /\/event\//, "cut");
  server.comeUp();
  await test.tickUntil(() => test.texts.includes("buy milk"));
  assertEquals(host.published.map((one) => [one.messageId, one.replaces]), [
    [first.event_id, undefined],
  ]);
});

Deno.test("MatrixChannel says when a message was written, marks it as read, and reacts to it once", async () => {
  await using test = await TestChannel.connected({ ackReaction: "👀" });
  const { server, host } = test;
  server.rooms.now = () => host.clock.now() - 5_000;
  const event = server.say("helper: hello");
  await test.heard("hello");
  await test.until(() => server.reactions().length > 0);
  await server.redeliver(event);
  await test.settled();
  await test.until(() => server.reactions().length > 1);
  assertEquals(server.reactions()[0], { eventId: event.event_id, key: "👀" });
  const offered = host.offered.find(({ content }) => content === "hello")!;
  assertEquals(offered.messageId, event.event_id);
  const [read] = test.calls("POST", /\/receipt\//);
  assertStringIncludes(decodeURIComponent(read!.path), `/receipt/m.read/${event.event_id}`);
  assertEquals(server.reactions().filter(({ eventId }) => eventId === event.event_id).length, 1);
});

Deno.test("MatrixChannel shows that it types until the turn has ended", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  server.say("helper: hello");
  const typing = () =>
    test.calls("PUT", /\/typing\//).map(({ bytes }) => new TextDecoder().decode(bytes));
  await test.until(() => typing().length === 1);
  const beganMs = host.clock.now();
  await test.tickUntil(() => typing().length === 2);
  const shownMs = host.clock.now() - beganMs;
  assertEquals(shownMs >= 22_000 && shownMs < 30_000, true, `again after ${shownMs} ms`);
  await test.send("", { event: { type: "turn_end", status: "done" } });
  await test.until(() => typing().length === 3);
  host.clock.tick(60_000);
  const on = '{"typing":true,"timeout":30000}';
  assertEquals(typing(), [on, on, '{"typing":false}']);
});

Deno.test("MatrixChannel does not type behind the end of a turn that was over at once", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const { publish } = host;
  host.publish = async (message) => {
    const published = await publish.call(host, message);
    // As the service does for a turn that needed no time.
    setTimeout(() =>
      void test.channel.send(
        test.message("", {
          chatId: message.chatId,
          event: { type: "turn_end", status: "done" },
        }),
      )
    );
    return published;
  };
  server.fail("POST", /\/receipt\//, { status: 500, body: {} });
  server.say("helper: hello");
  await test.until(() => test.calls("PUT", /\/typing\//).length === 2);
  await test.settled();
  await test.until(() => !server.isTyping());
  await test.until(() => host.clock.timers() <= 1);
});

Deno.test("MatrixChannel lives with whatever a server and people send", async () => {
  await using test = await TestChannel.connected({ respond: "all" });
  const { server } = test;
  const odd: unknown[] = [
    null,
    7,
    "x",
    [],
    { a: {} },
    { msgtype: 1, body: {} },
    {
      msgtype: "m.text",
      body: "x".repeat(60_000),
      "m.relates_to": "x",
      "m.mentions": { user_ids: "x" },
      formatted_body: 5,
    },
    { msgtype: "m.image", body: "x", url: "https://example.org/x" },
    {
      msgtype: "m.file",
      body: "../../etc/passwd",
      url: "mxc://../..",
      info: "x",
    },
    {
      msgtype: "m.text",
      body: "\u202Eodd\u0000",
      "m.relates_to": { rel_type: "m.thread", event_id: "x y" },
    },
  ];
  for (const content of odd) {
    server.rooms.add(server.chatId, {
      type: "m.room.message",
      sender: server.senders[0],
      content: content as Record<string, unknown>,
    });
  }
  for (const sender of ["alice", "", "@a b:c", 5, null]) {
    server.say("of nobody", { sender: sender as string });
  }
  server.react("$nothing", "✅");
  server.fail("GET", /\/sync$/, {
    status: 200,
    raw: "<html>",
    headers: { "content-type": "text/html" },
  });
  await test.until(() => test.calls("GET", /\/sync$/).length > 2);
  server.say("behind all that");
  await test.tickUntil(() => test.texts.some((text) => text.includes("behind")));
  assertEquals(test.texts.filter((text) => text.includes("of nobody")), []);
  assertEquals(test.texts.filter((text) => text.startsWith("xxx")).length, 1);
  assertEquals(test.host.refused, []);
  assertEquals(test.ended, undefined);
});

Deno.test("MatrixChannel answers no other program like itself, in words, in streams, and with files (C37)", async () => {
  await using test = await TestChannel.connected({ respond: "all" });
  const { server, host } = test;
  const path = await Deno.makeTempFile({ dir: host.stateDir, suffix: ".txt" });
  await test.send("an answer", { media: [path] });
  await test.delta("a stream ");
  const end = test.delta("that goes on", { streamEnd: true });
  await test.tickUntil(() => server.sent().some(({ text }) => text === "a stream that goes on"));
  await end;
  const own = server.shownEvents().map(({ content }) => content);
  assertEquals(own.length, 3);
  // The same from another such program, and once by the name that may come.
  for (const content of [...own, { msgtype: "m.text", body: "x", "m.automated": true }]) {
    server.say(String(content.body), { sender: server.senders[1], content });
  }
  await test.settled();
  assertEquals(test.texts, []);
});

Deno.test("MatrixChannel hears what is said in the threads that it opened, some thousands of them", async () => {
  const host = await FakeHost.open({ name: "matrix" });
  const server = await FakeHomeserver.open();
  const { event_id: oldest } = server.say("long ago");
  const before = new Memory(host.stateDir, 5_000);
  before.set("thread", oldest, true);
  for (let index = 0; index < 1_200; index += 1) before.set("thread", `$other${index}`, true);
  before.close();
  const test = await TestChannel.connected({ threads: "always" }, { server, host });
  server.say("helper: one more");
  await test.heard("one more");
  const relation = { rel_type: "m.thread", event_id: oldest };
  server.say("still about that", { content: { "m.relates_to": relation } });
  await test.heard("still about that");
  await test.stop();
  await server.close();
  await host.close();
});

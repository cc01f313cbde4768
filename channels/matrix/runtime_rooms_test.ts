import { assertEquals, assertMatch } from "@std/assert";
import { TestChannel } from "./testing/test_channel.ts";

const DM = "!dm:example.org";

Deno.test("MatrixChannel hears everything in a direct message: of two members, or marked so", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  server.rooms.create(DM, [server.senders[0], server.me]);
  server.rooms.create("!marked:example.org", [...server.senders, server.me]);
  server.rooms.setDirect({ [server.senders[0]]: ["!marked:example.org"] });
  await test.polls();
  server.say("hello", { roomId: DM });
  server.say("here too", { roomId: "!marked:example.org" });
  const { chatId, senderId, messageId, metadata } = await test.heard("hello");
  assertEquals([chatId, senderId], [DM, "@alice:example.org"]);
  assertMatch(messageId!, /^\$event\d+$/);
  assertEquals(metadata?.isShared, false);
  await test.heard("here too");
});

Deno.test("MatrixChannel tells of a stranger who writes to it alone, and keeps nothing of that", async () => {
  await using test = await TestChannel.connected({ allowFrom: ["@bob:remote.example"] });
  const { server } = test;
  server.rooms.create(DM, [server.senders[0], server.me]);
  await test.polls();
  server.say("let me in", { roomId: DM });
  server.say("helper: nor here", { sender: server.senders[0], mentions: [server.me] });
  server.say("hello", { sender: "@bob:remote.example", mentions: [server.me] });
  await test.heard("hello");
  assertEquals(test.host.strangers, [
    { senderId: "@alice:example.org", senderName: "alice", chatId: DM },
  ]);
  assertEquals(test.host.offered.length, 1);
});

Deno.test("MatrixChannel accepts invites of people on its list, and declines all others with a line in the log", async () => {
  await using test = await TestChannel.connected({
    allowFrom: ["@alice:example.org"],
    inviteFrom: ["@carol:example.org"],
  });
  const { server, host } = test;
  const invite = (roomId: string, inviter: string) => {
    server.rooms.create(roomId, [inviter]);
    server.rooms.setMember(roomId, server.me, "invite", inviter);
  };
  invite("!carols:example.org", "@carol:example.org");
  invite("!alices:example.org", "@alice:example.org");
  const membership = (room: string) => server.rooms.membership(room, server.me);
  await test.until(() =>
    membership("!carols:example.org") === "join" && membership("!alices:example.org") === "leave"
  );
  await test.until(() => host.lines.some(({ message }) => /declined/.test(message)));
  const line = host.lines.find(({ message }) => /declined/.test(message))!;
  assertEquals(line.fields?.inviter, "@alice:example.org");
  await test.says(/in 2 rooms/);
});

Deno.test("MatrixChannel answers what was said to it between the invite and its coming, and nothing older", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  server.rooms.create(DM, [server.senders[0]]);
  server.say("older than the invite", { roomId: DM });
  server.limitNext("POST", /\/join$/, 7_000);
  server.rooms.setMember(DM, server.me, "invite", server.senders[0]);
  await test.until(() => test.calls("POST", /\/join$/).length === 1);
  server.say("are you there?", { roomId: DM });
  const beganMs = test.host.clock.now();
  await test.tickUntil(() => test.calls("POST", /\/join$/).length === 2, 100);
  assertEquals(test.host.clock.now() - beganMs >= 7_000, true);
  await test.heard("are you there?");
  assertEquals(test.texts, ["are you there?"]);
});

Deno.test("MatrixChannel says once in an encrypted room that it cannot read there while encryption is off", async () => {
  const room = "!secret:example.org";
  await using test = await TestChannel.connected({ encryption: "off" });
  const { server, host } = test;
  server.rooms.create(room, [server.senders[0], server.me]);
  const encrypt = () =>
    server.rooms.add(room, {
      type: "m.room.encrypted",
      sender: server.senders[0],
      content: { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "AwgA" },
    });
  server.rooms.encrypt(room);
  await test.says(/in 2 rooms, 1 of them encrypted and not readable/);
  assertEquals(server.sent(), []);
  encrypt();
  await test.until(() => server.sent().length === 1);
  encrypt();
  server.say("in clear text", { roomId: room });
  await test.settled();
  const error = await test.send("an answer", { chatId: room }).catch((error) => error);
  assertEquals([error.name, /encrypted/.test(error.message)], ["PermanentDeliveryError", true]);
  await test.stop();

  await using again = await TestChannel.connected(
    { encryption: "off", language: "de" },
    { server, host },
  );
  assertMatch(again.detail, /1 of them encrypted/);
  encrypt();
  await again.settled();
  const { event, content } = server.shownEvents()[0]!;
  assertEquals(server.shownEvents().length, 1);
  assertEquals([event.roomId, content.msgtype], [room, "m.notice"]);
  assertMatch(String(content.body), /encrypted, and I cannot read/);
  assertEquals(test.texts, []);
});

Deno.test("MatrixChannel is in a room again that it was taken out of, and answers nothing that is older", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  server.rooms.create(DM, [server.senders[0], server.me]);
  await test.polls();
  server.rooms.setMember(DM, server.me, "leave", server.senders[0]);
  await test.says(/in 1 room$/);
  server.say("said behind its back", { roomId: DM });
  server.rooms.setMember(DM, server.me, "invite", server.senders[0]);
  await test.until(() => server.rooms.membership(DM, server.me) === "join");
  await test.says(/in 2 rooms/);
  server.say("here again?", { roomId: DM });
  await test.heard("here again?");
  await test.send("yes", { chatId: DM });
  assertEquals([test.texts, server.sent().map(({ text }) => text)], [["here again?"], ["yes"]]);
});

Deno.test("MatrixChannel answers nothing older of a room that it came into, also when it had to ask twice", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  server.rooms.create("!new:example.org", [...server.senders]);
  server.say("helper: older", { roomId: "!new:example.org" });
  server.fail("GET", /\/event\//, { status: 500, body: { errcode: "M_UNKNOWN", error: "x" } });
  server.say("about that", {
    content: { "m.relates_to": { "m.in_reply_to": { event_id: "$x" } } },
  });
  server.rooms.setMember("!new:example.org", server.me, "join");
  server.say("helper: newer", { roomId: "!new:example.org" });
  await test.tickUntil(() => test.texts.includes("newer"));
  assertEquals(test.texts, ["newer"]);
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import { NS } from "./client/namespaces.ts";
import { xml } from "./client/xmpp_library.ts";
import { ROOMS_DOMAIN } from "./testing/prosody.ts";
import { testWithProsody } from "./testing/test_with_prosody.ts";

const test = testWithProsody("xmpp in rooms");

/** A room that shows who is who. */
const OPEN = { "muc#roomconfig_whois": "anyone", "muc#roomconfig_persistentroom": "1" };

test("it is heard by its nick, answers there, and says whose question that is", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  const agent = await world.channel({ rooms: [`${room}/helper`] });
  assertEquals(agent.detail, `connected as ${agent.jid}, in ${room}`);
  await alice.sayIn(room, "talk of others about helpers");
  await alice.sayIn(room, "Helper: what is *up*?");
  const question = await agent.heard("what is *up*?");
  assertEquals(agent.host.published.length, 1);
  assertEquals(question.senderId, alice.jid);
  assertEquals([question.chatId, question.senderName], [room, alice.user]);
  assert(question.messageId!.startsWith("archive:"), question.messageId);
  await agent.send(room, "**Nothing**", { metadata: question.metadata });
  const answer = await alice.message("Nothing");
  assertEquals(answer.getChildText("body"), `${alice.user}: *Nothing*`);
  assertEquals(answer.attrs.from, `${room}/helper`);
  const reply = answer.getChild("reply", NS.reply);
  assertEquals(reply?.attrs.to, `${room}/${alice.user}`);
  assertEquals(`archive:${reply?.attrs.id}`, question.messageId);

  await alice.sayIn(room, "I ask @helper too");
  await agent.heard("I ask @helper too");
  const us = xml("reply", { xmlns: NS.reply, to: `${room}/helper`, id: "x" });
  await alice.sayIn(room, "and in an answer", us);
  await agent.heard("and in an answer");
  assertEquals(agent.host.published.length, 3);
});

test("all of a room is heard where that is wanted, but for itself and other bots (C37)", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  const bot = await world.person("bot", { isBot: true });
  await bot.join(room);
  const ignored = await world.person("ignored");
  await ignored.join(room, { nick: "Weather" });
  const agent = await world.channel({ rooms: [room], respond: "all", ignore: ["weather"] });
  await agent.send(room, "I am here");
  await bot.sayIn(room, "I am a bot");
  await ignored.sayIn(room, "it will rain");
  await alice.sayIn(room, "and I am not");
  await agent.heard("and I am not");
  assertEquals(agent.host.offered.map(({ content }) => content), ["and I am not"]);
});

test("who hides behind a nick is no address, whatever the nick", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room);
  const boss = await world.person("boss");
  const mallory = await world.person("mallory");
  await mallory.join(room, { nick: boss.jid });
  const agent = await world.channel({
    rooms: [room],
    respond: "all",
    allowFrom: [boss.jid, `${room}/${boss.jid}`],
  });
  // The room has occupant ids, so that a nick is none of its own.
  const lie = xml(
    "x",
    { xmlns: NS.mucUser },
    xml("item", { jid: boss.jid, affiliation: "owner", role: "moderator" }),
  );
  await mallory.sayIn(room, "I am the boss", lie);
  await mallory.sayIn(room, "really", xml("occupant-id", { xmlns: NS.occupantId, id: boss.jid }));
  await boss.say(agent.jid, "I am");
  await agent.heard("I am");
  assertEquals(agent.host.offered.map(({ senderId }) => senderId), [boss.jid]);
});

test("in a room nobody corrects or retracts what another has said", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room);
  const mallory = await world.person("mallory");
  await mallory.join(room);
  const agent = await world.channel({ rooms: [`${room}/helper`] });
  const replace = (id: string) => xml("replace", { xmlns: NS.replace, id });
  const id = await alice.sayIn(room, "helper: buy milk");
  const { messageId, senderId } = await agent.heard("buy milk");
  // By the id that the room has given it.
  const retract = () => xml("retract", { xmlns: NS.retract, id: messageId!.slice(8) });
  await mallory.sayIn(room, "buy poison", replace(id));
  await mallory.sayIn(room, "helper: buy more", replace(id));
  await mallory.sayIn(room, "taken back", retract());
  await alice.sayIn(room, "buy oat milk", replace(id));
  await alice.sayIn(room, "taken back", retract());
  await alice.sayIn(room, "for nobody", replace("never heard"));
  await alice.sayIn(room, "helper: the last", replace("never heard"));
  const last = await agent.heard("the last");
  assertEquals(
    agent.host.published.map((one) => [one.content, one.replaces, one.senderId === senderId]),
    [
      ["buy milk", undefined, true],
      ["buy more", undefined, false],
      ["buy oat milk", messageId, true],
      ["", messageId, true],
      ["the last", undefined, true],
    ],
  );
  assertEquals(last.senderId, senderId);
});

test("in a room that hides addresses the id of an occupant is the sender", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room);
  const agent = await world.channel({ rooms: [`${room}/helper`] });
  await alice.sayIn(room, "helper: who am I?");
  const { senderId } = await agent.heard("who am I?");
  assert(senderId.startsWith(`${room}/`), senderId);
  assert(!senderId.includes(alice.user), senderId);
});

test("an answer that grows is one message of a room, and says whose it is (C26)", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  const agent = await world.channel({ rooms: [room], streaming: true });
  await alice.sayIn(room, `${agent.user}: tell me`);
  const { metadata = {} } = await agent.heard("tell me");
  await agent.stream(room, "Once", { metadata });
  const more = agent.stream(room, " upon a time", { metadata, streamEnd: true });
  await Promise.resolve();
  agent.host.clock.tick(1_000);
  await more;
  await alice.message("upon a time");
  assertEquals(alice.texts(`${room}/${agent.user}`), [`${alice.user}: Once upon a time`]);
  // The agent's own words have come back to it.
  assertEquals(agent.host.offered.length, 1);
});

test("a nick that is in use is replaced", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, { ...OPEN, nick: "helper" });
  const agent = await world.channel({ rooms: [`${room}/helper`] });
  assertEquals(agent.detail, `connected as ${agent.jid}, in ${room} as helper_`);
  await alice.sayIn(room, "helper_: for us");
  await agent.heard("for us");
});

test("a password opens a room, and a wrong or missing one is told of", async (world) => {
  const [open, shut] = [world.newRoom(), world.newRoom()];
  const alice = await world.person("alice");
  const secret = { ...OPEN, "muc#roomconfig_roomsecret": "sesame" };
  await alice.join(open, { ...secret, "muc#roomconfig_passwordprotectedroom": "1" });
  await alice.join(shut, { ...secret, "muc#roomconfig_passwordprotectedroom": "1" });
  const agent = await world.channel({ rooms: [open, shut], roomPasswords: `${open} sesame` });
  assertEquals(
    agent.detail,
    `connected as ${agent.jid}, in ${open}; not in ${shut}: its password is missing or wrong`,
  );
  assert(!JSON.stringify([agent.host.details, agent.host.lines]).includes("sesame"));
  await assertRejects(() => agent.send(shut, "hi"), Error, "its password is missing or wrong");
});

test("a room that is not there is not made", async (world) => {
  const room = world.newRoom();
  const agent = await world.channel({ rooms: [room] });
  assertEquals(agent.detail, `connected as ${agent.jid}, not in ${room}: there is no such room`);
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  agent.host.clock.tick(30_000);
  await agent.says(/, in room/);
});

test("a kick is told of, and it comes again later", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  const agent = await world.channel({ rooms: [room] });
  await alice.admin(room, { nick: agent.user, role: "none" }, "be quiet");
  await agent.says(/not in room.*: we were kicked: be quiet$/);
  await assertRejects(() => agent.send(room, "hi"), Error, "we were kicked");
  agent.host.clock.tick(30_000);
  await agent.says(/, in room/);
  await agent.send(room, "back");
  await alice.message("back");
  // Thrown out again at once, it waits for longer.
  await alice.admin(room, { nick: agent.user, role: "none" }, "no");
  await agent.says(/we were kicked: no$/);
  const said = agent.host.details.length;
  await agent.pass(50_000, alice);
  assertEquals(agent.host.details.length, said);
  await agent.pass(15_000, alice);
  await agent.says(/, in room/);
});

test("nobody goes back by himself to where he was banned, or what is no more", async (world) => {
  const [banned, over] = [world.newRoom(), world.newRoom()];
  const alice = await world.person("alice");
  for (const room of [banned, over]) await alice.join(room, OPEN);
  const agent = await world.channel({ rooms: [banned, over] });
  await alice.admin(banned, { jid: agent.jid, affiliation: "outcast" });
  await agent.says(/: we were banned/);
  await alice.destroy(over);
  await agent.says(/: it was destroyed: over$/);
  const said = agent.host.details.length;
  await agent.pass(3 * 60_000, alice);
  assertEquals(agent.host.details.length, said);
});

test("invitations of those who may are taken, and kept over a restart", async (world) => {
  const [first, second] = [world.newRoom(), world.newRoom()];
  const [alice, mallory] = [await world.person("alice"), await world.person("mallory")];
  await alice.join(first, OPEN);
  await mallory.join(second, OPEN);
  const agent = await world.channel({ inviteFrom: [alice.jid] });
  const invite = (room: string, by: typeof alice) =>
    by.post(xml(
      "message",
      { to: room },
      xml("x", { xmlns: NS.mucUser }, xml("invite", { to: agent.jid })),
    ));
  invite(second, mallory);
  // Who may not invite cannot do so in the name of somebody who may.
  await mallory.say(
    agent.jid,
    "come",
    xml("x", { xmlns: NS.mucUser }, xml("invite", { from: alice.jid })),
    xml("x", { xmlns: NS.invite, jid: second }),
  );
  invite(first, alice);
  await agent.says(new RegExp(`, in ${first}$`));
  const { user, host: { stateDir } } = agent;
  await agent.close({ keepsState: true });
  const again = await world.channel({ inviteFrom: [alice.jid] }, { user, stateDir });
  await again.says(new RegExp(`, in ${first}$`));
  await again.close();
  await Deno.remove(stateDir, { recursive: true });
});

test("private messages through a room, and messages to rooms that it is not in, go nowhere", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  const agent = await world.channel({ rooms: [room] });
  await alice.say(`${room}/${agent.user}`, "psst", xml("x", { xmlns: NS.mucUser }));
  await alice.sayIn(room, `${agent.user}: aloud`);
  await agent.heard("aloud");
  assertEquals(agent.host.offered.length, 1);
  await assertRejects(() => agent.send(`${room}/${alice.user}`, "x"), PermanentDeliveryError);
  await assertRejects(
    () => agent.send(`elsewhere@${ROOMS_DOMAIN}`, "x"),
    PermanentDeliveryError,
  );
});

test("a room that is silent for long is asked whether we are in it (XEP-0410)", async (world) => {
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room, OPEN);
  const agent = await world.channel({ rooms: [room] });
  await agent.pass(11 * 60_000, alice);
  await alice.sayIn(room, `${agent.user}: still there?`);
  await agent.heard("still there?");
  assert(agent.detail.endsWith(`in ${room}`), agent.detail);
});

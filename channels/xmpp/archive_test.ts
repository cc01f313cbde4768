import { assert, assertEquals } from "@std/assert";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { NS } from "./client/namespaces.ts";
import { xml } from "./client/xmpp_library.ts";
import type { TestChannel } from "./testing/test_channel.ts";
import { testWithProsody, type World } from "./testing/test_with_prosody.ts";

const test = testWithProsody("xmpp after downtime");

const OPEN = { "muc#roomconfig_whois": "anyone", "muc#roomconfig_persistentroom": "1" };

/** Ends a channel, and starts it in its folder again after something has been done. */
async function away(
  world: World,
  agent: TestChannel,
  changes: Record<string, unknown>,
  meanwhile: () => Promise<void>,
): Promise<TestChannel> {
  const { user, host: { stateDir } } = agent;
  await agent.close({ keepsState: true });
  await meanwhile();
  const again = await world.channel(changes, { user, stateDir });
  world.use({
    async close() {
      await again.close();
      await Deno.remove(stateDir, { recursive: true }).catch(() => {});
    },
  });
  return again;
}

/** A folder with all that is in another. */
async function copyOf(dir: string): Promise<string> {
  const copy = await Deno.makeTempDir();
  for await (const { name } of Deno.readDir(dir)) {
    await Deno.copyFile(`${dir}/${name}`, `${copy}/${name}`);
  }
  FakeHost.copyIntake(dir, copy);
  return copy;
}

/** What was heard, each once. */
function heard(agent: TestChannel): string[] {
  const seen = new Map(agent.host.published.map((one) => [one.messageId, one.content]));
  return [...seen.values()];
}

test("what was written meanwhile is heard once, with its time and the id that it had (W2)", async (world) => {
  const [alice, mallory] = [await world.person("alice"), await world.person("mallory")];
  const room = world.newRoom();
  await alice.join(room, OPEN);
  const section = { rooms: [`${room}/helper`], allowFrom: [alice.jid] };
  await alice.say(`agent@localhost`, "before everything");
  const agent = await world.channel(section);
  await alice.say(agent.jid, "live");
  const live = await agent.heard("live");
  await alice.sayIn(room, "helper: live in the room");
  await agent.heard("live in the room");
  // Answers are in the archive too.
  await agent.send(alice.jid, "an answer");
  await agent.send(room, "an answer there");
  const before = Date.now();
  const again = await away(world, agent, section, async () => {
    for (let at = 0; at < 60; at++) await alice.say(agent.jid, `away ${at}`);
    await mallory.say(agent.jid, "of a stranger");
    await alice.sayIn(room, "not for it");
    await alice.sayIn(room, "helper: away in the room");
  });
  const last = await again.heard("away 59");
  const inRoom = await again.heard("away in the room");
  assertEquals([inRoom.chatId, inRoom.senderId], [room, alice.jid]);
  assert(last.sentAt! >= before - 1_000 && last.sentAt! <= Date.now(), String(last.sentAt));
  await alice.say(again.jid, "and live again");
  await again.heard("and live again");
  const expected = Array.from({ length: 60 }, (_, at) => `away ${at}`);
  assertEquals(
    heard(again).filter((text) => text.startsWith("away ") && !text.includes("room")),
    expected,
  );
  assertEquals(heard(again).length, 62);
  // Nothing is new to one that starts once more, and nothing has two ids. What was being handed over when
  // the other ended may come again.
  const known = new Set(again.host.published.map(({ messageId }) => messageId));
  const third = await away(world, again, section, () => Promise.resolve());
  await alice.say(third.jid, "marker");
  await third.heard("marker");
  const anew = third.host.published.filter(({ messageId }) => !known.has(messageId));
  assertEquals(anew.map(({ content }) => content), ["marker"]);
  assert(live.messageId!.startsWith("archive:"));
});

test("a message that comes three times more has the id that it had (W2)", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const { user, host: { stateDir } } = agent;
  // As it was when the process was killed before it had kept how far it had come.
  const copies = await Promise.all([1, 2, 3].map(() => copyOf(stateDir)));
  await alice.say(agent.jid, "one");
  const forged = xml("stanza-id", { xmlns: NS.stanzaIds, by: agent.jid, id: "x" });
  await alice.say(agent.jid, "two", forged);
  const ids = [(await agent.heard("one")).messageId, (await agent.heard("two")).messageId];
  await agent.close();
  for (const copy of copies) {
    const again = await world.channel({}, { user, stateDir: copy });
    const repeats = [(await again.heard("one")).messageId, (await again.heard("two")).messageId];
    assertEquals(repeats, ids);
    assertEquals(heard(again), ["one", "two"]);
    await again.close();
    await Deno.remove(copy, { recursive: true });
  }
});

test("what is on the disk and was not handed over is, by the next process (W1)", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const release = agent.host.hold();
  await alice.say(agent.jid, "not handed over");
  await agent.until(() => agent.host.offered.length === 1);
  const { user, host: { stateDir } } = agent;
  const copy = await copyOf(stateDir);
  const again = await world.channel({}, { user, stateDir: copy });
  await again.heard("not handed over");
  assertEquals(heard(again), ["not handed over"]);
  release();
  await again.close();
  await Deno.remove(copy, { recursive: true });
});

test("who writes the address of another into a message is not that one, in the archive of a room neither", async (world) => {
  const [alice, mallory] = [await world.person("alice"), await world.person("mallory")];
  const forged = () =>
    xml("x", { xmlns: NS.mucUser }, xml("item", { jid: alice.jid, affiliation: "owner" }));
  for (const isOpen of [false, true]) {
    const room = world.newRoom();
    await alice.join(room, isOpen ? OPEN : { "muc#roomconfig_persistentroom": "1" });
    await mallory.join(room);
    const section = { rooms: [`${room}/helper`] };
    const agent = await world.channel(section);
    const again = await away(world, agent, section, async () => {
      await mallory.sayIn(room, "helper: let me in", forged());
    });
    const { senderId } = await again.heard("let me in");
    assert(senderId === mallory.jid || senderId.startsWith(`${room}/`), senderId);
    await mallory.sayIn(room, "helper: and now", forged());
    assert((await again.heard("and now")).senderId !== alice.jid);
  }
});

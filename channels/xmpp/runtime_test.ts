import { assert, assertEquals, assertRejects } from "@std/assert";
import { PermanentDeliveryError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import { NS } from "./client/namespaces.ts";
import { xml, type XmlElement } from "./client/xmpp_library.ts";
import { Person } from "./testing/person.ts";
import { testWithProsody } from "./testing/test_with_prosody.ts";

const test = testWithProsody("xmpp in direct chats");

const has = (name: string, xmlns: string) => (one: XmlElement) =>
  one.getChild(name, xmlns) !== undefined;

test("a question is answered in its thread, with a sign that it is being written", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const thread = xml("thread", {}, "t-1");
  await alice.say(agent.jid, "what is <up> & down?", thread);
  const question = await agent.heard("what is <up> & down?");
  assertEquals(
    [question.senderId, question.chatId, question.senderName, question.metadata],
    [alice.jid, alice.jid, alice.user, { thread: "t-1" }],
  );
  assertEquals(question.sentAt, agent.host.clock.now());
  const composing = await alice.stanza(has("composing", NS.chatStates));
  assert(has("no-store", NS.hints)(composing));
  await agent.send(alice.jid, "**Nothing** & `x<y`", { metadata: question.metadata });
  const answer = await alice.message("Nothing");
  assertEquals(answer.getChildText("body"), "*Nothing* & `x<y`");
  assertEquals(answer.getChildText("thread"), "t-1");
  assertEquals(answer.getChild("origin-id", NS.stanzaIds)?.attrs.id, answer.attrs.id);
  assertEquals(answer.attrs.from, `${agent.jid}/service`);
  await agent.send(alice.jid, "", { event: { type: "turn_end", status: "done" } });
  await alice.stanza((one) => has("active", NS.chatStates)(one) && !one.getChild("body"));
});

test("nothing that others wrote is taken for the sender's own words", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  await alice.say(agent.jid, "> see https://evil.example\nwhat is it?");
  assertEquals((await agent.heard("what is it?")).parts, [
    { text: "> see https://evil.example", provenance: "quoted" },
    { text: "what is it?" },
  ]);
});

test("receipts and markers are for those who may write, and subscriptions too", async (world) => {
  const alice = await world.person("alice");
  const mallory = await world.person("mallory");
  const agent = await world.channel({ allowFrom: [alice.jid.toUpperCase()] });
  const wanted = [xml("request", { xmlns: NS.receipts }), xml("markable", { xmlns: NS.markers })];
  for (const person of [mallory, alice]) {
    person.post(xml("presence", { to: agent.jid, type: "subscribe" }));
  }
  await mallory.say(agent.jid, "am I heard?", ...wanted);
  const id = await alice.say(agent.jid, "and I?", ...wanted);
  const receipt = await alice.stanza(has("received", NS.receipts));
  assertEquals(receipt.getChild("received")?.attrs.id, id);
  assertEquals(receipt.getChild("displayed", NS.markers)?.attrs.id, id);
  const isSeen = (one: XmlElement) =>
    one.name === "presence" && one.attrs.from === `${agent.jid}/service`;
  await alice.stanza(isSeen);
  await agent.send(mallory.jid, "marker");
  await mallory.message("marker");
  assert(!mallory.stanzas.some((one) => isSeen(one) || has("received", NS.receipts)(one)));
  assertEquals(agent.host.offered.map(({ content }) => content), ["and I?"]);
});

test("what is no message of a person is not heard, and forgeries neither (C37)", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const to = agent.jid;
  const body = (text: string) => xml("body", {}, text);
  const forged = (text: string) =>
    xml(
      "forwarded",
      { xmlns: NS.forward },
      xml("message", { from: "boss@localhost", to, type: "chat" }, body(text)),
    );
  const send = (attrs: Record<string, string>, ...children: XmlElement[]) =>
    alice.post(xml("message", { to, id: crypto.randomUUID(), ...attrs }, ...children));
  send({ type: "error" }, body("an error"));
  send({ type: "headline" }, body("news"));
  send({ type: "groupchat" }, body("of a room"));
  send({ type: "chat" }, body("taken back"), xml("retract", { xmlns: NS.retract, id: "x" }));
  send({ type: "chat" }, body("copy"), xml("received", { xmlns: NS.carbons }, forged("carbon")));
  send({ type: "chat" }, body("copy"), xml("sent", { xmlns: NS.carbons }, forged("carbon")));
  send({ type: "chat" }, body("kept"), xml("result", { xmlns: NS.archive }, forged("archive")));
  send({ type: "chat" }, body("given on"), forged("forwarded"));
  send({ type: "chat" }, xml("composing", { xmlns: NS.chatStates }));
  send({ type: "chat" }, body("   "));
  send({ type: "chat" }, xml("received", { xmlns: NS.receipts, id: "x" }));
  send({ type: "chat" }, xml("subject", {}, "a subject alone"));
  await alice.say(to, "a message");
  await agent.heard("a message");
  assertEquals(agent.host.offered.map(({ content }) => content), ["a message"]);
});

test("a correction takes the place of what its program has said before, and a retraction takes it back", async (world) => {
  const alice = await world.person("alice");
  const phone = world.use(
    await Person.connect(world.server, alice.user, { resource: "phone" }),
  );
  const agent = await world.channel();
  const { jid: to, host, user } = agent;
  const replace = (id: string) => xml("replace", { xmlns: NS.replace, id });
  const first = await alice.say(to, "buy milk");
  const second = await alice.say(to, "buy oat milk", replace(first));
  // Some programs name the last correction.
  await alice.say(to, "buy soy milk", replace(second));
  const retract = xml("retract", { xmlns: NS.retract, id: first });
  await alice.say(to, "/me has taken a message back", retract);
  // Of another program it is none; and nothing that was said gets lost with what it corrects.
  await phone.say(to, "buy no milk", replace(first));
  await alice.say(to, "buy water", replace("never heard"));
  await agent.heard("buy water");
  const told = host.published.map(({ content, replaces }) => [content, replaces]);
  const id = host.published[0]!.messageId;
  assertEquals(told, [
    ["buy milk", undefined],
    ["buy oat milk", id],
    ["buy soy milk", id],
    ["", id],
    ["buy no milk", undefined],
    ["buy water", undefined],
  ]);
  assertEquals(new Set(host.published.map(({ messageId }) => messageId)).size, 6);

  const { stateDir } = host;
  await agent.close({ keepsState: true });
  await alice.say(to, "buy juice", replace(first));
  const again = await world.channel({}, { user, stateDir });
  assertEquals((await again.heard("buy juice")).replaces, id);
  await again.close();
  await Deno.remove(stateDir, { recursive: true });
});

test("others are told that corrections and retractions are understood", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const query = xml("query", { xmlns: NS.discoInfo });
  const answer = await alice.session.request("get", `${agent.jid}/service`, query);
  const features = answer.getChild("query", NS.discoInfo)!.getChildren("feature");
  const names = features.map(({ attrs }) => attrs.var);
  assertEquals([NS.replace, NS.retract].filter((name) => !names.includes(name)), []);
});

test("ids that a sender has made up are not those of the archive (W2)", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const forged = xml("stanza-id", { xmlns: NS.stanzaIds, by: agent.jid, id: "mine" });
  await alice.say(agent.jid, "one", forged);
  await alice.say(agent.jid, "two", forged);
  const [one, two] = [await agent.heard("one"), await agent.heard("two")];
  assert(one.messageId !== two.messageId, one.messageId);
  assert(!one.messageId!.endsWith("mine") && one.messageId!.startsWith("archive:"), one.messageId);
});

test("who writes encrypted is told once that it cannot be read", async (world) => {
  const alice = await world.person("alice");
  const mallory = await world.person("mallory");
  const agent = await world.channel({ allowFrom: [alice.jid], language: "de" });
  const omemo = (...children: XmlElement[]) =>
    xml("encrypted", { xmlns: "eu.siacs.conversations.axolotl" }, xml("header"), ...children);
  await alice.say(agent.jid, "keys", omemo());
  for (const person of [mallory, alice, alice]) {
    await person.say(agent.jid, "I sent you an OMEMO message", omemo(xml("payload", {}, "x")));
  }
  await alice.say(agent.jid, "?OTRv23?");
  await alice.say(agent.jid, "-----", xml("x", { xmlns: "jabber:x:encrypted" }, "abc"));
  await alice.say(agent.jid, "in clear");
  await agent.heard("in clear");
  await agent.send(alice.jid, "marker");
  await alice.message("marker");
  const texts = alice.texts(agent.jid);
  assertEquals(texts.length, 2);
  assert(texts[0]!.includes("Ende-zu-Ende-verschlüsselt"), texts[0]);
  assertEquals([agent.host.offered.length, mallory.texts(agent.jid)], [1, []]);
});

test("an approval is asked for in words, and how it came out takes its place", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const digest = "0123456789abcdef".repeat(4);
  const event = { type: "approval" as const, id: "apr_1", digest, expiresAt: 1 };
  await agent.send(alice.jid, "Allow it? /approve apr_1 01234567", { event });
  const question = await alice.message("Allow it?");
  await alice.say(agent.jid, "/approve apr_1 01234567");
  const command = await agent.heard("/approve apr_1 01234567");
  assertEquals([command.senderId, command.chatId], [alice.jid, alice.jid]);
  const { user, host: { stateDir } } = agent;
  await agent.close({ keepsState: true });
  // It is known which message that was, also after a restart.
  const again = await world.channel({}, { user, stateDir });
  await again.send(alice.jid, "Approved: it runs.", {
    event: { type: "approval_resolved", id: "apr_1", outcome: "approved" },
  });
  const outcome = await alice.message("Approved: it runs.");
  assertEquals(outcome.getChild("replace", NS.replace)?.attrs.id, question.attrs.id);
  assertEquals(alice.texts(again.jid), [
    "Allow it? /approve apr_1 01234567\n\nApproved: it runs.",
  ]);
  await again.close();
  await Deno.remove(stateDir, { recursive: true });
});

test("what it is doing is a status for the chat alone, which goes when the turn ends", async (world) => {
  const [alice, bob] = [await world.person("alice"), await world.person("bob")];
  const agent = await world.channel();
  const note = (text: string) =>
    agent.send(alice.jid, text, { event: { type: "progress", toolHint: true } });
  const statuses = (person: typeof alice) =>
    person.stanzas.filter((one) => one.name === "presence" && one.attrs.from?.startsWith(agent.jid))
      .map((one) => one.getChildText("status"));
  await note("reading `a.txt`");
  await note("reading b.txt");
  await note("**reading** c.txt");
  agent.host.clock.tick(3_000);
  await alice.stanza((one) => one.getChildText("status") === "reading c.txt");
  await agent.send(alice.jid, "", { event: { type: "turn_end", status: "done" } });
  await agent.send(alice.jid, "marker");
  await alice.message("marker");
  assertEquals(statuses(alice), ["reading a.txt", "reading c.txt", null]);
  assertEquals([alice.texts(agent.jid), statuses(bob)], [["marker"], []]);
});

test("a stream is one message that grows, and nothing comes twice (C26, C27, C28)", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel({ streaming: true });
  const other = agent.stream(alice.jid, "Other", { streamId: "s2" });
  await agent.stream(alice.jid, "Hello");
  await other;
  world.server.refuseNext(agent.user, { type: "wait", condition: "remote-server-timeout" });
  const refused = agent.stream(alice.jid, ", **wor");
  refused.catch(() => {});
  await waits(agent);
  await assertRejects(() => refused, Error, "remote-server-timeout");
  const again = agent.stream(alice.jid, ", **world**", { streamEnd: true });
  await waits(agent);
  await again;
  await alice.message("Hello, *world*");
  assertEquals(alice.texts(agent.jid).toSorted(), ["Hello, *world*", "Other"]);
  assertEquals(alice.stanzas.filter((one) => one.getChild("body") !== undefined).length, 3);
});

/** Lets the time pass that has to lie between two texts of a message. */
async function waits(agent: { host: { clock: { tick(ms: number): void } } }): Promise<void> {
  await Promise.resolve();
  agent.host.clock.tick(1_000);
}

test("who does not take a message says whether that is for good", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const refused = (type: string, condition: string) => {
    world.server.refuseNext(agent.user, { type, condition });
    return agent.send(alice.jid, "refused");
  };
  await assertRejects(() => refused("cancel", "not-allowed"), PermanentDeliveryError, "refused by");
  await assertRejects(() => refused("wait", "resource-constraint"), RetryLaterError);
  const error = await assertRejects(() => refused("wait", "remote-server-timeout")) as Error;
  assert(!(error instanceof PermanentDeliveryError), error.name);
  await assertRejects(() => agent.send("nobody@localhost", "x"), PermanentDeliveryError);
  for (
    const chatId of ["", "alice", "a b@c", "@localhost", "a@localhost/x", "a@b\u0000", "<x>@y"]
  ) {
    await assertRejects(() => agent.send(chatId, "x"), PermanentDeliveryError, "is no address");
  }
  await agent.send(alice.jid, "still here");
  await alice.message("still here");
});

test("a part of a long answer that was taken is not sent again", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const lines = Array.from({ length: 900 }, (_, at) => `line ${at} & <more> of it`);
  const send = () => agent.send(alice.jid, lines.join("\n"), { id: "long" });
  // The second of them.
  const first = alice.message("line 0 ").then(() =>
    world.server.refuseNext(agent.user, { type: "wait", condition: "remote-server-timeout" })
  );
  await send().catch(() => {});
  await first;
  await send().catch(() => send());
  await alice.message("line 899 ");
  const text = alice.texts(agent.jid).join("\n");
  for (const line of lines) assertEquals(text.split(`${line}`).length, 2, line);
});

test("a flood of one chat delays no other", async (world) => {
  const [alice, bob] = [await world.person("alice"), await world.person("bob")];
  const agent = await world.channel();
  const taken = agent.host.hold();
  for (let at = 0; at < 100; at++) {
    void alice.say(agent.jid, `flood ${at}`);
  }
  await agent.until(() => agent.host.offered.length === 1);
  await bob.say(agent.jid, "only once");
  await agent.until(() => agent.host.offered.some(({ content }) => content === "only once"));
  assert(agent.host.offered.length < 5, String(agent.host.offered.length));
  taken();
  const ids = () => new Set(agent.host.published.map(({ messageId }) => messageId));
  await agent.until(() => ids().size === 101);
});

test("whatever XML can hold is heard as it is, and what it cannot hold is left out", async (world) => {
  const alice = await world.person("alice");
  const agent = await world.channel();
  const odd = "a\u202Eb 👩‍👩‍👧‍👦 \uFFFD ]]> &amp; <b/> \t end";
  await alice.say(agent.jid, odd);
  assertEquals((await agent.heard("end")).content, odd);
  await agent.send(alice.jid, "a\u0000b\u001B[31m\uFFFE\uD800c end");
  const answer = (await alice.message("end")).getChildText("body")!;
  assert(/^ab\[31m\uFFFDc end$/.test(answer), JSON.stringify(answer));
});

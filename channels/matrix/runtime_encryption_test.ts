import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import * as olm from "@matrix-org/matrix-sdk-crypto-wasm";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import type { Json } from "./api/matrix_api.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { FakePerson } from "./testing/fake_person.ts";
import { TestChannel } from "./testing/test_channel.ts";

/** An encrypted room with somebody in it who writes to the channel. */
async function encrypted(
  changes: Parameters<typeof TestChannel.connected>[0] = {},
  server?: FakeHomeserver,
) {
  const home = server ?? await FakeHomeserver.open();
  home.rooms.encrypt(home.chatId);
  const alice = await FakePerson.open(home);
  const test = await TestChannel.connected(changes, { server: home });
  return {
    alice,
    test,
    server: home,
    async [Symbol.asyncDispose]() {
      alice.close();
      await test.close();
      await home.close();
    },
  };
}

/** Whether a text stands anywhere in what the server has. */
function isKnown(server: FakeHomeserver, text: string): boolean {
  const events = [...server.rooms.rooms.values()].flatMap(({ timeline }) => timeline);
  return JSON.stringify(events).includes(text);
}

const contentOf = ({ content }: Json) => content as Json;

Deno.test("MatrixChannel reads and answers in an encrypted room, and the server learns no word", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  await alice.say("the plan is blue");
  const { senderId, metadata } = await test.heard("the plan is blue");
  assertEquals(senderId, alice.userId);
  await test.send("so it is **blue**", { metadata });
  const [answer] = await alice.heard();
  assertEquals(answer!.body, "so it is **blue**");
  assertMatch(String(answer!.formatted_body), /<strong>blue<\/strong>/);
  assertEquals(isKnown(server, "blue"), false);
  assertEquals(test.texts, ["the plan is blue"]);
  assertMatch(test.detail, /in 1 room, 1 of them encrypted$/);
});

Deno.test("MatrixChannel hears edits and removals in an encrypted room, of what waits for its key too", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const edit = (eventId: string, body: string) =>
    alice.say(`* ${body}`, {
      "m.new_content": { msgtype: "m.text", body },
      "m.relates_to": { rel_type: "m.replace", event_id: eventId },
    });
  const first = await alice.say("buy milk");
  await edit(first.event_id, "buy oat milk");
  await test.heard("buy oat milk");
  server.redact(first, alice.userId);
  await test.until(() => test.texts.length === 3);
  alice.holdsKeys = true;
  await alice.makeNewKeys();
  const second = await alice.say("sell it all");
  await test.says(/; 1 message waits for a key/);
  server.redact(second, alice.userId, true);
  await test.says(/1 of them encrypted$/);
  const third = await alice.say("buy bread");
  await edit(third.event_id, "buy rye bread");
  await test.says(/; 2 messages wait for a key/);
  await alice.release();
  await test.heard("buy rye bread");
  assertEquals(test.host.published.map(({ content, replaces }) => [content, replaces]), [
    ["buy milk", undefined],
    ["buy oat milk", first.event_id],
    ["", first.event_id],
    ["buy bread", undefined],
    ["buy rye bread", third.event_id],
  ]);
});

Deno.test("MatrixChannel keeps the keys of its session over a restart, encrypted at rest", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const { host } = test;
  await alice.say("before");
  await test.heard("before");
  const { key } = await test.channel.verify("show");
  await test.stop();
  const file = new TextDecoder("latin1").decode(
    await Deno.readFile(`${host.stateDir}/crypto.sqlite`),
  );
  const told = [key, alice.userId, server.chatId].filter((text) => file.includes(text));
  assertEquals([file.length > 10_000, told], [true, []]);
  await alice.say("while it was away");

  await using again = await TestChannel.connected({}, { server, host });
  await again.heard("while it was away");
  assertEquals((await again.channel.verify("show")).key, key);
  await again.send("here I am");
  assertEquals((await alice.heard()).at(-1)!.body, "here I am");
  assertEquals(test.texts, ["before", "while it was away"]);
});

Deno.test("MatrixChannel waits for the key of a message, also over a restart, and hears it once", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const { host } = test;
  alice.holdsKeys = true;
  await alice.say("first");
  await test.says(/; 1 message waits for a key/);
  await alice.say("second");
  await test.says(/; 2 messages wait for a key/);
  await test.stop();
  await alice.release();

  await using again = await TestChannel.connected({}, { server, host });
  await again.heard("second");
  alice.holdsKeys = false;
  await alice.say("third");
  await again.heard("third");
  assertEquals(again.texts, ["first", "second", "third"]);
  await again.says(/1 of them encrypted$/);
});

Deno.test("MatrixChannel hears a message whose key comes while it runs", async () => {
  await using at = await encrypted();
  const { alice, test } = at;
  alice.holdsKeys = true;
  await alice.say("the key is late");
  await test.says(/waits for a key/);
  assertEquals(test.texts, []);
  await alice.release();
  await test.heard("the key is late");
  await test.says(/1 of them encrypted$/);
  assertEquals(test.texts, ["the key is late"]);
});

Deno.test("MatrixChannel that was killed between a key and its place in the sync loses and doubles nothing", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const { host } = test;
  await test.stop();
  const before = { ...host.intake.cursors };
  await alice.say("said before the kill");
  await using second = await TestChannel.connected({}, { server, host });
  await second.heard("said before the kill");
  await second.stop();
  // As when the process ends as soon as the keys are on the disk: the place is that of before.
  host.intake.cursors = before;
  await using third = await TestChannel.connected({}, { server, host });
  await alice.say("and after");
  await third.heard("and after");
  const ids = host.published.map(({ messageId }) => messageId);
  assertEquals(third.texts, ["said before the kill", "said before the kill", "and after"]);
  // The service knows the second one by its id.
  assertEquals(ids[0], ids[1]);
  assertEquals(server.shownEvents(), []);
});

Deno.test("MatrixChannel sends edits, threads and files that only members can read", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const sent = () => test.calls("PUT", /\/send\/m\.room\.encrypted\//).length;
  await test.delta("Half of");
  const end = test.delta(" the answer", { streamEnd: true });
  await test.tickUntil(() => sent() === 2);
  await end;
  const [first, edit] = await alice.heard();
  assertEquals(first!.body, "Half of");
  assertEquals((edit!["m.new_content"] as Json).body, "Half of the answer");

  const path = `${test.host.stateDir}/report.txt`;
  await Deno.writeTextFile(path, "red, green and blue");
  await test.send("", { media: [path] });
  const { file, filename, url } = (await alice.heard()).at(-1)!;
  assertEquals([filename, url], ["report.txt", undefined]);
  const { url: address, ...sealed } = file as Json;
  const { bytes, type } = server.api.files.get(String(address).split("/").at(-1)!)!;
  assertEquals(type, "application/octet-stream");
  const opened = olm.Attachment.decrypt(
    new olm.EncryptedAttachment(bytes, JSON.stringify(sealed)),
  );
  assertEquals(new TextDecoder().decode(opened), "red, green and blue");
  assertEquals(isKnown(server, "report.txt"), false);
});

Deno.test("MatrixChannel reads files of encrypted rooms, and takes none whose bytes were changed", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const { host } = test;
  const { publish } = host;
  const read: string[] = [];
  host.publish = async (message) => {
    for (const path of message.media ?? []) read.push(await Deno.readTextFile(path));
    return await publish.call(host, message);
  };
  const give = async (text: string, change = (bytes: Uint8Array) => bytes) => {
    const sealed = olm.Attachment.encrypt(new TextEncoder().encode("a picture"));
    const id = `sealed${server.api.files.size}`;
    const bytes = change(sealed.encryptedData).slice();
    server.api.files.set(id, { bytes, type: "application/octet-stream", name: "" });
    const file = { ...JSON.parse(sealed.mediaEncryptionInfo!), url: `mxc://example.org/${id}` };
    await alice.say(text, { msgtype: "m.file", filename: "plan.txt", file });
  };
  await give("look at this");
  await test.heard("look at this");
  await give("and at that", (bytes) => bytes.map((byte) => byte ^ 1));
  await test.heard("and at that");
  assertEquals(read, ["a picture"]);
});

Deno.test("MatrixChannel answers approvals by reactions in encrypted rooms", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const expiresAt = test.host.clock.now() + 120_000;
  const event = { type: "approval" as const, id: "apr_1", digest: "ab".repeat(32), expiresAt };
  await alice.say("do it");
  const { metadata } = await test.heard("do it");
  await test.send("May I?", { metadata, event });
  await test.until(() => server.reactions().length === 2);
  server.react(server.reactions()[0]!.eventId, "✅", alice.userId);
  await test.heard("/approve apr_1");
  assertEquals(isKnown(server, "May I?"), false);
});

Deno.test("MatrixChannel goes on behind encrypted events that hold anything", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const algorithm = "m.megolm.v1.aes-sha2";
  const odd: Json[] = [
    {},
    { algorithm },
    { algorithm, ciphertext: 5, session_id: {}, sender_key: [] },
    {
      algorithm,
      ciphertext: "AwgA",
      session_id: "x".repeat(5_000),
      sender_key: "y",
      device_id: "",
    },
    { algorithm: "m.olm.v1.curve25519-aes-sha2", ciphertext: {} },
    { algorithm: "com.example.none", ciphertext: "\u0000" },
  ];
  for (const content of odd) {
    server.rooms.add(server.chatId, { type: "m.room.encrypted", sender: alice.userId, content });
  }
  // What stands under the key may be anything as well.
  await alice.write(server.chatId, "m.room.message", { msgtype: { a: 1 }, body: [] });
  await alice.write(server.chatId, "m.key.verification.start", { method: 3 });
  await alice.write(server.chatId, "m.room.encrypted", { algorithm });
  // And what comes from session to session.
  server.api.keys.send(alice.userId, "m.room.encrypted", {
    messages: { [server.me]: { HELPERDEV: { algorithm: 1, ciphertext: null } } },
  });
  server.api.keys.send("nobody", "", { messages: { [server.me]: { "*": {} } } });
  await alice.say("still there?");
  await test.heard("still there?");
  assertEquals(test.texts, ["still there?"]);
});

Deno.test("MatrixChannel says why where the keys can't be opened, and sends nothing in clear text", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const { host } = test;
  await test.stop();
  host.stateKey = new Uint8Array(32).fill(9);
  await using again = await TestChannel.connected({}, { server, host });
  assertMatch(
    again.detail,
    /encrypted and not readable: the keys in crypto\.sqlite can't be opened/,
  );
  await alice.say("can you read this?");
  await again.until(() => server.sent().length === 1);
  await assertRejects(() => again.send("an answer"), PermanentDeliveryError, "in clear text");
  assertMatch(server.sent()[0]!.text, /I cannot read/);
  assertEquals(isKnown(server, "an answer"), false);
});

Deno.test("MatrixChannel makes no keys for a session that has those of another client", async () => {
  const server = await FakeHomeserver.open();
  using element = await FakePerson.open(server, server.me, "HELPERDEV");
  await element.sync();
  await using at = await encrypted({}, server);
  assertMatch(at.test.detail, /not readable: another client has made the keys of the session/);
});

Deno.test("MatrixChannel encrypts in a room of which the server says later that it is in clear text", async () => {
  await using at = await encrypted();
  const { alice, test, server } = at;
  const { host } = test;
  await test.stop();
  const room = server.rooms.rooms.get(server.chatId)!;
  room.state.delete("m.room.encryption ");
  room.timeline = room.timeline.filter(({ type }) => type !== "m.room.encryption");
  await using again = await TestChannel.connected({}, { server, host });
  await again.send("not for the server");
  assertEquals((await alice.heard()).at(-1)!.body, "not for the server");
  assertEquals(isKnown(server, "not for the server"), false);
});

Deno.test("MatrixChannel has no keys where no room is encrypted, and publishes them before it comes to one", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  server.say("hello", { mentions: [server.me] });
  await test.heard("hello");
  assertEquals(test.calls("POST", /\/keys\//), []);
  await assertRejects(() => Deno.stat(`${host.stateDir}/crypto.sqlite`), Deno.errors.NotFound);

  using alice = await FakePerson.open(server);
  const room = "!dm:example.org";
  server.rooms.create(room, [alice.userId]);
  server.rooms.encrypt(room);
  server.rooms.setMember(room, server.me, "invite", alice.userId);
  await test.until(() => test.calls("POST", /\/join$/).length === 1);
  const order = server.calls.map(({ path }) => path.split("/").slice(-2).join("/"));
  assert(order.indexOf("keys/upload") < order.findIndex((path) => path.endsWith("/join")));
  await alice.say("first words", {}, room);
  await test.heard("first words");
});

Deno.test("MatrixChannel vouches for its session by its account, with the password where that is needed", async () => {
  const server = await FakeHomeserver.open();
  server.api.keys.needsProof = true;
  const { password } = server.api;
  await using at = await encrypted({ accessToken: "", user: "helper", password }, server);
  const { key, isVerified, deviceId } = await at.test.channel.verify("show");
  assertEquals(isVerified, true);
  const { device_keys, master_keys } = server.api.keys.query({ device_keys: { [server.me]: [] } });
  const { signatures } = (contentOf({ content: device_keys })[server.me] as Json)[deviceId] as Json;
  assertEquals(Object.keys((signatures as Json)[server.me] as Json).length, 2);
  assert(key !== "" && server.me in (master_keys as Json));
});

Deno.test("MatrixChannel is verified by emoji with whoever allowFrom lists, and hears them alone where it is to", async () => {
  await using at = await encrypted({ encryption: "verified", allowFrom: ["@alice:example.org"] });
  const { alice, test, server } = at;
  const { channel } = test;
  await alice.makeIdentity();
  await alice.say("nobody has looked at my session");
  await test.until(() => test.host.lines.some(({ message }) => /can't be decrypted/.test(message)));
  assertEquals((await channel.verify("show")).state, "idle");

  await alice.machine.updateTrackedUsers([new olm.UserId(server.me)]);
  await alice.sync();
  const identity = await alice.machine.getIdentity(new olm.UserId(server.me));
  assert(identity instanceof olm.OtherUserIdentity);
  const methods = () => [olm.VerificationMethod.SasV1];
  const content = JSON.parse(identity.verificationRequestContent(methods())) as Json;
  // As Element does, in the room.
  const { event_id } = await alice.write(server.chatId, "m.room.message", {
    ...content,
    msgtype: "m.key.verification.request",
  });
  const request = identity.requestVerification(
    new olm.RoomId(server.chatId),
    new olm.EventId(event_id),
    methods(),
  );
  let seen = 0;
  const aliceReads = async () => {
    await alice.sync();
    const { timeline } = server.rooms.rooms.get(server.chatId)!;
    for (const event of timeline.slice(seen)) {
      if (event.type !== "m.room.encrypted" || event.sender !== server.me) continue;
      const read = await alice.read(event).catch(() => undefined);
      if (read === undefined) continue;
      await alice.machine.receiveVerificationEvent(
        JSON.stringify({ ...read, room_id: server.chatId }),
        new olm.RoomId(server.chatId),
      );
    }
    seen = timeline.length;
    await alice.flush();
  };
  const step = async (action: "show" | "confirm", state: string) => {
    for (let tries = 0;; tries += 1) {
      const now = await channel.verify(action);
      if (now.state === state) return now;
      assert(tries < 200 && ["idle", "waiting"].includes(now.state), now.message);
      // What comes from the server has its turn.
      await new Promise((again) => setTimeout(again, 2));
      await aliceReads();
      if (request.isReady() && request.getVerification() === undefined) {
        const [, start] = (await request.startSas())!;
        await alice.send(start);
      }
    }
  };
  const { emoji, with: other } = await step("show", "compare");
  const sas = request.getVerification() as olm.Sas;
  for (let tries = 0; !sas.canBePresented() && tries < 100; tries += 1) await aliceReads();
  assertEquals(other, alice.userId);
  assertEquals(emoji?.map(({ symbol }) => symbol), sas.emoji()!.map(({ symbol }) => symbol));
  for (const made of await sas.confirm()) await alice.send(made);
  await channel.verify("confirm");
  await step("show", "done");

  await alice.say("now you know me");
  await test.heard("now you know me");
  assertEquals(test.texts, ["now you know me"]);
});

Deno.test("MatrixChannel is vouched for by another session of its account, which verifies it", async () => {
  const server = await FakeHomeserver.open();
  using element = await FakePerson.open(server, server.me, "ELEMENT");
  await element.makeIdentity();
  await using at = await encrypted({}, server);
  const { channel } = at.test;
  assertEquals((await channel.verify("show")).isVerified, false);
  await element.machine.markAllTrackedUsersAsDirty();
  await element.sync();
  const [device] = (await element.machine.getUserDevices(new olm.UserId(server.me))).devices()
    .filter(({ deviceId }) => deviceId.toString() === "HELPERDEV");
  const [request, asked] = device!.requestVerification([olm.VerificationMethod.SasV1]);
  await element.send(asked);
  const step = async (action: "show" | "confirm", state: string) => {
    for (let tries = 0;; tries += 1) {
      const now = await channel.verify(action);
      if (now.state === state) return now;
      assert(tries < 200 && ["idle", "waiting"].includes(now.state), now.message);
      await new Promise((again) => setTimeout(again, 2));
      await element.sync();
      if (request.isReady() && request.getVerification() === undefined) {
        const [, start] = (await request.startSas())!;
        await element.send(start);
      }
    }
  };
  const { emoji, with: other } = await step("show", "compare");
  const sas = request.getVerification() as olm.Sas;
  for (let tries = 0; !sas.canBePresented() && tries < 100; tries += 1) await element.sync();
  assertEquals(other, server.me);
  assertEquals(emoji?.map(({ symbol }) => symbol), sas.emoji()!.map(({ symbol }) => symbol));
  for (const made of await sas.confirm()) await element.send(made);
  await channel.verify("confirm");
  assertEquals((await step("show", "done")).isVerified, true);
});

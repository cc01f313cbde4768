import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import { needs } from "../../tests/support/needs.ts";
import { Ngircd, Person } from "./testing/ngircd.ts";
import { TestChannel } from "./testing/test_channel.ts";
import { withoutCodes } from "./text/to_irc.ts";
import manifest from "./manifest.ts";
import { validate } from "./validation.ts";

function test(name: string, run: (server: Ngircd) => Promise<void>): void {
  Deno.test({
    ...needs(`irc with ngircd: ${name}`, "ngircd"),
    async fn() {
      const server = await Ngircd.start();
      try {
        await run(server);
      } finally {
        await server.close();
      }
    },
  });
}

test("a question in a channel is answered there, and one in private in private", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room"]);
  const irc = await TestChannel.start({ port });
  await irc.says(/^connected as helper to 127.0.0.1, in #room$/);
  await alice.say("PRIVMSG #room :talk of others", "PRIVMSG #room :helper: what is \x02up\x02?");
  const question = await irc.heard("what is up?");
  assertEquals(irc.host.published.length, 1);
  const { senderId, senderName, chatId, metadata, messageId } = question;
  assert(/^alice!~?alice@\S+$/.test(senderId), senderId);
  assertEquals([senderName, chatId, metadata], ["alice", "#room", { nick: "alice" }]);
  assert(messageId !== undefined);
  await irc.send("#room", "**Nothing**", { metadata });
  assertEquals(await alice.hears("helper", "#room", "\x02"), ["alice: \x02Nothing\x02"]);

  await alice.say("PRIVMSG helper :psst");
  const secret = await irc.heard("psst");
  assertEquals([secret.chatId, secret.sessionKey], ["alice", `irc:${senderId}`]);
  await irc.send("alice", "yes?", { metadata: secret.metadata });
  assertEquals(await alice.hears("helper", "alice", "?"), ["yes?"]);
  await irc.close();
  await alice.line(/^:helper\S* QUIT /);
  await alice.close();
});

test("long answers arrive whole, whatever they are written in", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room"]);
  const irc = await TestChannel.start({ port });
  await irc.says(/in #room/);
  const words = Array.from({ length: 400 }, (_, at) => `wörd${at}漢`);
  await irc.send("#room", `**${words.join(" ")}**`);
  const said = await alice.hears("helper", "#room", `${words.at(-1)}\x02`);
  const text = withoutCodes(said.join(" "));
  assertEquals(text.split(" "), words);
  const code = Array.from({ length: 30 }, (_, at) => `    line(${at}); ${"x".repeat(at * 20)}`);
  await irc.send("#room", `\`\`\`js\n${code.join("\n")}\n\`\`\``);
  await irc.send("#room", "end of code");
  const lines = (await alice.hears("helper", "#room", "end of code")).map(withoutCodes);
  assertEquals(lines.filter((line) => line.startsWith("    line(")).length, 30);
  await irc.send("#room", "👩‍👩‍👧‍👦".repeat(200));
  await irc.send("#room", "end of emoji");
  const all = await alice.hears("helper", "#room", "end of emoji");
  assertEquals(all.join("").split("👩‍👩‍👧‍👦").length, 201);
  await irc.close();
  await alice.close();
});

test("a nick that is in use is replaced, and taken back when it is free", async ({ port }) => {
  const other = await Person.connect(port, "helper", ["#room"]);
  const irc = await TestChannel.start({ port });
  await irc.says(/^connected as helper_ \(helper is in use\) to .*in #room/);
  await other.say("PRIVMSG #room :helper: not for us", "PRIVMSG #room :helper_: for us");
  await irc.heard("for us");
  assertEquals(irc.host.published.length, 1);
  await other.close();
  const alice = await Person.connect(port, "alice", ["#room"]);
  irc.host.clock.tick(120_000);
  await irc.says(/^connected as helper to /);
  await alice.say("PRIVMSG #room :helper, hello");
  await irc.heard("hello");
  await irc.close();
  await alice.close();
});

test("a channel with a key is joined, and one with another key is told of", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room", "#other"]);
  await alice.say("MODE #room +k sesame", "MODE #other +k other");
  await alice.line(/MODE #other \+k/);
  const irc = await TestChannel.start({
    port,
    channels: ["#room", "#other"],
    channelKeys: "#room sesame, #other wrong",
  });
  await irc.says(/in #room; not in #other: its key is missing or wrong/);
  assert(!JSON.stringify([irc.host.details, irc.host.lines]).match(/sesame|wrong,|"wrong/));
  await assertRejects(() => irc.send("#other", "hi"), Error, "its key is missing or wrong");
  await irc.close();
  await alice.close();
});

test("a kick and a ban are told of, and it joins again later", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room"]);
  const irc = await TestChannel.start({ port });
  await irc.says(/in #room/);
  await alice.say("KICK #room helper :be quiet");
  await irc.says(/not in #room: kicked by alice: be quiet/);
  await assertRejects(() => irc.send("#room", "hi"), Error, "kicked by alice");
  irc.host.clock.tick(30_000);
  await irc.says(/, in #room$/);
  await alice.say("MODE #room +b helper!*@*", "KICK #room helper :out");
  await irc.says(/kicked by alice: out/);
  irc.host.clock.tick(60_000);
  await irc.says(/not in #room: we are banned/);
  await alice.say("MODE #room -b helper!*@*");
  irc.host.clock.tick(120_000);
  await irc.says(/, in #room$/);
  await irc.close();
  await alice.close();
});

test("what nobody takes is refused for good, and what the channel does not take too", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room"]);
  const irc = await TestChannel.start({ port });
  await irc.says(/in #room/);
  await assertRejects(() => irc.send("nobody", "hi"), PermanentDeliveryError, "No such nick");
  await assertRejects(() => irc.send("#elsewhere", "hi"), PermanentDeliveryError, "#elsewhere");
  await alice.say("MODE #room +m");
  await alice.line(/MODE #room \+m/);
  await assertRejects(() => irc.send("#room", "hi"), PermanentDeliveryError, "#room");
  for (const target of ["a,b", "#room,alice", "a b", "$*", ":a", "a\r\nQUIT", "", "*"]) {
    await assertRejects(
      () => irc.send(target, "hi"),
      PermanentDeliveryError,
      "no channel and no nick",
    );
  }
  await irc.send("alice", "still here");
  assertEquals(await alice.hears("helper", "alice", "here"), ["still here"]);
  await irc.close();
  await alice.close();
});

test("it comes back when the server does, and goes on in its channels", async (server) => {
  const { port } = server;
  const irc = await TestChannel.start({ port });
  await irc.says(/in #room/);
  await server.kill();
  await irc.says(/^not connected: .*; again in [12] s$/);
  assert(irc.channel.isRunning);
  const error = await assertRejects(() => irc.send("#room", "hi")) as Error;
  assert(!(error instanceof PermanentDeliveryError || error instanceof UncertainDeliveryError));
  irc.host.clock.tick(2_000);
  await irc.says(/^not connected: .*refused.*; again in [23] s$/i);
  await server.run();
  irc.host.clock.tick(4_000);
  await irc.says(/^connected as helper .*in #room$/);
  const alice = await Person.connect(port, "alice", ["#room"]);
  await irc.send("#room", "back");
  assertEquals(await alice.hears("helper", "#room", "back"), ["back"]);
  await irc.close();
  await alice.close();
});

test("two of them in a channel do not talk to each other without an end (C37)", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room"]);
  const one = await TestChannel.start({ port, nick: "one", respond: "all", ignore: ["two"] });
  const two = await TestChannel.start({ port, nick: "two", respond: "all", ignore: ["ONE"] });
  await Promise.all([one.says(/in #room/), two.says(/in #room/)]);
  await one.send("#room", "two: hello");
  await two.send("#room", "one: hello");
  await alice.say("NOTICE #room :one: two: notice", "PRIVMSG #room :\x01VERSION\x01");
  await alice.say(
    "PRIVMSG one :\x01VERSION\x01",
    "NOTICE one :hello",
    "PRIVMSG one :\x01PING 1\x01",
  );
  await alice.say("PRIVMSG #room :\x01ACTION waves at one\x01", "PRIVMSG #room :to all");
  await Promise.all([one.heard("to all"), two.heard("to all")]);
  assertEquals([one.host.offered.length, two.host.offered.length], [1, 1]);
  await one.send("alice", "marker");
  await alice.hears("one", "alice", "marker");
  assertEquals(alice.lines.filter((line) => / NOTICE alice /.test(line) && /^:one/.test(line)), []);
  for (const each of [one, two, alice]) await each.close();
});

test("a nick of allowFrom is nobody in particular, unless that is wanted (C31)", async ({ port }) => {
  const alice = await Person.connect(port, "alice", ["#room"]);
  const [mask] = [await ownMask(alice, "alice")];
  for (
    const [allowFrom, matchNick, isHeard, sender] of [
      [["alice"], false, false, ""],
      [[mask], false, true, mask],
      [[mask.toUpperCase()], false, false, ""],
      [["alice"], true, true, "alice"],
      [["alice2"], true, false, ""],
      [[], true, false, ""],
    ] as const
  ) {
    const irc = await TestChannel.start({ port, allowFrom: [...allowFrom], matchNick });
    await irc.says(/in #room/);
    await alice.say("PRIVMSG helper :am I heard?");
    const bob = await Person.connect(port, "bob");
    await bob.say("PRIVMSG helper :marker");
    // Nothing that bob says is heard; what comes behind it has been looked at by then.
    await irc.send("bob", "seen");
    await irc.send("bob", "seen");
    assertEquals(irc.host.published.map(({ senderId }) => senderId), isHeard ? [sender] : []);
    await irc.close();
    await bob.close();
  }
  await alice.close();
});

async function ownMask(person: Person, nick: string): Promise<string> {
  const join = await person.line(new RegExp(`^:${nick}!\\S+ JOIN `));
  return join.slice(1).split(" ")[0]!;
}

test("validate() finds a server and says what is wrong (C14)", async ({ port }) => {
  const good = { host: "127.0.0.1", port, tls: false, nick: "helper", channels: ["#room"] };
  const found = async (changes: Record<string, unknown>, allowLocal = true) => {
    const section = { ...good, ...changes };
    const subject = { descriptor: manifest, validate };
    const findings = await checkSection(subject, section, { allowLocal });
    return findings.map(({ level, field }) => `${level} ${field}`);
  };
  assertEquals(await found({}), []);
  assertEquals(await found({ port: 1 }), ["warning host"]);
  assertEquals(await found({ host: "a b" }), ["error host"]);
  assertEquals(await found({}, false), ["error host"]);
  assertEquals(await found({ nick: "1abc" }), ["error nick"]);
  assertEquals(await found({ channels: ["room"] }), ["error channels"]);
  assertEquals(await found({ channels: ["#a b"] }), ["error channels"]);
  assertEquals(await found({ channelKeys: "#room" }), ["error channelKeys"]);
  assertEquals(await found({ channelKeys: "#other key" }), ["warning channelKeys"]);
  assertEquals(await found({ account: "a" }), ["error accountPassword"]);
  assertEquals(await found({ matchNick: true }), ["warning matchNick"]);
});

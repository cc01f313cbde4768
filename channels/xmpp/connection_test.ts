import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { isLoginRefused, UncertainDeliveryError } from "../../lib/channel/delivery_error.ts";
import { makeCertificate } from "../../tests/support/certificate.ts";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import { needs } from "../../tests/support/needs.ts";
import { NS } from "./client/namespaces.ts";
import { Person } from "./testing/person.ts";
import { Prosody, PROSODY_NEEDS } from "./testing/prosody.ts";
import { Relay } from "./testing/relay.ts";
import { sectionOf, TestChannel } from "./testing/test_channel.ts";
import { testWithProsody, type World } from "./testing/test_with_prosody.ts";
import manifest from "./manifest.ts";
import { validate } from "./validation.ts";

const test = testWithProsody("xmpp connects");

/** A relay that is closed behind the test. */
function relayTo(world: World, port: number): Relay {
  const relay = new Relay(port);
  world.use({ close: () => relay.down() });
  return relay;
}

test("by STARTTLS and by TLS from the first byte, to a server that shows who it is", async (world) => {
  const { server } = world;
  for (const changes of [{}, { tls: "direct", port: server.tlsPort }]) {
    const agent = await world.channel(changes);
    assertEquals(agent.detail, `connected as ${agent.jid}`);
    await agent.close();
  }
  // A certificate of nobody that is trusted, and one of another name.
  const dir = await Deno.makeTempDir();
  await makeCertificate(dir);
  const [cert, key] = await Promise.all(
    ["cert.pem", "key.pem"].map((name) => Deno.readTextFile(`${server.dir}/${name}`)),
  );
  const other = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: cert!, key: key! });
  const refusing = (async () => {
    for await (const connection of other) {
      await connection.handshake().catch(() => {});
      connection.close();
    }
  })();
  for (
    const [changes, words] of [
      [{ caFile: "" }, "has not shown that it is localhost"],
      [{ caFile: `${dir}/ca.pem` }, "has not shown that it is localhost"],
      [
        { jid: "agent@example.org", tls: "direct", port: other.addr.port },
        "has not shown that it is example.org",
      ],
      [{ jid: "agent@example.org", tls: "direct", port: server.tlsPort }, "that it is example.org"],
    ] as const
  ) {
    const agent = world.use(await TestChannel.start(server, changes));
    await agent.says(/^not connected: /);
    assertStringIncludes(agent.detail, words);
    await assertRejects(() => agent.send("a@localhost", "x"), Error, words);
  }
  other.close();
  await refusing.catch(() => {});
  await Deno.remove(dir, { recursive: true });
});

test("never in the clear, where somebody in between hides that there is encryption", async (world) => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let said = "";
  const serving = (async () => {
    for await (const connection of listener) {
      const decoder = new TextDecoder();
      const greet =
        `<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='${NS.streams}' ` +
        "id='x' from='localhost' version='1.0'><stream:features><mechanisms " +
        "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>" +
        "</stream:features>";
      await connection.write(new TextEncoder().encode(greet));
      const chunk = new Uint8Array(4096);
      for (;;) {
        const size = await connection.read(chunk).catch(() => null);
        if (size === null) break;
        said += decoder.decode(chunk.subarray(0, size));
      }
      connection.close();
    }
  })();
  const agent = await TestChannel.start(world.server, { port: listener.addr.port });
  await agent.says(/^not connected: the server does not offer encryption/);
  await agent.close();
  listener.close();
  await serving.catch(() => {});
  assert(!said.includes("auth"), said);
});

test("a second program with the same account and resource ends the first, without a loop", async (world) => {
  const agent = await world.channel();
  const { user } = agent;
  const other = await world.channel({}, { user });
  await agent.until(() => agent.ended !== undefined).catch(() => {});
  assert(isLoginRefused(agent.ended));
  assertMatch((agent.ended as Error).message, /^Another program .* with the resource service/);
  agent.host.clock.tick(10 * 60_000);
  assert(!agent.channel.isRunning);
  assertEquals(other.detail, `connected as ${other.jid}`);
});

test("a password that counts no more is one clear state", async (world) => {
  const relay = relayTo(world, world.server.port);
  const agent = await world.channel({ port: relay.port });
  world.server.revoke(agent.user);
  relay.cut();
  await agent.says(/^not connected: /);
  agent.host.clock.tick(2_000);
  await agent.until(() => agent.ended !== undefined).catch(() => {});
  assert(isLoginRefused(agent.ended), String(agent.ended));
  const { connections } = relay;
  agent.host.clock.tick(60 * 60_000);
  assertEquals([relay.connections, connections], [2, 2]);
  assert(!JSON.stringify([agent.host.details, agent.host.lines]).includes("correct horse"));
});

test("a message that was cut off is unknown, and what was said meanwhile is heard", async (world) => {
  const relay = relayTo(world, world.server.port);
  const alice = await world.person("alice");
  const agent = await world.channel({ port: relay.port });
  relay.silence();
  const cut = agent.send(alice.jid, "did this arrive?");
  cut.catch(() => {});
  await alice.message("did this arrive?");
  relay.cut();
  await assertRejects(() => cut, UncertainDeliveryError);
  await agent.says(/^not connected: .*; again in [12] s$/);
  const error = await assertRejects(() => agent.send(alice.jid, "x")) as Error;
  assertStringIncludes(error.message, "Not connected");
  assert(!(error instanceof UncertainDeliveryError));
  await alice.say(agent.jid, "meanwhile");
  agent.host.clock.tick(2_000);
  await agent.heard("meanwhile");
  await agent.says(/^connected as /);
  await agent.send(alice.jid, "back");
  await alice.message("back");
  assertEquals(alice.texts(agent.jid), ["did this arrive?", "back"]);
});

test("a message to a room that nobody has acknowledged is not taken for sent as time goes by", async (world) => {
  const relay = relayTo(world, world.server.port);
  const alice = await world.person("alice");
  const room = world.newRoom();
  await alice.join(room);
  const agent = await world.channel({ port: relay.port, rooms: [room] });
  relay.silence();
  let isSent = false;
  const sending = agent.send(room, "did this arrive?").then(() => void (isSent = true));
  sending.catch(() => {});
  await alice.message("did this arrive?");
  agent.host.clock.tick(6_000);
  await agent.until(() => true);
  assert(!isSent);
  relay.cut();
  await assertRejects(() => sending, UncertainDeliveryError);
});

test("a server that says nothing any more is left", async (world) => {
  const relay = relayTo(world, world.server.port);
  const agent = await world.channel({ port: relay.port });
  relay.silence();
  agent.host.clock.tick(60_000);
  agent.host.clock.tick(60_000);
  await agent.says(/^not connected: the server says nothing any more/);
  relay.cut();
});

test("what a server sends without an end is not kept for ever", async (world) => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      const bytes = new TextEncoder().encode(`<stream:stream xmlns:stream='${NS.streams}'><a b='`);
      const flood = new Uint8Array(32 * 1024).fill(0x61);
      try {
        await connection.write(bytes);
        for (;;) await connection.write(flood);
      } catch {
        // It was left.
      }
      try {
        connection.close();
      } catch {
        // It is closed already.
      }
    }
  })();
  const agent = await TestChannel.start(world.server, { port: listener.addr.port });
  await agent.says(/^not connected: the server says too much before encryption/);
  await agent.close();
  listener.close();
  await serving.catch(() => {});
});

test("whatever a server sends, the channel ends that connection and goes on", async (world) => {
  const { server } = world;
  const [cert, key] = await Promise.all(
    ["cert.pem", "key.pem"].map((name) => Deno.readTextFile(`${server.dir}/${name}`)),
  );
  const head = `<stream:stream xmlns='jabber:client' xmlns:stream='${NS.streams}' id='x' ` +
    "from='localhost' version='1.0'>";
  const rubbish = [
    "HTTP/1.1 400 Bad Request\r\n\r\n",
    `${head}<a></b>`,
    `${head}<a>&bogus;</a>`,
    `${head}<!DOCTYPE x [<!ENTITY a "b">]><a>&a;</a>`,
    `${head}</a></stream:stream>`,
    `${head}<stream:error><see-other-host xmlns='${NS.streamErrors}'>example.org</see-other-host>` +
    "</stream:error>",
    `${head}<stream:features/></stream:stream>`,
    `${head}<a b='${"x".repeat(5 * 1024 * 1024)}`,
    "\u0000\u00FF",
    "",
  ];
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: cert!, key: key! });
  const served: number[] = [];
  let current: Deno.Conn | undefined;
  const serving = (async () => {
    for await (const connection of listener) {
      current = connection;
      const text = rubbish[served.length % rubbish.length]!;
      served.push(text.length);
      try {
        const bytes = new TextEncoder().encode(text);
        for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
        connection.close();
      } catch {
        // It was left.
      }
    }
  })();
  const { port } = listener.addr;
  const agent = await TestChannel.start(server, { tls: "direct", port });
  for (let at = 1; at <= rubbish.length; at++) {
    // The same reason with the same wait behind it is said once, but logged each time.
    await agent.until(() => served.length >= at && agent.host.lines.length >= at);
    agent.host.clock.tick(90_000);
  }
  await agent.until(() => agent.host.lines.length > rubbish.length);
  await agent.close();
  assertEquals(agent.ended, undefined);
  listener.close();
  try {
    // A handshake that was left in its middle would be waited for.
    current?.close();
  } catch {
    // It is closed already.
  }
  await serving.catch(() => {});
});

test("validate() logs in, and says what is wrong and where (C14)", async (world) => {
  const { server } = world;
  const room = world.newRoom();
  const alice = await world.person("alice");
  await alice.join(room);
  const found = async (changes: Record<string, unknown>, allowLocal = true) => {
    const values = { ...sectionOf(server, "validated", { rooms: [room] }), ...changes };
    const signal = AbortSignal.timeout(10_000);
    const subject = { descriptor: manifest, validate };
    const findings = await checkSection(subject, values, { allowLocal, signal });
    assert(!JSON.stringify(findings).includes("correct horse"));
    return findings.map(({ level, field }) => `${level} ${field}`);
  };
  assertEquals(await found({}), []);
  assertEquals(await found({ password: "wrong" }), ["error password"]);
  assertEquals(await found({ port: 1 }), ["warning host"]);
  assertEquals(await found({ caFile: "" }), ["warning host"]);
  assertEquals(await found({ caFile: "/nowhere" }), ["error caFile"]);
  assertEquals(await found({ rooms: [world.newRoom()] }), ["warning rooms"]);
  assertEquals(await found({ rooms: ["a b"] }), ["error rooms"]);
  assertEquals(await found({ jid: "agent" }), ["error jid"]);
  assertEquals(await found({ host: "example.org", tls: "none" }), ["error tls"]);
  assertEquals(await found({ uploadUrl: "ftp://x" }), ["error uploadUrl"]);
  assertEquals(await found({ roomPasswords: "sesame" }), ["error roomPasswords"]);
  assertEquals(await found({ inviteFrom: ["ann"] }), ["error inviteFrom"]);
  assertEquals(await found({}, false), ["error host", "error uploadUrl"]);
});

Deno.test({
  ...needs(
    "xmpp connects: by SCRAM, without acknowledgements, archives and files",
    ...PROSODY_NEEDS,
  ),
  async fn() {
    const server = await Prosody.start({
      scram: true,
      without: ["mam", "smacks", "muc_mam", "carbons", "pep"],
    });
    const alice = await Person.connect(server, "alice");
    const agent = await TestChannel.start(server, { tls: "none" });
    try {
      await agent.says(/^connected as /);
      await agent.send(alice.jid, "hello");
      await alice.message("hello");
      await alice.say(agent.jid, "and hello");
      assert((await agent.heard("and hello")).messageId!.startsWith("id:"));
      await assertRejects(() => agent.send("nobody@localhost", "x"), Error, "service-unavailable");
      const { user, host: { stateDir } } = agent;
      await agent.close({ keepsState: true });
      // Kept by the server as for anybody.
      await alice.say(agent.jid, "while away");
      const again = await TestChannel.start(server, {}, { user, stateDir });
      await again.heard("while away");
      await again.close();
      await Deno.remove(stateDir, { recursive: true });
    } finally {
      await agent.close();
      await alice.close();
      await server.close();
    }
  },
});

Deno.test({
  ...needs(
    "xmpp connects: what the server has kept and not in its archive is heard, once",
    ...PROSODY_NEEDS,
  ),
  async fn() {
    const server = await Prosody.start({ archives: false });
    const alice = await Person.connect(server, "alice");
    const agent = await TestChannel.start(server);
    await agent.says(/^connected as /);
    const { user, host: { stateDir } } = agent;
    await agent.close({ keepsState: true });
    await alice.say(agent.jid, "while away");
    const again = await TestChannel.start(server, {}, { user, stateDir });
    await again.heard("while away");
    await alice.say(again.jid, "and now");
    await again.heard("and now");
    assertEquals(again.host.published.map(({ content }) => content), ["while away", "and now"]);
    await again.close();
    await Deno.remove(stateDir, { recursive: true });
    await alice.close();
    await server.close();
  },
});

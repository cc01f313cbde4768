import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../lib/base/clock.ts";
import type { ConnectAnswer, ConnectContext } from "../../lib/channel/descriptor.ts";
import { isLoginRefused, LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { connector } from "./connect.ts";
import { LoginStore } from "./login_store.ts";
import { FakeWhatsApp } from "./testing/fake_whatsapp.ts";
import { TestChannel, withChannel } from "./testing/test_channel.ts";

/** The client library leaves timers of its caches behind. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `whatsapp: ${name}`, sanitizeOps: false, sanitizeResources: false, fn });
}

const loginsIn = (dir: string) =>
  [...Deno.readDirSync(dir)].map(({ name }) => name).filter((name) => /^login_.*e$/.test(name));

/** A connector on a server of its own, that is not linked yet. */
async function withConnector(
  phone: string,
  run: (
    ask: (action: "start" | "poll" | "cancel") => Promise<ConnectAnswer>,
    server: FakeWhatsApp,
    host: FakeHost,
  ) => Promise<void>,
): Promise<void> {
  const server = await FakeWhatsApp.start();
  const host = await FakeHost.open({ name: "whatsapp" });
  const { stateDir, stateKey, log } = host;
  const { login: _, ...section } = server.section;
  const values = { ...section, phone };
  const context: ConnectContext = { values, stateDir, stateKey, log, clock: systemClock };
  try {
    await run((action) => connector.handle(action, {}, context), server, host);
  } finally {
    await connector.handle("cancel", {}, context);
    await server.close();
    await host.close();
  }
}

async function end(ask: (action: "poll") => Promise<ConnectAnswer>): Promise<ConnectAnswer> {
  for (;;) {
    const answer = await ask("poll");
    if (answer.state !== "waiting") return answer;
    await new Promise((next) => setTimeout(next, 5));
  }
}

for (const phone of ["", "+4915100000001"]) {
  test(`linked by ${phone === "" ? "a QR code" : "a code to type"}, it talks with the login that is kept`, async () => {
    await withConnector(phone, async (ask, server, host) => {
      const { show, message } = await ask("start");
      assertMatch(message, /Linked devices/);
      if (phone === "") assertMatch(show!.qr!, /^https:\/\/wa\.me\/settings\/linked_devices#ref1,/);
      else assertMatch(show!.code!, /^[1-9A-Z]{4}-[1-9A-Z]{4}$/);
      await server.confirm(show);
      const { state, values, show: over } = await end(ask);
      assertEquals([state, over], ["connected", undefined]);
      const login = values!.login as string;
      // The file shows nothing of what is in it.
      const [file] = loginsIn(host.stateDir);
      const bytes = new TextDecoder().decode(await Deno.readFile(`${host.stateDir}/${file}`));
      assertStringIncludes(file!, login);
      assert(!bytes.includes("4915100000001"));

      const channel = new TestChannel(server, host, { login });
      await channel.ready();
      assertEquals(channel.detail, "connected as +4915100000001");
      await server.write(server.senders[0], { conversation: "hello" });
      await channel.heard("hello");
      await channel.send("hi");
      assertEquals(server.sent().map(({ text }) => text), ["hi"]);
      await channel.stop();
    });
  });
}

test("what is cancelled or not used in time leaves no login behind", async () => {
  await withConnector("", async (ask, server, host) => {
    await ask("start");
    assertEquals(loginsIn(host.stateDir).length, 1);
    assertEquals((await ask("cancel")).state, "cancelled");
    assertEquals((await ask("poll")).state, "cancelled");
    assertEquals(loginsIn(host.stateDir), []);
    await ask("start");
    server.cut();
    const { state, message } = await end(ask);
    assertEquals(state, "failed");
    assertMatch(message, /^Not linked: /);
    assertEquals(loginsIn(host.stateDir), []);
  });
});

test("without a login, with one of another key, and with one that the phone has removed, it ends and says what to do", async () => {
  const server = await FakeWhatsApp.start();
  const host = await FakeHost.open({ name: "whatsapp" });
  const unlinked = new TestChannel(server, host, {});
  await unlinked.started;
  assert(isLoginRefused(unlinked.ended));
  assertStringIncludes((unlinked.ended as Error).message, "service channels login whatsapp");
  await server.prepare(host.stateDir, new Uint8Array(32));
  const locked = new TestChannel(server, host, {});
  await locked.started;
  assert(isLoginRefused(locked.ended));
  assertStringIncludes((locked.ended as Error).message, "has changed");
  await server.prepare(host.stateDir, host.stateKey!);
  const linked = new TestChannel(server, host, {});
  await linked.ready();
  server.revoke();
  await linked.started;
  assert(isLoginRefused(linked.ended));
  assertStringIncludes((linked.ended as Error).message, "WhatsApp has signed this program out");
  await server.close();
  await host.close();
});

test("a connection that ends is made again, and says why: lost, replaced, banned, outdated", async () => {
  await withChannel({}, async (whatsapp, server) => {
    const { clock } = whatsapp.host;
    const again = async (seconds: number) => {
      clock.tick(seconds * 1_000);
      await whatsapp.ready();
    };
    server.cut();
    await whatsapp.until(() => /^not connected: .*again in \d s/.test(whatsapp.detail));
    await again(60);
    server.replace();
    await whatsapp.until(() => whatsapp.detail.includes("another program uses the same login"));
    server.failure = { reason: "402", expire: "600" };
    clock.tick(60_000);
    await whatsapp.until(() =>
      /banned the account for a while; again in 600 s/.test(whatsapp.detail)
    );
    await again(600);
    server.failure = { reason: "405" };
    server.cut();
    await whatsapp.until(() => /^not connected/.test(whatsapp.detail));
    clock.tick(60_000);
    await whatsapp.started;
    assert(isLoginRefused(whatsapp.ended));
    assertStringIncludes((whatsapp.ended as Error).message, "set clientVersion");
  });
});

test("the sessions of people outlive the process: nothing is agreed upon anew", async () => {
  const server = await FakeWhatsApp.start();
  const host = await FakeHost.open({ name: "whatsapp" });
  await server.prepare(host.stateDir, host.stateKey!);
  const first = new TestChannel(server, host, {});
  await first.ready();
  await server.write(server.senders[0], { conversation: "one" });
  await first.heard("one");
  await first.send("two");
  await first.stop();
  await server.deliverAway({ text: "three", senderId: server.senders[0], from: "person" });
  const second = new TestChannel(server, host, {});
  await second.heard("three");
  await second.send("four", { id: "out-4" });
  assertEquals(server.sent().map(({ text }) => text), ["two", "four"]);
  assertEquals(server.acknowledged().length, 2);
  assert(!server.asked.includes("receipt retry"));
  await second.stop();
  await server.close();
  await host.close();
});

test("a value that was changed, moved or sealed with another key is not taken", async () => {
  const dir = await Deno.makeTempDir();
  const place = { stateDir: dir, stateKey: new Uint8Array(32).fill(1) };
  const name = LoginStore.newName();
  const store = await LoginStore.open(place, name);
  store.saveCreds();
  store.keys.set({ "lid-mapping": { a: "1", b: "2" } });
  assertEquals(await store.keys.get("lid-mapping", ["a", "b", "c"]), { a: "1", b: "2" });
  store.keys.set({ "lid-mapping": { a: null } });
  assertEquals(await store.keys.get("lid-mapping", ["a", "b"]), { b: "2" });
  store.keepSent("m", { conversation: "said" });
  assertEquals(store.sent("m")?.conversation, "said");
  store.close();
  const again = await LoginStore.open(place, name);
  assertEquals(again.creds.registrationId, store.creds.registrationId);
  const [file] = loginsIn(dir);
  const database = new DatabaseSync(`${dir}/${file}`);
  database.exec(
    "UPDATE entries SET value = (SELECT value FROM entries WHERE kind = 'sent') WHERE kind = 'creds'",
  );
  database.close();
  again.close();
  await assertRejects(() => LoginStore.open(place, name));
  const { stateKey: _, ...keyless } = place;
  await assertRejects(() => LoginStore.open(keyless, name), LoginRefusedError, "service doctor");
  await LoginStore.open(place, LoginStore.newName()).then((other) => other.close());
  assertEquals(loginsIn(dir).length, 2);
  await LoginStore.remove(dir, name, { others: true });
  assertEquals([await LoginStore.has(dir, name), loginsIn(dir).length], [true, 1]);
  await LoginStore.remove(dir, name);
  assertEquals(loginsIn(dir), []);
  await Deno.remove(dir, { recursive: true });
});

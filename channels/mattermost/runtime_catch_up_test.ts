import { assert, assertEquals } from "@std/assert";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";
import { TestChannel, withChannel } from "./testing/test_channel.ts";

/** Cuts every connection, and lets the channel come again. */
async function again(mattermost: TestChannel): Promise<void> {
  await mattermost.server.sockets.cut();
  await mattermost.until(() => /^not connected/.test(mattermost.detail));
  mattermost.host.clock.tick(60_000);
  await mattermost.until(() => /^connected/.test(mattermost.detail));
}

/** Lets the channel try again each time that it says that it waits, until it holds. */
async function tryingAgain({ host }: TestChannel, holds: () => boolean): Promise<void> {
  let seen = 0;
  while (!holds()) {
    const waits = host.lines.filter(({ message }) => /are tried again$/.test(message));
    if (waits.length > seen) {
      seen = waits.length;
      host.clock.tick(Number(waits.at(-1)!.fields?.waitMs));
    }
    await new Promise((again) => setTimeout(again, 2));
  }
}

const listed = ({ server }: TestChannel) =>
  server.api.requests.filter((request) => request === "GET /users/me/channels").length;

Deno.test("mattermost: what was written while it was down is heard after the start, once, and nothing from before the first start", async () => {
  const server = await FakeMattermost.open();
  const host = await FakeHost.open({ name: "mattermost" });
  const { alice, bob } = server.store;
  server.write(alice.id, "before the first start");
  const first = new TestChannel(server, host);
  await first.ready();
  server.write(alice.id, "while it ran");
  await first.heard("while it ran");
  await first.stop();
  for (let at = 0; at < 450; at++) server.write(bob.id, `missed ${at}`);
  server.write(alice.id, "missed direct", {}, server.direct);
  const gone = server.write(alice.id, "no: deleted");
  gone.delete_at = gone.create_at + 1;
  const requests = server.api.requests.length;
  const second = new TestChannel(server, host);
  await second.heard("missed 449");
  await second.heard("missed direct");
  // Nothing is fetched again by the next start.
  await second.stop();
  const pages = server.api.requests.slice(requests).filter((one) => one.includes("/posts?page"));
  assertEquals(pages.length, 4);
  const third = new TestChannel(server, host);
  await third.ready();
  server.write(alice.id, "marker");
  await third.heard("marker");
  const texts = third.texts();
  assertEquals(Object.values(texts).filter((count) => count !== 1), []);
  assertEquals(Object.keys(texts).length, 453);
  assert(!("before the first start" in texts) && !("no: deleted" in texts));
  const order = third.host.published.map(({ content }) => content)
    .filter((text) => /^missed \d/.test(text));
  assertEquals(order, Array.from({ length: 450 }, (_, at) => `missed ${at}`));
  await third.stop();
  await server.close();
  await host.close();
});

Deno.test("mattermost: a message that was not handed over when the process ended is handed over by the next (W1)", async () => {
  const server = await FakeMattermost.open();
  const host = await FakeHost.open({ name: "mattermost" });
  const first = new TestChannel(server, host);
  await first.ready();
  const release = host.hold();
  server.write(server.store.alice.id, "not lost");
  await first.until(() => host.offered.length === 1);
  await first.stop();
  release();
  const accepted = host.published.length;
  const second = new TestChannel(server, host);
  await second.until(() => host.published.length > accepted);
  assertEquals(new Set(host.published.map(({ messageId }) => messageId)).size, 1);
  await second.stop();
  await server.close();
  await host.close();
});

Deno.test("mattermost: every message that is delivered three times starts one turn each (W2)", async () => {
  await withChannel({ ackReaction: "eyes" }, async (mattermost, server) => {
    const { alice } = server.store;
    for (let at = 0; at < 10; at++) {
      server.write(alice.id, `message ${at}`);
      await server.redeliver();
      await server.redeliver();
    }
    await mattermost.heard("message 9");
    // A connection that the server has forgotten: everything may come once more.
    server.sockets.forget();
    await again(mattermost);
    server.write(alice.id, "marker");
    await mattermost.heard("marker");
    const turns = new Set(mattermost.host.published.map(({ messageId }) => messageId));
    assertEquals(turns.size, 11);
    assertEquals(mattermost.host.published.length, 11);
    await mattermost.until(() => server.store.reactions.length === 11);
  });
});

Deno.test("mattermost: a connection that was cut is resumed, and nothing is fetched or lost", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { sockets, store } = server;
    server.write(store.alice.id, "before");
    await mattermost.heard("before");
    await sockets.cut();
    server.write(store.alice.id, "meanwhile");
    const lists = listed(mattermost);
    await mattermost.until(() => /^not connected/.test(mattermost.detail));
    mattermost.host.clock.tick(1_250);
    await mattermost.heard("meanwhile");
    server.write(store.alice.id, "behind");
    await mattermost.heard("behind");
    assertEquals(listed(mattermost), lists);
    const query = sockets.upgrades.at(-1)!;
    assert(Number(query.get("sequence_number")) >= 2);
    assertEquals(query.get("connection_id")!.length, 26);
    assertEquals(mattermost.texts(), { before: 1, meanwhile: 1, behind: 1 });
  });
});

Deno.test("mattermost: what a server that was started anew cannot give again is fetched", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { sockets, store } = server;
    server.write(store.alice.id, "before");
    await mattermost.heard("before");
    await sockets.cut();
    sockets.forget();
    server.write(store.alice.id, "meanwhile");
    await mattermost.until(() => /^not connected/.test(mattermost.detail));
    mattermost.host.clock.tick(1_250);
    await mattermost.heard("meanwhile");
    assertEquals(mattermost.texts(), { before: 1, meanwhile: 1 });
  });
});

Deno.test("mattermost: an event that is missing in the count ends the connection, and is fetched", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { sockets, store, room } = server;
    store.post(store.alice.id, room.id, "never said");
    sockets.skip();
    server.write(store.bob.id, "announced");
    await mattermost.until(() => /^not connected/.test(mattermost.detail));
    mattermost.host.clock.tick(1_250);
    await mattermost.heard("announced");
    await mattermost.heard("never said");
    assertEquals(mattermost.texts(), { announced: 1, "never said": 1 });
  });
});

Deno.test("mattermost: behind a proxy that takes headers away it answers the challenge, and fetches what it missed", async () => {
  const server = await FakeMattermost.open();
  server.sockets.dropsHeaders = true;
  const host = await FakeHost.open({ name: "mattermost" });
  const mattermost = new TestChannel(server, host);
  await mattermost.ready();
  server.write(server.store.alice.id, "one");
  await mattermost.heard("one");
  await server.sockets.cut();
  server.write(server.store.alice.id, "two");
  await mattermost.until(() => /^not connected/.test(mattermost.detail));
  host.clock.tick(1_250);
  await mattermost.heard("two");
  assertEquals(mattermost.texts(), { one: 1, two: 1 });
  await mattermost.stop();
  await server.close();
  await host.close();
});

Deno.test("mattermost: a flood in one chat delays no other", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { store, direct } = server;
    const release = mattermost.host.hold();
    for (let at = 0; at < 300; at++) server.write(store.bob.id, `flood ${at}`);
    server.write(store.alice.id, "quick", {}, direct);
    await mattermost.until(() =>
      mattermost.host.offered.some(({ content }) => content === "quick")
    );
    // One of the flood waits for the service, and the others behind it on the disk.
    assertEquals(
      mattermost.host.offered.filter(({ content }) => content.startsWith("flood")).length,
      1,
    );
    release();
    await mattermost.heard("flood 299");
    assertEquals(Object.values(mattermost.texts()).every((count) => count === 1), true);
  });
});

Deno.test("mattermost: an answer that is no list loses nothing", async () => {
  const server = await FakeMattermost.open();
  const host = await FakeHost.open({ name: "mattermost" });
  const first = new TestChannel(server, host);
  await first.ready();
  server.write(server.store.bob.id, "before");
  await first.heard("before");
  await first.stop();
  server.write(server.store.alice.id, "missed");
  const posts = `/channels/${server.room.id}/posts`;
  const broken: [string, string][] = [
    ["/users/me/channels", "{}"],
    [posts, "{}"],
    [posts, '{"order":["a"],"posts":null}'],
  ];
  server.api.instead = (_, path) => {
    if (broken[0]?.[0] !== path) return undefined;
    return new Response(broken.shift()![1], { headers: { "content-type": "application/json" } });
  };
  const second = new TestChannel(server, host);
  await tryingAgain(second, () => "missed" in second.texts());
  assertEquals([second.texts(), broken], [{ before: 1, missed: 1 }, []]);
  await second.stop();
  await server.close();
  await host.close();
});

Deno.test("mattermost: a channel that cannot be listed keeps no other from being heard, and is looked at again", async () => {
  const server = await FakeMattermost.open();
  const host = await FakeHost.open({ name: "mattermost" });
  const first = new TestChannel(server, host);
  await first.ready();
  server.write(server.store.bob.id, "before");
  await first.heard("before");
  await first.stop();
  const { alice } = server.store;
  server.write(alice.id, "in the broken one");
  server.write(alice.id, "in the other", {}, server.direct);
  server.api.instead = (_, path) =>
    path === `/channels/${server.room.id}/posts`
      ? Response.json({ id: "app.post.get_posts.app_error", message: "x" }, { status: 500 })
      : undefined;
  const second = new TestChannel(server, host);
  await tryingAgain(second, () => "in the other" in second.texts());
  server.write(alice.id, "just now", {}, server.direct);
  await second.heard("just now");
  server.api.instead = () => undefined;
  server.sockets.forget();
  await again(second);
  await second.heard("in the broken one");
  assertEquals(second.texts(), {
    before: 1,
    "in the other": 1,
    "just now": 1,
    "in the broken one": 1,
  });
  await second.stop();
  await server.close();
  await host.close();
});

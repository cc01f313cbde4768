import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newId } from "./testing/fake_store.ts";
import { TestChannel, withChannel } from "./testing/test_channel.ts";

const IN_GROUPS = { respond: "mention", replyInThread: true };

Deno.test("mattermost: in a channel it hears its name, commands and its threads; direct messages always", async () => {
  await withChannel(IN_GROUPS, async (mattermost, { store, room, direct, write }) => {
    const { alice } = store;
    const say = (text: string, more = {}, channel = room) =>
      write.call(mattermost.server, alice.id, text, more, channel);
    say("no: nobody is meant");
    say("no: an address is meant, me@helper.example");
    say("no: @helperine and @helper-two");
    const first = say("@Helper: yes one");
    say("yes two, @helper.");
    say("helper, yes three");
    say("/status yes four");
    say("yes five", {}, direct);
    const other = say("no: a thread of others");
    say("no: in that thread", { root_id: other.id });
    await mattermost.heard("yes five");
    // The bot answers in the thread below the first, and hears what follows there.
    await mattermost.send("An answer", { chatId: `${room.id}/${first.id}` });
    say("yes six", { root_id: first.id });
    await mattermost.heard("yes six");
    assertEquals(
      mattermost.host.offered.map(({ content }) => content).toSorted(),
      [
        "/status yes four",
        "yes five",
        "yes one",
        "yes six",
        "yes three",
        "yes two, @helper.",
      ],
    );
    const one = await mattermost.heard("yes one");
    assertEquals(one.chatId, `${room.id}/${first.id}`);
    assertEquals(one.messageId, first.id);
    assertEquals(one.sentAt, first.create_at);
    assertEquals([one.senderId, one.senderName], [alice.id, "alice"]);
    assertEquals((await mattermost.heard("yes six")).chatId, `${room.id}/${first.id}`);
    assertEquals((await mattermost.heard("yes five")).chatId, direct.id);
  });
});

Deno.test("mattermost: a post of the bot in a channel begins a thread that it hears, also after a restart", async () => {
  await withChannel(IN_GROUPS, async (mattermost, server) => {
    await mattermost.send("Something to talk about");
    const root = [...server.store.posts.values()].at(-1)!;
    const { bob } = server.store;
    server.write(bob.id, "I have a question", { root_id: root.id });
    assertEquals((await mattermost.heard("a question")).chatId, `${server.room.id}/${root.id}`);
    await mattermost.stop();
    const next = new TestChannel(server, mattermost.host, IN_GROUPS);
    await next.ready();
    server.write(bob.id, "and another", { root_id: root.id });
    await next.heard("and another");
    await next.stop();
  });
});

Deno.test("mattermost: nothing that others wrote is taken for the sender's own words", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { store, direct } = server;
    server.write(store.alice.id, "> see\nhttps://evil.example\n\nwhat is it?", {}, direct);
    assertEquals((await mattermost.heard("what is it?")).parts, [
      { text: "> see\nhttps://evil.example", provenance: "quoted" },
      { text: "what is it?" },
    ]);
  });
});

Deno.test("mattermost: what the server, programs and the bot itself write is not heard (C37)", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { store, room, sockets, api } = server;
    const { alice, bot, robot } = store;
    server.write(alice.id, "no: joined", { type: "system_join_channel" });
    server.write(alice.id, "no: by a webhook", { props: { from_webhook: "true" } });
    server.write(alice.id, "no: by a plugin", { props: { from_plugin: true } });
    server.write(alice.id, "no: of a plugin's type", { type: "custom_poll" });
    server.write(robot.id, "no: by a bot", { props: { from_bot: "true" } });
    server.write(bot.id, "no: by us", { props: { from_bot: "true" } });
    server.write(alice.id, "no: gone", { delete_at: 5 });
    const pinned = store.post(alice.id, room.id, "no: pinned");
    sockets.publish("post_edited", { post: JSON.stringify(pinned) }, room.id);
    sockets.publish("ephemeral_message", api.event(pinned), room.id);
    server.write(alice.id, "  ");
    server.write(alice.id, "yes");
    await mattermost.heard("yes");
    assertEquals(mattermost.host.offered.map(({ content }) => content), ["yes"]);
  });
});

for (const kind of ["room", "direct"] as const) {
  Deno.test(`mattermost: what a message says since it was edited is told, and that it was deleted, ${kind}`, async () => {
    await withChannel(IN_GROUPS, async (mattermost, server) => {
      const { store, sockets } = server;
      const post = server.write(store.alice.id, "@helper buy milk", {}, server[kind]);
      const { chatId } = await mattermost.heard("buy milk");
      const tell = (event: string, changes: object) => {
        const changed = { ...post, ...changes };
        sockets.publish(event, { post: JSON.stringify(changed) }, post.channel_id);
      };
      const editAt = post.create_at + 5;
      tell("post_edited", { message: "buy oat milk", edit_at: editAt });
      tell("post_deleted", {});
      // Where nothing was ever heard, there is nothing to change.
      tell("post_edited", { channel_id: newId(), message: "no", edit_at: editAt });
      const { published } = mattermost.host;
      server.write(store.bob.id, "@helper last", {}, server[kind]);
      await mattermost.until(() => published.length >= 4);
      const changes = published.filter(({ senderId }) => senderId === store.alice.id);
      const told = [
        ["buy milk", undefined, post.id, store.alice.id],
        ["buy oat milk", post.id, `${post.id}~${editAt}`, store.alice.id],
        ["", post.id, `${post.id}~Infinity`, store.alice.id],
      ];
      assertEquals(
        changes.map((one) => [one.content, one.replaces, one.messageId, one.senderId]),
        told,
      );
      for (const one of changes) {
        assertEquals([one.chatId, one.metadata?.post_id], [chatId, post.id]);
      }
    });
  });
}

Deno.test("mattermost: another program that writes with the bot's token is named, once, and answered by nobody", async () => {
  await withChannel({}, async (mattermost, server) => {
    await mattermost.send("ours");
    assert(!mattermost.detail.includes("another program"));
    for (const text of ["theirs", "theirs again"]) {
      server.write(server.store.bot.id, text, { props: { from_bot: "true" } });
    }
    await mattermost.until(() => mattermost.detail.includes("another program writes"));
    server.write(server.store.alice.id, "marker");
    await mattermost.heard("marker");
    assertEquals(mattermost.texts(), { marker: 1 });
    const warnings = mattermost.host.lines.filter(({ level }) => level === "warning");
    assertEquals(warnings.length, 1);
  });
});

Deno.test("mattermost: only channels of the team that is set are listened to, and direct messages", async () => {
  await withChannel({ team: "my-team" }, async (mattermost, server) => {
    const { store, direct } = server;
    const foreign = store.channel("foreign", "O", newId());
    server.write(store.alice.id, "no", {}, foreign);
    server.write(store.alice.id, "yes direct", {}, direct);
    server.write(store.alice.id, "yes room");
    await mattermost.heard("yes room");
    assertEquals(mattermost.texts(), { "yes direct": 1, "yes room": 1 });
  });
});

Deno.test("mattermost: a stranger's post leaves nothing behind, and a person of allowFrom is heard", async () => {
  await withChannel({ allowFrom: ["bobxxxxxxxxxxxxxxxxxxxxxxx"] }, async (mattermost, server) => {
    const { store } = server;
    server.write(store.alice.id, "no", { file_ids: [newId()] });
    server.write(store.alice.id, "no");
    server.write(store.alice.id, "no", {}, server.direct);
    server.write(store.bob.id, "yes");
    await mattermost.heard("yes");
    assertEquals(mattermost.host.offered.length, 1);
    assertEquals(mattermost.host.strangers, [
      { senderId: store.alice.id, chatId: server.direct.id },
    ]);
    assert(!server.api.requests.some((request) => request.startsWith("GET /files")));
    // The log has the id once, for whoever wants to list it.
    const named = mattermost.host.lines.filter(({ fields }) => fields?.senderId === store.alice.id);
    assertEquals(named.length, 1);
  });
});

Deno.test("mattermost: events that are none end nothing, and frames that are none the connection alone", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { sockets, store, api, room } = server;
    const post = store.post(store.alice.id, room.id, "x");
    for (
      const data of [
        {},
        { post: 7 },
        { post: "{" },
        { post: "[]" },
        { post: "null" },
        { post: JSON.stringify({ ...post, id: "../../x" }) },
        { post: JSON.stringify({ ...post, user_id: null }) },
        { post: JSON.stringify({ ...post, root_id: 5 }) },
        { post: JSON.stringify({ ...post, id: newId(), message: { a: 1 } }) },
        { ...api.event({ ...post, id: newId(), message: `${"x".repeat(300_000)}\ud800` }) },
        { ...api.event({ ...post, id: newId(), file_ids: 5 as never, metadata: null as never }) },
      ]
    ) sockets.publish("posted", data, room.id);
    sockets.publish("posted", null as never);
    sockets.publish("status_change", { user_id: 5 });
    server.write(store.alice.id, "still here");
    await mattermost.heard("still here");
    for (const raw of ["", "7", "null", "[]", "{", '{"event":"hello","data":null,"seq":0}']) {
      sockets.raw(raw);
      await mattermost.until(() => /^not connected/.test(mattermost.detail));
      assertStringIncludes(mattermost.detail, "the server sent what is no event");
      mattermost.host.clock.tick(60_000);
      await mattermost.until(() => /^connected/.test(mattermost.detail));
    }
    server.write(store.alice.id, "and here");
    await mattermost.heard("and here");
    assertEquals(mattermost.ended, undefined);
  });
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";
import { TestChannel, withChannel } from "./testing/test_channel.ts";
import { freePort } from "../../tests/support/free_port.ts";

const WITH_BUTTONS = { actionsPort: 0, actionsHost: "127.0.0.1" };
const DIGEST = "0123456789abcdef".repeat(4);

async function ask(mattermost: TestChannel, id = "ap1"): Promise<string> {
  const expiresAt = mattermost.host.clock.now() + 120_000;
  const event = { type: "approval", id, digest: DIGEST, expiresAt } as const;
  await mattermost.send("**Approval needed**: exec", { event });
  return [...mattermost.server.store.posts.values()].at(-1)!.id;
}

const resolved = (id = "ap1") => ({ type: "approval_resolved", id, outcome: "approved" }) as const;

Deno.test("mattermost: a click answers an approval as the one who clicked, once", async () => {
  await withChannel({ ...WITH_BUTTONS, language: "es" }, async (mattermost, server) => {
    const { alice } = server.store;
    const postId = await ask(mattermost);
    const post = server.store.posts.get(postId)!;
    const [{ actions }] = post.props.attachments as [{ actions: { id: string; name: string }[] }];
    assertEquals(actions.map(({ id, name }) => [id, name]), [
      ["approve", "Aprobar"],
      ["deny", "Rechazar"],
    ]);
    const said = await server.click(postId, alice.id, "approve");
    assertEquals(said.ephemeral_text, "Tu respuesta se ha transmitido.");
    const heard = await mattermost.heard("/approve");
    assertEquals(
      [heard.content, heard.senderId, heard.chatId],
      ["/approve ap1 01234567", alice.id, server.chatId],
    );
    // Again, and with the other button: a word, and no second command.
    for (const button of ["approve", "deny"]) {
      assertEquals(
        (await server.click(postId, alice.id, button)).ephemeral_text,
        "Esto ya fue respondido.",
      );
    }
    assertEquals(mattermost.host.offered.length, 1);
  });
});

Deno.test("mattermost: a denial is a command of its own", async () => {
  await withChannel(WITH_BUTTONS, async (mattermost, server) => {
    const postId = await ask(mattermost);
    await server.click(postId, server.store.bob.id, "deny");
    assertEquals((await mattermost.heard("/deny")).content, "/deny ap1");
  });
});

Deno.test("mattermost: when an approval is over its buttons go, and the post says how it came out", async () => {
  await withChannel(WITH_BUTTONS, async (mattermost, server) => {
    const postId = await ask(mattermost);
    const { approve } = server.buttons(postId);
    await mattermost.send("It was approved.", { event: resolved() });
    const post = server.store.posts.get(postId)!;
    assertEquals(post.props.attachments, []);
    assertStringIncludes(post.message, "**Approval needed**: exec\n\nIt was approved.");
    assertEquals(server.sent().length, 1);
    // A click that was on its way.
    const late = await approve!(server.store.alice.id);
    assertEquals(late.ephemeral_text, "This was answered already.");
    assertEquals(mattermost.host.offered.length, 0);
  });
});

Deno.test("mattermost: a click that comes too late, or by somebody who may not write, is no command", async () => {
  const bob = "bobxxxxxxxxxxxxxxxxxxxxxxx";
  await withChannel({ ...WITH_BUTTONS, allowFrom: [bob] }, async (mattermost, server) => {
    const postId = await ask(mattermost);
    const stranger = await server.click(postId, server.store.alice.id, "approve");
    assertEquals(stranger.ephemeral_text, "You may not answer this.");
    mattermost.host.clock.tick(120_000);
    const late = await server.click(postId, bob, "approve");
    assertStringIncludes(late.ephemeral_text!, "too late");
    assertEquals(mattermost.host.offered.length, 0);
  });
});

Deno.test("mattermost: a click that cannot be passed on now is passed on later, once", async () => {
  await withChannel(WITH_BUTTONS, async (mattermost, server) => {
    const postId = await ask(mattermost);
    mattermost.host.failNext(new Error("the disk is full"));
    const { alice } = server.store;
    assertStringIncludes(
      (await server.click(postId, alice.id, "approve")).ephemeral_text!,
      "passed on",
    );
    await mattermost.until(() => mattermost.host.lines.some(({ level }) => level === "warning"));
    assertEquals(mattermost.host.published.length, 0);
    mattermost.host.clock.tick(1_000);
    assertEquals((await mattermost.heard("/approve")).content, "/approve ap1 01234567");
    assertEquals(mattermost.host.published.length, 1);
  });
});

Deno.test("mattermost: buttons of the process before work, and are taken away by this one", async () => {
  const server = await FakeMattermost.open();
  const host = await FakeHost.open({ name: "mattermost" });
  const port = freePort();
  const first = new TestChannel(server, host, { actionsHost: "127.0.0.1", actionsPort: port });
  await first.ready();
  const postId = await ask(first);
  await first.stop();
  await assertRejects(() => server.click(postId, server.store.alice.id, "approve"));
  const second = new TestChannel(server, host, { actionsHost: "127.0.0.1", actionsPort: port });
  await second.ready();
  await server.click(postId, server.store.alice.id, "approve");
  await second.heard("/approve ap1 01234567");
  await second.send("It was approved.", { event: resolved() });
  assertEquals(server.store.posts.get(postId)!.props.attachments, []);
  await second.stop();
  await server.close();
  await host.close();
});

Deno.test("mattermost: a click that is not made on a button of ours is refused", async () => {
  await withChannel(WITH_BUTTONS, async (mattermost, server) => {
    const postId = await ask(mattermost);
    await ask(mattermost, "ap2");
    type Action = { id: string; integration: { url: string; context: Record<string, string> } };
    const [{ actions }] = server.store.posts.get(postId)!.props.attachments as [
      { actions: Action[] },
    ];
    const [{ integration: { url, context } }] = actions as [Action, Action];
    const good = { user_id: server.store.alice.id, post_id: postId, context };
    const answer = async (body: unknown, init: RequestInit = { method: "POST" }) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(url, { ...init, ...init.method === "POST" && { body: text } });
      return { status: response.status, text: await response.text() };
    };
    for (
      const body of [
        "",
        "null",
        "7",
        "[]",
        "{}",
        "x".repeat(70_000),
        { ...good, context: null },
        { ...good, user_id: "alice" },
        { ...good, user_id: { a: 1 } },
        { ...good, context: { ...context, verb: "deny" } },
        { ...good, context: { ...context, approvalId: "ap2" } },
        { ...good, context: { ...context, digest: "f".repeat(64) } },
        { ...good, context: { ...context, mac: "" } },
        { ...good, context: { ...context, mac: "%" } },
        { ...good, context: { ...context, mac: btoa("x".repeat(32)) } },
      ]
    ) assertEquals((await answer(body)).status, 403, JSON.stringify(body).slice(0, 80));
    assertEquals((await answer("", { method: "GET" })).status, 405);
    const elsewhere = await fetch(url.replace("/actions", "/other"), {
      method: "POST",
      body: "{}",
    });
    assertEquals([elsewhere.status, await elsewhere.text()], [404, "Not found"]);
    // The context of one post, given for another.
    const other = [...server.store.posts.values()].at(-1)!.id;
    assertStringIncludes((await answer({ ...good, post_id: other })).text, "too late");
    assertEquals(mattermost.host.offered.length, 0);
    assertEquals((await answer(good)).status, 200);
  });
});

Deno.test("mattermost: without an address for clicks approvals are words, and so is how they came out", async () => {
  await withChannel({}, async (mattermost, server) => {
    const postId = await ask(mattermost);
    assertEquals(server.store.posts.get(postId)!.props.attachments, undefined);
    await mattermost.send("It was approved.", { event: resolved() });
    assertEquals(server.sent().map(({ text }) => text), [
      "**Approval needed**: exec\n\nIt was approved.",
    ]);
  });
});

Deno.test("mattermost: where the post of an approval is gone it is said anew how it came out", async () => {
  await withChannel(WITH_BUTTONS, async (mattermost, server) => {
    const postId = await ask(mattermost);
    server.store.posts.get(postId)!.delete_at = 1;
    await mattermost.send("It was denied.", { event: resolved() });
    assertEquals(server.sent().map(({ text }) => text), ["It was denied."]);
    assert(mattermost.channel.isRunning);
  });
});

Deno.test("mattermost: buttons name the URL under which the server reaches them", async () => {
  const actionsUrl = "https://agent.example.com/chat/";
  await withChannel({ ...WITH_BUTTONS, actionsUrl }, async (mattermost, server) => {
    const postId = await ask(mattermost);
    const attachments = JSON.stringify(server.store.posts.get(postId)!.props.attachments);
    assertStringIncludes(attachments, '"https://agent.example.com/chat/mattermost/actions"');
  });
});

Deno.test("mattermost: buttons work although the server's answer to their post was lost", async () => {
  await withChannel(WITH_BUTTONS, async (mattermost, server) => {
    server.api.losesAnswer = true;
    // Nobody can look either whether the post is there.
    server.api.instead = (method, path) =>
      method === "GET" && path.endsWith("/posts") ? new Response("x", { status: 502 }) : undefined;
    await assertRejects(() => ask(mattermost));
    const post = [...server.store.posts.values()].at(-1)!;
    const said = await server.click(post.id, server.store.alice.id, "approve");
    assertEquals(said.ephemeral_text, "Your answer was passed on.");
    await mattermost.heard("/approve ap1 01234567");
    await mattermost.send("It was approved.", { event: resolved() });
    const again = await server.click(post.id, server.store.bob.id, "deny");
    assertEquals(again.ephemeral_text, "This was answered already.");
  });
});

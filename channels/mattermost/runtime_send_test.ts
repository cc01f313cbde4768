import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import {
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import type { FakeMattermost } from "./testing/fake_mattermost.ts";
import { newId } from "./testing/fake_store.ts";
import { withChannel } from "./testing/test_channel.ts";

const texts = (server: FakeMattermost) => server.sent().map(({ text }) => text);
const posts = ({ api }: FakeMattermost) =>
  api.requests.filter((request) => request.startsWith("POST /posts")).length;

Deno.test("mattermost: deltas come together in one post of their stream, the end last (C26)", async () => {
  await withChannel({}, async (mattermost, server) => {
    await mattermost.push("one ");
    const other = mattermost.push("other", { streamId: "b", streamEnd: true });
    const more = mattermost.push("two ");
    await other;
    mattermost.host.clock.tick(1_000);
    await more;
    const end = mattermost.push("three", { streamEnd: true });
    await mattermost.until(() => mattermost.host.clock.timers() > 0);
    mattermost.host.clock.tick(1_000);
    await end;
    assertEquals(texts(server), ["one two three", "other"]);
    const edits = server.api.requests.filter((request) => request.startsWith("PUT /posts"));
    assertEquals(edits.length, 2);
  });
});

Deno.test("mattermost: a piece that was refused comes once more, and its text arrives once (C27)", async () => {
  await withChannel({}, async (mattermost, server) => {
    await mattermost.push("one ");
    server.refuse("temporary");
    const failing = mattermost.push("two ");
    failing.catch(() => {});
    mattermost.host.clock.tick(1_000);
    await assertRejects(() => failing);
    const again = mattermost.push("two three", { streamEnd: true });
    mattermost.host.clock.tick(1_000);
    await again;
    assertEquals(texts(server), ["one two three"]);
  });
});

Deno.test("mattermost: an answer that was streamed is in the chat once (C28)", async () => {
  await withChannel({ streaming: true }, async (mattermost, server) => {
    server.write(server.store.alice.id, "hello");
    assertEquals((await mattermost.heard("hello")).streaming, true);
    await mattermost.push("the answer", { streamEnd: true });
    await mattermost.send("", { event: { type: "turn_end", status: "done" } });
    assertEquals(texts(server), ["the answer"]);
    assertEquals(posts(server), 1);
  });
});

Deno.test("mattermost: a pause that the server asks for is passed on, and nothing is sent before (429)", async () => {
  for (const header of ["Retry-After", "X-Ratelimit-Reset"] as const) {
    await withChannel({}, async (mattermost, server) => {
      server.api.limited = { count: 1, retryAfterS: 7, header };
      const error = await assertRejects(() => mattermost.send("one"), RetryLaterError);
      assertEquals(error.retryAfterMs, 7_000);
      const before = server.api.requests.length;
      mattermost.host.clock.tick(5_000);
      const next = await assertRejects(() => mattermost.send("one"), RetryLaterError);
      assertEquals([next.retryAfterMs, server.api.requests.length], [2_000, before]);
      mattermost.host.clock.tick(2_000);
      await mattermost.send("one");
      assertEquals(texts(server), ["one"]);
    });
  }
});

Deno.test("mattermost: parts that were taken are not sent again", async () => {
  await withChannel({ server: { maxPostSize: 4_000 } }, async (mattermost, server) => {
    const long = Array.from({ length: 3 }, (_, at) => `${at}`.repeat(3_500)).join("\n\n");
    server.api.refuseAfter(1, { status: 503, id: "api.busy", message: "Busy." });
    await assertRejects(() => mattermost.send(long, { id: "long" }), Error, "Busy");
    await mattermost.send(long, { id: "long" });
    assertEquals(texts(server).map((text) => text[0]), ["0", "1", "2"]);
  });
});

Deno.test("mattermost: a post that was taken though the connection was cut is found, and not sent again", async () => {
  await withChannel({}, async (mattermost, server) => {
    server.api.losesAnswer = true;
    await mattermost.send("taken");
    assertEquals(texts(server), ["taken"]);
  });
});

Deno.test("mattermost: an answer that names no post is looked behind, and is uncertain where there is none", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { api } = server;
    for (const body of ["null", "7", "{}", '{"id":"../x"}', "<html>"]) {
      api.nonsense = body;
      await assertRejects(() => mattermost.send("lost"), UncertainDeliveryError);
    }
    await mattermost.send("next");
    assertEquals(texts(server), ["next"]);
  });
});

Deno.test("mattermost: where nobody can say whether a post was taken it is uncertain", async () => {
  await withChannel({}, async (mattermost, server) => {
    server.refuse("temporary");
    server.api.refusals[0] = { status: 504, id: "", message: "" };
    await assertRejects(() => mattermost.send("who knows"), UncertainDeliveryError);
    await mattermost.send("next");
    assertEquals(texts(server), ["next"]);
  });
});

Deno.test("mattermost: what a repeat cannot mend is refused for good, with what to do", async () => {
  await withChannel({}, async (mattermost, server) => {
    const archived = server.store.channel("archived", "O");
    archived.delete_at = 1;
    const cases: [string, string][] = [
      [archived.id, "archived; unarchive it"],
      [newId(), "there is no such channel"],
      [`${server.room.id}/${newId()}`, "the thread is gone"],
      ["#town-square", "expected <channel id>"],
      [`${server.room.id}/x`, "expected <channel id>"],
      ["", "expected <channel id>"],
      [`${server.room.id}/../users`, "expected <channel id>"],
    ];
    for (const [chatId, words] of cases) {
      const sending = () => mattermost.send("x", { chatId });
      await assertRejects(sending, PermanentDeliveryError, words);
    }
    server.refuse("permanent");
    const sending = () => mattermost.send("x");
    await assertRejects(sending, PermanentDeliveryError, "add it to the channel");
    assertEquals(texts(server), []);
  });
});

Deno.test("mattermost: an answer goes into the thread of its chat", async () => {
  await withChannel({}, async (mattermost, server) => {
    const root = server.write(server.store.alice.id, "a thread");
    const chatId = `${server.room.id}/${root.id}`;
    await mattermost.send("in it", { chatId });
    assertEquals(server.sent(), [{ chatId, text: "in it", files: [] }]);
  });
});

Deno.test("mattermost: an answer calls nobody who is not named", async () => {
  await withChannel({}, async (mattermost, server) => {
    await mattermost.send("@channel @ALL, @here! but @alice");
    const [text] = texts(server);
    assert(!/@(channel|all|here)/i.test(text!));
    assertStringIncludes(text!, "@alice");
  });
});

Deno.test("mattermost: progress is one quiet post that is edited, and gone at the end of the turn", async () => {
  await withChannel({}, async (mattermost, server) => {
    const event = { type: "progress", toolHint: true } as const;
    await mattermost.send("reading a file", { event });
    await mattermost.send("comes too soon to be shown", { event });
    await mattermost.send("writing a file", { event });
    assertEquals(texts(server), ["reading a file"]);
    mattermost.host.clock.tick(2_000);
    await mattermost.until(() => texts(server)[0] === "writing a file");
    const [shown] = [...server.store.posts.values()];
    assertEquals(shown!.props.silent_notification, true);
    await mattermost.send("the answer");
    await mattermost.send("", { event: { type: "turn_end", status: "done" } });
    assertEquals(texts(server), ["the answer"]);
    assertEquals(posts(server), 2);
  });
});

Deno.test("mattermost: it shows that it writes until the turn ends, in the thread of the chat", async () => {
  await withChannel({ replyInThread: true }, async (mattermost, server) => {
    const { sockets, store, room } = server;
    const post = server.write(store.alice.id, "hello");
    const typing = () => sockets.frames.filter(({ action }) => action === "user_typing");
    await mattermost.until(() => typing().length === 1);
    assertEquals(typing()[0]!.data, { channel_id: room.id, parent_id: post.id });
    mattermost.host.clock.tick(4_000);
    await mattermost.until(() => typing().length === 2);
    const chatId = `${room.id}/${post.id}`;
    await mattermost.send("", { chatId, event: { type: "turn_end", status: "done" } });
    mattermost.host.clock.tick(20_000);
    await mattermost.send("marker", { chatId });
    assertEquals(typing().length, 2);
  });
});

Deno.test("mattermost: a message that is taken gets the reaction that is set, or none", async () => {
  await withChannel({ ackReaction: ":Eyes:" }, async (_, server) => {
    const post = server.write(server.store.alice.id, "hello");
    const { reactions, bot } = server.store;
    while (reactions.length === 0) await new Promise((again) => setTimeout(again, 2));
    assertEquals(reactions, [{ user_id: bot.id, post_id: post.id, emoji_name: "eyes" }]);
  });
  await withChannel({ ackReaction: "" }, async (mattermost, server) => {
    server.write(server.store.alice.id, "hello");
    await mattermost.heard("hello");
    await mattermost.send("marker");
    assertEquals(server.store.reactions, []);
  });
});

Deno.test("mattermost: files go with the last of the text, ten in a post; what is too large is said", async () => {
  await withChannel({ server: { maxFileSize: 1_000 } }, async (mattermost, server) => {
    const dir = mattermost.host.stateDir;
    const media = Array.from({ length: 12 }, (_, at) => join(dir, `file-${at}.txt`));
    for (const path of media) await Deno.writeTextFile(path, "hello");
    await Deno.writeTextFile(join(dir, "large.bin"), "x".repeat(1_001));
    await mattermost.send("Here they are", {
      media: [...media, join(dir, "large.bin"), join(dir, "gone.txt")],
    });
    const [first, second, ...others] = server.sent();
    assertEquals([first!.files!.length, second!.files!.length, others.length], [10, 2, 0]);
    assertStringIncludes(first!.text, "Here they are");
    assertStringIncludes(first!.text, "`large.bin` could not be attached");
    assertStringIncludes(first!.text, "`gone.txt` could not be attached");
    await mattermost.send("", { media: [media[0]!] });
    assertEquals(server.sent().at(-1)!.files, ["file-0.txt"]);
  });
});

Deno.test("mattermost: a post that the server stumbled behind is there once, whole or as a stream", async () => {
  await withChannel({}, async (mattermost, server) => {
    server.api.stumbles = true;
    await mattermost.send("one");
    server.api.stumbles = true;
    await mattermost.push("two ");
    const more = mattermost.push("three", { streamEnd: true });
    await mattermost.until(() => mattermost.host.clock.timers() > 0);
    mattermost.host.clock.tick(1_000);
    await more;
    assertEquals(texts(server), ["one", "two three"]);
  });
});

Deno.test("mattermost: how a goal stands is a message that stays", async () => {
  await withChannel({}, async (mattermost, server) => {
    await mattermost.send("reading", { event: { type: "progress", toolHint: true } });
    await mattermost.send("Goal: half of it is done", { event: { type: "goal_status" } });
    await mattermost.send("", { event: { type: "turn_end", status: "done" } });
    assertEquals(texts(server), ["Goal: half of it is done"]);
  });
});

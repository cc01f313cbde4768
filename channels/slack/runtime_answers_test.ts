import { assert, assertEquals, assertRejects } from "@std/assert";
import { RetryLaterError, UncertainDeliveryError } from "../../lib/channel/delivery_error.ts";
import { callMethod } from "./testing/fake_methods.ts";
import { textOfMessage } from "./testing/fake_slack.ts";
import { ALICE_DM, BOT_USER, GENERAL } from "./testing/fake_workspace.ts";
import { fastClock } from "./testing/fast_clock.ts";
import { slackTest } from "./testing/slack_test_case.ts";
import { TestSlack } from "./testing/test_slack.ts";

slackTest("slack C26: pieces of two streams arrive as edits of two messages", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  await app.sendDelta(ALICE_DM, "one", { streamId: "a" });
  await app.sendDelta(ALICE_DM, "uno", { streamId: "b" });
  await Promise.all([
    app.sendDelta(ALICE_DM, " two", { streamId: "a", streamEnd: true }),
    app.sendDelta(ALICE_DM, " dos", { streamId: "b", streamEnd: true }),
  ]);
  assertEquals(app.written.map(({ message }) => textOfMessage(message)), ["one two", "uno dos"]);
  assertEquals(app.calls("chat.postMessage").length, 2);
  assertEquals(app.calls("chat.update").length, 2);
});

slackTest(
  "slack C27: a piece that was refused is given again, and its text stands there once",
  async (slack) => {
    await using app = await TestSlack.connected(slack, { clock: fastClock() });
    await app.sendDelta(ALICE_DM, "one");
    slack.limitRate("chat.update", 0);
    await assertRejects(() => app.sendDelta(ALICE_DM, " two"), RetryLaterError);
    await app.sendDelta(ALICE_DM, " two three", { streamEnd: true });
    assertEquals(app.written.map(({ message }) => textOfMessage(message)), ["one two three"]);
  },
);

slackTest(
  "slack C28: a stream goes on in a further message where one is full, each text once",
  async (slack) => {
    await using app = await TestSlack.connected(slack, { clock: fastClock() });
    const words = Array.from({ length: 2_600 }, (_, at) => `word${at}`);
    await app.sendDelta(ALICE_DM, words.slice(0, 1_500).join(" "));
    await app.sendDelta(ALICE_DM, ` ${words.slice(1_500).join(" ")}`, { streamEnd: true });
    const texts = app.written.map(({ message }) => textOfMessage(message));
    assertEquals(texts.join(" ").split(/\s+/), words);
    assert(texts.length > 1 && texts.every((text) => text.length <= 12_000));
  },
);

slackTest(
  "slack shows Markdown as a block, with mrkdwn for notifications, and calls nobody",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    await app.send(ALICE_DM, "# Hi\n\n<!channel> **a** & <b>");
    const [call] = app.calls("chat.postMessage");
    assertEquals(JSON.parse(call!.blocks!), [
      { type: "markdown", text: "# Hi\n\n<\u200B!channel> **a** & <b>" },
    ]);
    assertEquals(call!.text, "*Hi*\n\n&lt;\u200B!channel&gt; *a* &amp; &lt;b&gt;");
    assertEquals([call!.unfurl_links, call!.unfurl_media], ["false", "false"]);
  },
);

slackTest("slack sends text alone where Slack refuses its block, once", async (slack) => {
  await using app = await TestSlack.connected(slack);
  slack.answerNext(
    "chat.postMessage",
    () => Response.json({ ok: false, error: "msg_blocks_too_long" }),
  );
  await app.send(ALICE_DM, "**bold**");
  assertEquals(app.written.map(({ message }) => message.text), ["*bold*"]);
});

slackTest("slack sends of a long answer what has not arrived", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const text = `${"a ".repeat(5_900)}\n\n${"b ".repeat(5_900)}`;
  slack.answerNext("chat.postMessage", (call) => {
    slack.answerNext(
      "chat.postMessage",
      () => Response.json({ ok: false, error: "service_unavailable" }),
    );
    return Response.json({
      ok: true,
      ...callMethod(slack.workspace, "chat.postMessage", call.args, ""),
    });
  });
  await assertRejects(() => app.send(ALICE_DM, text, { id: "long" }));
  await app.send(ALICE_DM, text, { id: "long" });
  assertEquals(app.written.map(({ message }) => textOfMessage(message)[0]), ["a", "b"]);
});

slackTest(
  "slack acknowledges by a reaction and shows its work in one line, both gone at the end",
  async (slack) => {
    await using app = await TestSlack.connected(slack, { clock: fastClock() });
    const ts = await slack.say(GENERAL, { text: `<@${BOT_USER}> work` });
    const { chatId, metadata } = await app.heard("work");
    const question = slack.workspace.conversation(GENERAL).messages.find((one) => one.ts === ts)!;
    await app.until(() => question.reactions.has("eyes"));
    await app.send(chatId, "reading", { event: { type: "progress", toolHint: false } });
    for (let count = 0; count < 20; count += 1) {
      await app.send(chatId, `read_file ${count}`, { event: { type: "progress", toolHint: true } });
    }
    await app.until(() =>
      app.written.some(({ message }) => textOfMessage(message) === "read_file 19")
    );
    assertEquals(app.written.length, 1);
    assertEquals(app.written[0]!.message.thread_ts, ts);
    assert(app.calls("chat.update").length <= 2);
    await app.send(chatId, "Done.", { metadata });
    await app.send(chatId, "", { metadata, event: { type: "turn_end", status: "done" } });
    assertEquals(question.reactions.size, 0);
    assertEquals(app.written.map(({ message }) => textOfMessage(message)), ["Done."]);
  },
);

slackTest("slack takes an emoji away later that Slack does not take away now", async (slack) => {
  const app = await TestSlack.connected(slack, { clock: fastClock() });
  const ts = await slack.say(ALICE_DM, { text: "work" });
  const { chatId, metadata } = await app.heard("work");
  const question = slack.workspace.conversation(ALICE_DM).messages.find((one) => one.ts === ts)!;
  await app.until(() => question.reactions.has("eyes"));
  slack.limitRate("reactions.remove", 0);
  slack.answerNext("reactions.remove", () => new Response("away", { status: 502 }));
  // The end of a turn is told once, and nobody asks again.
  await app.send(chatId, "", { metadata, event: { type: "turn_end", status: "done" } });
  assertEquals(question.reactions.size, 1);
  await app.until(() => question.reactions.size === 0);
  // The process is killed before the next turn has ended.
  const next = await slack.say(ALICE_DM, { text: "more" });
  const second = slack.workspace.conversation(ALICE_DM).messages.find((one) => one.ts === next)!;
  await app.until(() => second.reactions.has("eyes"));
  await app.stop();
  await using after = await TestSlack.connected(slack, { host: app.host });
  await after.until(() => second.reactions.size === 0);
});

slackTest("slack removes the line of a turn that another process has begun", async (slack) => {
  const app = await TestSlack.connected(slack);
  await app.send(ALICE_DM, "reading", { event: { type: "progress", toolHint: false } });
  await app.stop();
  await using next = await TestSlack.connected(slack, { host: app.host });
  await next.send(ALICE_DM, "", { event: { type: "turn_end", status: "interrupted" } });
  await next.until(() => next.written.length === 0);
});

slackTest(
  "slack shows a status in threads of direct conversations, where the app may",
  async (slack) => {
    slack.workspace.scopes.add("assistant:write");
    await using app = await TestSlack.connected(slack);
    const first = slack.write(ALICE_DM, { text: "New chat" });
    await slack.say(ALICE_DM, { text: "in a thread", thread_ts: first.ts });
    const { chatId, metadata } = await app.heard("in a thread");
    await app.until(() => slack.workspace.statuses.length === 1);
    await app.send(chatId, "", { metadata, event: { type: "turn_end", status: "done" } });
    await app.until(() => slack.workspace.statuses.length === 2);
    assertEquals(slack.workspace.statuses.map(({ status }) => status), ["is thinking…", ""]);
  },
);

slackTest(
  "slack does not send again what may have arrived, whatever was answered in its place",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    const answers = [
      () => new Response("<html>ok"),
      () => new Response(""),
      () => Response.json([]),
      () => Response.json({ ok: true }),
      () => Response.json({ ok: true, ts: 17, channel: ALICE_DM }),
      () => new Response("upstream connect error", { status: 503 }),
      () => new Response("gateway", { status: 504 }),
      () =>
        new Response(null, { status: 302, headers: { location: `${slack.baseUrl}/elsewhere` } }),
    ];
    for (const answer of answers) {
      slack.answerNext("chat.postMessage", answer);
      await assertRejects(() => app.send(ALICE_DM, "hello"), UncertainDeliveryError);
    }
    slack.answerNext(
      "chat.postMessage",
      () => new Response("", { status: 503, headers: { "retry-after": "5" } }),
    );
    await assertRejects(() => app.send(ALICE_DM, "hello"), RetryLaterError);
    assertEquals(app.written, []);
  },
);

slackTest("slack waits for no name again that Slack did not say", async (slack) => {
  await using app = await TestSlack.connected(slack);
  slack.answerNext("users.info", () => new Response("away", { status: 500 }));
  await slack.say(ALICE_DM, { text: "one" });
  assertEquals((await app.heard("one")).senderName, undefined);
  await slack.say(ALICE_DM, { text: "two" });
  assertEquals((await app.heard("two")).senderName, undefined);
  assertEquals(app.calls("users.info").length, 1);
});

slackTest("slack says names of others beside one that Slack does not say", async (slack) => {
  await using app = await TestSlack.connected(slack);
  for (const text of ["far", "far again"]) {
    await slack.say(ALICE_DM, { text, user: "U0FAR000001" });
    assertEquals((await app.heard(text)).senderName, undefined);
  }
  await slack.say(ALICE_DM, { text: "near" });
  assertEquals((await app.heard("near")).senderName, "Alice");
  assertEquals(app.calls("users.info").length, 2);
});

slackTest("slack gives the whole answer where its workspace lets nobody edit", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  for (let times = 0; times < 3; times += 1) {
    slack.answerNext(
      "chat.update",
      () => Response.json({ ok: false, error: "edit_window_closed" }),
    );
  }
  const ts = slack.write(GENERAL, { text: "root" }).ts;
  const chat = `${GENERAL}:${ts}`;
  await app.sendDelta(chat, "one");
  await app.sendDelta(chat, " two");
  await app.sendDelta(chat, " three");
  await app.sendDelta(chat, " four", { streamEnd: true });
  assertEquals(app.written.map(({ message }) => textOfMessage(message)), [
    "one",
    "one two three four",
  ]);
  assertEquals(app.written.map(({ message }) => message.thread_ts), [ts, ts]);
});

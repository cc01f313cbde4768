import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { PermanentDeliveryError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import { ServiceError } from "../../lib/errors.ts";
import { FakeSlack, textOfMessage } from "./testing/fake_slack.ts";
import { ALICE, ALICE_DM, BOB, BOT_USER, GENERAL } from "./testing/fake_workspace.ts";
import { fastClock } from "./testing/fast_clock.ts";
import { SOCKETS, TestSlack } from "./testing/test_slack.ts";

function test(name: string, run: (slack: FakeSlack) => Promise<void>): void {
  Deno.test({
    name,
    ...SOCKETS,
    async fn() {
      const slack = await FakeSlack.open();
      try {
        await run(slack);
      } finally {
        await slack.close();
      }
    },
  });
}

const DIGEST = "0123456789abcdef".repeat(4);
const inAnHour = () => Date.now() + 3_600_000;

/** Shows an approval; resolves with the message that has its buttons. */
async function ask(app: TestSlack, chatId = ALICE_DM, expiresAt = inAnHour(), id = "ap-1") {
  await app.send(chatId, "May I run `ls`?", {
    event: { type: "approval", id, digest: DIGEST, expiresAt },
  });
  const { channel, message } = app.written.at(-1)!;
  // As a client shows it that has not heard of a change.
  return { channel, message: { ...message } };
}

test("slack C26: pieces of two streams arrive as edits of two messages", async (slack) => {
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

test("slack C27: a piece that was refused is given again, and its text stands there once", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  await app.sendDelta(ALICE_DM, "one");
  slack.limitRate("chat.update", 0);
  await assertRejects(() => app.sendDelta(ALICE_DM, " two"), RetryLaterError);
  await app.sendDelta(ALICE_DM, " two three", { streamEnd: true });
  assertEquals(app.written.map(({ message }) => textOfMessage(message)), ["one two three"]);
});

test("slack C28: a stream goes on in a further message where one is full, each text once", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  const words = Array.from({ length: 2_600 }, (_, at) => `word${at}`);
  await app.sendDelta(ALICE_DM, words.slice(0, 1_500).join(" "));
  await app.sendDelta(ALICE_DM, ` ${words.slice(1_500).join(" ")}`, { streamEnd: true });
  const texts = app.written.map(({ message }) => textOfMessage(message));
  assertEquals(texts.join(" ").split(/\s+/), words);
  assert(texts.length > 1 && texts.every((text) => text.length <= 12_000));
});

test("slack shows Markdown as a block, with mrkdwn for notifications, and calls nobody", async (slack) => {
  await using app = await TestSlack.connected(slack);
  await app.send(ALICE_DM, "# Hi\n\n<!channel> **a** & <b>");
  const [call] = app.calls("chat.postMessage");
  assertEquals(JSON.parse(call!.blocks!), [
    { type: "markdown", text: "# Hi\n\n<\u200B!channel> **a** & <b>" },
  ]);
  assertEquals(call!.text, "*Hi*\n\n&lt;\u200B!channel&gt; *a* &amp; &lt;b&gt;");
  assertEquals([call!.unfurl_links, call!.unfurl_media], ["false", "false"]);
});

test("slack sends text alone where Slack refuses its block, once", async (slack) => {
  await using app = await TestSlack.connected(slack);
  slack.answerNext(
    "chat.postMessage",
    () => Response.json({ ok: false, error: "msg_blocks_too_long" }),
  );
  await app.send(ALICE_DM, "**bold**");
  assertEquals(app.written.map(({ message }) => message.text), ["*bold*"]);
  slack.answerNext("chat.postMessage", () => Response.json({ ok: false, error: "invalid_blocks" }));
  const { message } = await ask(app);
  assertEquals(message.blocks!.map(({ type }) => type), ["section", "actions"]);
});

test("slack sends of a long answer what has not arrived", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const text = `${"a ".repeat(5_900)}\n\n${"b ".repeat(5_900)}`;
  slack.answerNext("chat.postMessage", (call) => {
    slack.answerNext(
      "chat.postMessage",
      () => Response.json({ ok: false, error: "service_unavailable" }),
    );
    return Response.json({ ok: true, ...slack.workspace.call("chat.postMessage", call.args, "") });
  });
  await assertRejects(() => app.send(ALICE_DM, text, { id: "long" }));
  await app.send(ALICE_DM, text, { id: "long" });
  assertEquals(app.written.map(({ message }) => textOfMessage(message)[0]), ["a", "b"]);
});

test("slack acknowledges by a reaction and shows its work in one line, both gone at the end", async (slack) => {
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
});

test("slack has the end of a turn come again where its emoji cannot go yet", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const ts = await slack.say(ALICE_DM, { text: "work" });
  const { chatId, metadata } = await app.heard("work");
  const question = slack.workspace.conversation(ALICE_DM).messages.find((one) => one.ts === ts)!;
  await app.until(() => question.reactions.has("eyes"));
  slack.limitRate("reactions.remove", 0);
  const end = () => app.send(chatId, "", { metadata, event: { type: "turn_end", status: "done" } });
  await assertRejects(end, RetryLaterError);
  await end();
  assertEquals(question.reactions.size, 0);
});

test("slack removes the line of a turn that another process has begun", async (slack) => {
  const app = await TestSlack.connected(slack);
  await app.send(ALICE_DM, "reading", { event: { type: "progress", toolHint: false } });
  await app.stop();
  await using next = await TestSlack.connected(slack, { host: app.host });
  await next.send(ALICE_DM, "", { event: { type: "turn_end", status: "interrupted" } });
  assertEquals(next.written, []);
});

test("slack shows a status in threads of direct conversations, where the app may", async (slack) => {
  slack.workspace.scopes.add("assistant:write");
  await using app = await TestSlack.connected(slack);
  const first = slack.write(ALICE_DM, { text: "New chat" });
  await slack.say(ALICE_DM, { text: "in a thread", thread_ts: first.ts });
  const { chatId, metadata } = await app.heard("in a thread");
  await app.until(() => slack.workspace.statuses.length === 1);
  await app.send(chatId, "", { metadata, event: { type: "turn_end", status: "done" } });
  await app.until(() => slack.workspace.statuses.length === 2);
  assertEquals(slack.workspace.statuses.map(({ status }) => status), ["is thinking…", ""]);
});

test("slack answers an approval by a button, in its chat, and shows how it came out", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const ts = await slack.say(GENERAL, { text: `<@${BOT_USER}> run it` });
  const { chatId } = await app.heard("run it");
  const card = await ask(app, chatId);
  assertEquals(card.message.thread_ts, ts);
  await slack.click(card, "approval_approve");
  const click = await app.heard("/approve");
  assertEquals(click.content, `/approve ap-1 ${DIGEST.slice(0, 8)}`);
  assertEquals([click.chatId, click.senderId], [chatId, ALICE]);
  await app.send(chatId, "Approved by Alice", {
    event: { type: "approval_resolved", id: "ap-1", outcome: "approved" },
  });
  const { message } = app.written.at(-1)!;
  assertEquals(message.blocks!.map(({ type }) => type), ["markdown"]);
  assertEquals(textOfMessage(message), "May I run `ls`?\n\n**Approved by Alice**");
});

test("slack answers an approval that was shown before a restart", async (slack) => {
  const app = await TestSlack.connected(slack, { changes: { language: "de" } });
  const card = await ask(app);
  const elements = card.message.blocks!.at(-1)!.elements as { text: { text: string } }[];
  assertEquals(elements.map(({ text }) => text.text), ["Erlauben", "Ablehnen"]);
  await app.stop();
  await using next = await TestSlack.connected(slack, { host: app.host });
  await slack.click(card, "approval_deny");
  assertEquals((await next.heard("/deny")).content, `/deny ap-1 ${DIGEST.slice(0, 8)}`);
  await next.send(ALICE_DM, "", {
    event: { type: "approval_resolved", id: "ap-1", outcome: "denied" },
  });
  assertStringIncludes(textOfMessage(next.written.at(-1)!.message), "**Denied**");
});

test("slack says a plain word to clicks that are repeated, late, over or of strangers", async (slack) => {
  await using app = await TestSlack.connected(slack, { changes: { allowFrom: [ALICE] } });
  const words = () => slack.workspace.whispers.map(({ text }) => text);
  const card = await ask(app);
  await slack.click(card, "approval_approve", BOB);
  await app.until(() => words().length === 1);
  assertStringIncludes(words()[0]!, "not on the list");
  await slack.click(card, "approval_approve");
  await app.heard("/approve ap-1");
  // The same click once more, then a second one.
  await slack.redeliver();
  await slack.click(card, "approval_deny");
  await app.until(() => words().length === 2);
  assertStringIncludes(words()[1]!, "answered this already");
  await app.send(ALICE_DM, "ok", {
    event: { type: "approval_resolved", id: "ap-1", outcome: "approved" },
  });
  await slack.click(card, "approval_approve");
  await app.until(() => words().length === 3);
  assertStringIncludes(words()[2]!, "over already");
  const late = await ask(app, ALICE_DM, Date.now() - 1, "ap-2");
  await slack.click(late, "approval_approve");
  await app.until(() => words().length === 4);
  assertStringIncludes(words()[3]!, "expired");
  assertEquals(app.turns("/approve"), 1);
  assertEquals(app.turns("/deny"), 0);
  const users = slack.workspace.whispers.map(({ user }) => user);
  assertEquals(users, [BOB, ALICE, ALICE, ALICE]);
});

test("slack takes no click that is none", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const card = await ask(app);
  const good = slack.clickOf(card, "approval_approve");
  const [action] = good.actions as Record<string, unknown>[];
  for (
    const more of [
      { type: "view_submission" },
      { actions: [] },
      { actions: [{ ...action, value: "" }] },
      { actions: [{ ...action, value: "ap-1 zzzzzzzz 1 D0ALICE0001" }] },
      { actions: [{ ...action, value: `ap-1 ${DIGEST.slice(0, 8)} 1 nowhere` }] },
      { actions: [{ ...action, action_ts: "x" }] },
      { user: { id: "*" } },
      { container: {}, channel: {} },
    ]
  ) await slack.tell("interactive", { ...good, ...more }, "bad");
  await slack.say(ALICE_DM, { text: "behind" });
  await app.heard("behind");
  assertEquals(app.turns("/approve"), 0);
});

/** A file that lies on Slack. */
function keep(slack: FakeSlack, name: string, text: string, more: object = {}) {
  const id = `F0IN${String(slack.workspace.files.size).padStart(6, "0")}`;
  slack.workspace.files.set(id, { name, bytes: new TextEncoder().encode(text) });
  return slack.workspace.fileObject(id, slack.baseUrl, more);
}

/** Reads files while they are there: they go when they were handed on. */
function readMedia(app: TestSlack): string[] {
  const read: string[] = [];
  const publish = app.host.publish.bind(app.host);
  app.host.publish = async (message) => {
    for (const path of message.media ?? []) read.push(await Deno.readTextFile(path));
    return await publish(message);
  };
  return read;
}

test("slack hands files on, and gives its token to Slack alone", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const read = readMedia(app);
  const files = [
    keep(slack, "../../a b.txt", "inside"),
    keep(slack, "far.txt", "x", { url_private_download: "https://files.slack.com.evil.example/x" }),
    keep(slack, "link.txt", "x", { mode: "external", is_external: true }),
  ];
  await slack.say(ALICE_DM, { text: "look", files, subtype: "file_share" });
  const heard = await app.heard("look");
  assertEquals(read, ["inside"]);
  assertEquals(heard.media?.length, 1);
  assertStringIncludes(heard.content, "far.txt was not read: it does not lie on Slack");
  await app.until(() => app.written.length === 1);
  assertStringIncludes(textOfMessage(app.written[0]!.message), "link.txt was not read");
  assertEquals(slack.fileTokens.length, 1);
  await app.until(() => [...Deno.readDirSync(join(app.host.stateDir, "media"))].length === 0);
});

test("slack asks for files of other workspaces, and takes no page for a file", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const read = readMedia(app);
  const away = { url_private: "", url_private_download: "", file_access: "check_file_info" };
  await slack.say(ALICE_DM, { text: "asked", files: [keep(slack, "far.txt", "far", away)] });
  await app.heard("asked");
  assertEquals(read, ["far"]);
  slack.answerNext(
    "files-pri",
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
  );
  await slack.say(ALICE_DM, { text: "page", files: [keep(slack, "b.txt", "b")] });
  assertStringIncludes((await app.heard("page")).content, "files:read");
});

test("slack says in the chat which files were too large or too many", async (slack) => {
  await using app = await TestSlack.connected(slack, { changes: { language: "es" } });
  const large = keep(slack, "large.bin", "x", { size: 9 * 1024 * 1024 });
  await slack.say(ALICE_DM, { text: "", files: [large], subtype: "file_share" });
  await app.until(() => app.written.length === 1);
  assertStringIncludes(textOfMessage(app.written[0]!.message), "large.bin: tiene 9 MB");
  assertEquals(app.host.offered.length, 0);
  // It says that it is small, and is not.
  const liar = keep(slack, "liar.bin", "y".repeat(8 * 1024 * 1024 + 1), { size: 10 });
  const many = Array.from({ length: 5 }, (_, at) => keep(slack, `${at}.txt`, String(at)));
  await slack.say(ALICE_DM, { text: "more", files: [liar, ...many] });
  const heard = await app.heard("more");
  assertEquals(heard.media?.length, 3);
  assertStringIncludes(heard.content, "liar.bin");
  assertStringIncludes(heard.content, "4.txt");
});

test("slack hears voice clips, and gives them as files where nobody can", async (slack) => {
  await using app = await TestSlack.connected(slack);
  app.host.onTranscribe = () => Promise.resolve("what the voice says");
  const clip = () =>
    keep(slack, "audio_message.m4a", "noise", {
      mimetype: "audio/mp4",
      subtype: "slack_audio",
    });
  await slack.say(ALICE_DM, { text: "", files: [clip()], subtype: "file_share" });
  assertEquals((await app.heard("what the voice says")).media, undefined);
  app.host.onTranscribe = () =>
    Promise.reject(new ServiceError("not_enabled", "Transcription is off"));
  await slack.say(ALICE_DM, { text: "", files: [clip()], subtype: "file_share" });
  const heard = await app.heard("was not transcribed");
  assertEquals(heard.media?.length, 1);
});

test("slack sends files into their thread, behind their text, and without the token", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const ts = (slack.write(GENERAL, { text: "root" })).ts;
  const path = join(app.host.stateDir, "report.csv");
  await Deno.writeTextFile(path, "a,b");
  await app.send(`${GENERAL}:${ts}`, "Here it is.", { media: [path] });
  const [text, file] = app.written;
  assertEquals(textOfMessage(text!.message), "Here it is.");
  assertEquals(file!.message.files, [{
    id: "F0FILE00001",
    title: "report.csv",
    name: "report.csv",
  }]);
  assertEquals(file!.message.thread_ts, ts);
  assertEquals(slack.fileTokens, [null]);
  await assertRejects(
    () => app.send(GENERAL, "", { media: [join(app.host.stateDir, "none")] }),
    PermanentDeliveryError,
    "Cannot read none",
  );
  slack.answerNext(
    "files.getUploadURLExternal",
    () => Response.json({ ok: true, upload_url: "https://evil.example/", file_id: "F1" }),
  );
  await assertRejects(() => app.send(GENERAL, "", { media: [path] }), PermanentDeliveryError);
});

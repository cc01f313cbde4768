import { assertEquals, assertStringIncludes } from "@std/assert";
import { textOfMessage } from "./testing/fake_slack.ts";
import { ALICE, ALICE_DM, BOB, BOT_USER, GENERAL } from "./testing/fake_workspace.ts";
import { slackTest } from "./testing/slack_test_case.ts";
import { TestSlack } from "./testing/test_slack.ts";

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

slackTest(
  "slack answers an approval by a button, in its chat, and shows how it came out",
  async (slack) => {
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
    assertEquals(textOfMessage(message), "May I run `ls`?\n\nApproved by Alice");
  },
);

slackTest("slack says what the service answers to a click to who clicked alone", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const ts = await slack.say(GENERAL, { text: `<@${BOT_USER}> run it` });
  const { chatId } = await app.heard("run it");
  await slack.click(await ask(app, chatId), "approval_approve");
  const { metadata } = await app.heard("/approve");
  const before = app.written.length;
  await app.send(chatId, "Approved ap-1.", { metadata });
  assertEquals(slack.workspace.whispers, [{
    user: ALICE,
    channel: GENERAL,
    text: "Approved ap-1.",
  }]);
  assertEquals(app.written.length, before);
  // Where Slack refuses that, it is a message like any other; so is what is said to nobody's click.
  slack.answerNext(
    "chat.postEphemeral",
    () => Response.json({ ok: false, error: "user_not_in_channel" }),
  );
  await app.send(chatId, "Approved ap-1.", { metadata });
  await app.send(chatId, "an answer", { metadata: { channel: GENERAL, ts } });
  assertEquals(app.written.slice(before).map(({ message }) => textOfMessage(message)), [
    "Approved ap-1.",
    "an answer",
  ]);
  assertEquals(slack.workspace.whispers.length, 1);
});

slackTest("slack answers an approval that was shown before a restart", async (slack) => {
  const app = await TestSlack.connected(slack, { changes: { language: "de" } });
  const card = await ask(app);
  const elements = card.message.blocks!.at(-1)!.elements as { text: { text: string } }[];
  assertEquals(elements.map(({ text }) => text.text), ["Erlauben", "Ablehnen"]);
  await app.stop();
  await using next = await TestSlack.connected(slack, { host: app.host });
  await slack.click(card, "approval_deny");
  assertEquals((await next.heard("/deny")).content, "/deny ap-1");
  await next.send(ALICE_DM, "", {
    event: { type: "approval_resolved", id: "ap-1", outcome: "denied" },
  });
  assertStringIncludes(textOfMessage(next.written.at(-1)!.message), "Denied.");
});

slackTest(
  "slack says a plain word to clicks that are repeated, late, over or of strangers",
  async (slack) => {
    await using app = await TestSlack.connected(slack, { changes: { allowFrom: [ALICE] } });
    const words = () => slack.workspace.whispers.map(({ text }) => text);
    const card = await ask(app);
    await slack.click(card, "approval_approve", BOB);
    await app.until(() => words().length === 1);
    assertStringIncludes(words()[0]!, "may not answer");
    await slack.click(card, "approval_approve");
    await app.heard("/approve ap-1");
    // The same click once more, then a second one.
    await slack.redeliver();
    await slack.click(card, "approval_deny");
    await app.until(() => words().length === 2);
    assertStringIncludes(words()[1]!, "answered already");
    await app.send(ALICE_DM, "ok", {
      event: { type: "approval_resolved", id: "ap-1", outcome: "approved" },
    });
    await slack.click(card, "approval_approve");
    await app.until(() => words().length === 3);
    assertStringIncludes(words()[2]!, "answered already");
    const late = await ask(app, ALICE_DM, Date.now() - 1, "ap-2");
    await slack.click(late, "approval_approve");
    await app.until(() => words().length === 4);
    assertStringIncludes(words()[3]!, "too late");
    assertEquals(app.turns("/approve"), 1);
    assertEquals(app.turns("/deny"), 0);
    const users = slack.workspace.whispers.map(({ user }) => user);
    assertEquals(users, [BOB, ALICE, ALICE, ALICE]);
  },
);

slackTest("slack takes a click on a message that it has no record of", async (slack) => {
  const app = await TestSlack.connected(slack);
  const card = await ask(app);
  await app.stop();
  await Deno.remove(`${app.host.stateDir}/memory.sqlite`);
  await using next = await TestSlack.connected(slack, { host: app.host });
  await slack.click(card, "approval_approve");
  await next.heard("/approve ap-1");
  await next.send(ALICE_DM, "Approved.", {
    event: { type: "approval_resolved", id: "ap-1", outcome: "approved" },
  });
  assertEquals(textOfMessage(next.written.at(-1)!.message), "Approved.");
});

slackTest("slack takes no click that is none", async (slack) => {
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

slackTest(
  "slack shows an approval with its buttons where Slack refuses its block",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    slack.answerNext(
      "chat.postMessage",
      () => Response.json({ ok: false, error: "invalid_blocks" }),
    );
    const { message } = await ask(app);
    assertEquals(
      message.blocks!.map(({ type }) => type),
      ["section", "actions"],
    );
  },
);

slackTest(
  "slack says how an approval came out where its message may not be edited",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    await ask(app);
    slack.answerNext(
      "chat.update",
      () => Response.json({ ok: false, error: "edit_window_closed" }),
    );
    await app.send(ALICE_DM, "Denied by Bob", {
      event: { type: "approval_resolved", id: "ap-1", outcome: "denied" },
    });
    assertEquals(textOfMessage(app.written.at(-1)!.message), "Denied by Bob");
    assertEquals(app.written.length, 2);
  },
);

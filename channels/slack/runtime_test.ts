import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { fakeClock } from "../../lib/agent/testing/fake_clock.ts";
import { textOfMessage } from "./testing/fake_slack.ts";
import { ALICE, ALICE_DM, BOB, BOT_USER, GENERAL } from "./testing/fake_workspace.ts";
import { fastClock } from "./testing/fast_clock.ts";
import { slackTest } from "./testing/slack_test_case.ts";
import { TestSlack } from "./testing/test_slack.ts";

slackTest("slack W2: what is told three times on each connection is one turn", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  const ts = await slack.say(ALICE_DM, { text: "hello once" });
  await app.heard("hello once");
  for (let times = 0; times < 3; times += 1) await slack.redeliver();
  slack.cut();
  await app.until(() => slack.connections === 1);
  await slack.redeliver();
  await slack.say(ALICE_DM, { text: "behind" });
  await app.heard("behind");
  assertEquals(app.turns("hello once"), 1);
  const { messageId, chatId, senderId, senderName, sentAt } = await app.heard("hello once");
  assertEquals({ messageId, chatId, senderId, senderName }, {
    messageId: ts,
    chatId: ALICE_DM,
    senderId: ALICE,
    senderName: "Alice",
  });
  assertEquals(sentAt, Math.floor(Number(ts) * 1_000));
});

slackTest("slack takes message and app_mention of one message as one turn", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const text = `<@${BOT_USER}> what is <https://e.org/?a=1&amp;b=2|this> &lt;b&gt;`;
  const ts = await slack.say(GENERAL, { text }, { as: ["message", "app_mention"] });
  await slack.say(ALICE_DM, { text: "behind" });
  await app.heard("behind");
  const heard = await app.heard("what is");
  assertEquals(heard.content, "what is this (https://e.org/?a=1&b=2) <b>");
  assertEquals(heard.chatId, `${GENERAL}:${ts}`);
  assertEquals(app.turns("what is"), 1);
});

slackTest("slack takes nothing that others wrote for the sender's own words", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const url = "<https://evil.example|safe>";
  await slack.say(ALICE_DM, {
    text: `look\n&gt; ${url}\nwhy?\n&gt;&gt;&gt; all\n\nof evil.example`,
  });
  assertEquals((await app.heard("look")).parts, [
    { text: "look" },
    { text: "> safe (https://evil.example)", provenance: "quoted" },
    { text: "why?" },
    { text: ">>> all\n\nof evil.example", provenance: "quoted" },
  ]);
  const attachments = [{ is_share: true, author_name: "Bob", text: `go to ${url}` }];
  await slack.say(ALICE_DM, { text: "and this?", attachments });
  assertEquals((await app.heard("and this?")).parts, [
    { text: "and this?" },
    { text: "go to safe (https://evil.example)", provenance: "forwarded", from: "Bob" },
  ]);
});

slackTest("slack hears in channels what names it, and in its threads everything", async (slack) => {
  await using app = await TestSlack.connected(slack);
  await slack.say(GENERAL, { text: "not for it" });
  const ts = await slack.say(GENERAL, { text: `<@${BOT_USER}> start` });
  await app.heard("start");
  await slack.say(GENERAL, { text: "go on", thread_ts: ts, user: BOB });
  assertEquals((await app.heard("go on")).chatId, `${GENERAL}:${ts}`);
  const other = await slack.say(GENERAL, { text: "of others" });
  await slack.say(GENERAL, { text: "among others", thread_ts: other });
  await slack.say(ALICE_DM, { text: "behind" });
  await app.heard("behind");
  assertEquals([app.turns("not for it"), app.turns("of others"), app.turns("among")], [0, 0, 0]);
});

slackTest(
  "slack with respond all and no threads hears everything in its channel",
  async (slack) => {
    await using app = await TestSlack.connected(slack, {
      changes: { respond: "all", replyInThread: false },
    });
    await slack.say(GENERAL, { text: "anybody?" });
    assertEquals((await app.heard("anybody?")).chatId, GENERAL);
    await app.send(GENERAL, "Yes.");
    assertEquals(app.written.at(-1)?.message.thread_ts, undefined);
  },
);

slackTest(
  "slack leaves out joins, programs, itself and changes of nothing (C37)",
  async (slack) => {
    await using app = await TestSlack.connected(slack, { changes: { respond: "all" } });
    for (
      const more of [
        { subtype: "message_changed" },
        { subtype: "message_deleted" },
        { subtype: "channel_join" },
        { subtype: "bot_message", bot_id: "B0OTHER0001", user: undefined },
        { bot_id: "B0OTHER0001" },
        { user: BOT_USER },
        { user: "USLACKBOT" },
        { user: undefined },
        { hidden: true },
      ]
    ) await slack.say(GENERAL, { text: "unheard", ...more });
    await slack.say(GENERAL, { text: "heard", subtype: "thread_broadcast" });
    await app.heard("heard");
    assertEquals(app.turns("unheard"), 0);
  },
);

slackTest(
  "slack names people of other workspaces with their team, and lets strangers write nothing",
  async (slack) => {
    await using app = await TestSlack.connected(slack, {
      changes: { allowFrom: ["T0OTHER0001:U0FAR000001", ALICE] },
    });
    await slack.say(ALICE_DM, { text: "as bob", user: BOB });
    await slack.say(ALICE_DM, { text: "bare id", user: "U0FAR000001" });
    await slack.say(ALICE_DM, { text: "from far", user: "U0FAR000001", user_team: "T0OTHER0001" });
    const heard = await app.heard("from far");
    assertEquals(heard.senderId, "T0OTHER0001:U0FAR000001");
    assertEquals(app.host.offered.length, 1);
    assertEquals(app.host.strangers, [
      { senderId: BOB, chatId: ALICE_DM },
      { senderId: "U0FAR000001", chatId: ALICE_DM },
    ]);
  },
);

slackTest("slack leaves out events of another workspace with the same app", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const event = slack.eventOf(ALICE_DM, slack.write(ALICE_DM, { text: "elsewhere" }));
  const authorizations = [{ team_id: "T0OTHER0001" }];
  await slack.tell("events_api", { ...event, team_id: "T0OTHER0001", authorizations }, "x");
  await slack.say(ALICE_DM, { text: "here" });
  await app.heard("here");
  assertEquals(app.turns("elsewhere"), 0);
  assert(app.host.lines.some(({ message }) => message.includes("another workspace")));
});

slackTest(
  "slack obeys Retry-After: no call before its time, and no other chat waits",
  async (slack) => {
    const clock = fakeClock();
    await using app = await TestSlack.connected(slack, { clock });
    slack.limitRate("chat.postMessage", 30);
    const error = await assertRejects(() => app.send(ALICE_DM, "one"), RetryLaterError);
    assertEquals(error.retryAfterMs, 30_000);
    const calls = () => app.calls("chat.postMessage").length;
    const before = calls();
    clock.tick(29_000);
    assertEquals(
      (await assertRejects(() => app.send(ALICE_DM, "two"), RetryLaterError)).retryAfterMs,
      1_000,
    );
    assertEquals(calls(), before);
    await app.send(GENERAL, "elsewhere");
    clock.tick(1_000);
    await app.send(ALICE_DM, "three");
    assertEquals(app.written.map(({ message }) => textOfMessage(message)), ["elsewhere", "three"]);
  },
);

slackTest("slack has a message wait that finds Slack away", async (slack) => {
  await using app = await TestSlack.connected(slack);
  await slack.goDown();
  await app.until(() => app.detail.startsWith("not connected"));
  await assertRejects(() => app.send(ALICE_DM, "later"), NotConnectedError);
});

slackTest(
  "slack says of a message whose answer was cut off that it may have arrived",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    slack.loseAnswer("chat.postMessage");
    await assertRejects(() => app.send(ALICE_DM, "cut"), UncertainDeliveryError);
    slack.answerNext("chat.postMessage", () => Response.json({ ok: false, error: "fatal_error" }));
    await assertRejects(() => app.send(ALICE_DM, "fatal"), UncertainDeliveryError);
    for (const body of ["<html>", "null", "[]", "", '{"ok":1,"error":{"a":1}}', '{"ok":false}']) {
      slack.answerNext("chat.postMessage", () => new Response(body));
      await app.send(ALICE_DM, "odd").catch((error) =>
        assert(error instanceof UncertainDeliveryError, `${body}: ${error}`)
      );
    }
    await app.send(ALICE_DM, "fine");
  },
);

for (
  const [error, words] of [
    ["channel_not_found", "/invite"],
    ["not_in_channel", "/invite"],
    ["is_archived", "archived"],
    ["invalid_arguments", "invalid_arguments"],
  ]
) {
  slackTest(`slack gives up a message that is refused with ${error}`, async (slack) => {
    await using app = await TestSlack.connected(slack);
    slack.answerNext("chat.postMessage", () => Response.json({ ok: false, error }));
    const fault = await assertRejects(() => app.send(GENERAL, "x"), PermanentDeliveryError);
    assertStringIncludes(fault.message, words!);
  });
}

slackTest("slack names the scope that is missing", async (slack) => {
  slack.workspace.scopes.delete("chat:write");
  await using app = await TestSlack.connected(slack);
  const fault = await assertRejects(() => app.send(GENERAL, "x"), PermanentDeliveryError);
  assertStringIncludes(fault.message, "chat:write");
  assertStringIncludes(fault.message, "OAuth & Permissions");
});

slackTest(
  "slack knows chats from what is none, and opens a direct one for a member",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    for (const chatId of ["general", "#general", "C1 2", "C0GENERAL01:abc", "../C1"]) {
      await assertRejects(() => app.send(chatId, "x"), PermanentDeliveryError, "expected the id");
    }
    await app.send(BOB, "to Bob");
    await app.send(BOB, "again");
    assertEquals(app.written.map(({ channel }) => channel), ["D0BOB000002", "D0BOB000002"]);
    assertEquals(app.calls("conversations.open").length, 1);
  },
);

slackTest("slack has a flood of one chat delay no other", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const release = app.host.hold();
  for (let count = 0; count < 200; count += 1) {
    await slack.say(ALICE_DM, { text: `flood ${count}` });
  }
  await slack.say("D0BOB000002", { text: "beside it", user: BOB });
  await app.until(() => slack.acknowledged().length === 201);
  // The service is offered both chats, one message of each.
  await app.until(() => app.host.offered.length === 2);
  assertEquals(
    app.host.offered.map(({ chatId }) => chatId).sort(),
    [ALICE_DM, "D0BOB000002"].sort(),
  );
  release();
  await app.until(() => app.host.published.length === 201);
  const floods = app.host.published.filter(({ chatId }) => chatId === ALICE_DM);
  assertEquals(floods.map(({ content }) => content), floods.map((_, at) => `flood ${at}`));
});

slackTest("slack takes whatever comes over its socket", async (slack) => {
  await using app = await TestSlack.connected(slack);
  for (
    const text of [
      "",
      "x",
      "null",
      "[]",
      "{}",
      '{"type":"events_api"}',
      '{"type":"events_api","envelope_id":"a"}',
      '{"type":"events_api","envelope_id":"b","payload":{"event":null}}',
      '{"type":"events_api","envelope_id":"c","payload":{"event":{"type":"message","channel":1}}}',
      '{"type":"events_api","envelope_id":"d","payload":{"event":{"type":"message","channel":"C1","user":"U1","ts":"x","text":{}}}}',
      '{"type":"interactive","envelope_id":"e","payload":{"type":"block_actions","actions":[null]}}',
      '{"type":"interactive","envelope_id":"f","payload":"x"}',
      '{"type":"slash_commands","envelope_id":"g","payload":{"command":"/x"}}',
      '{"type":"hello","num_connections":"many"}',
      `{"type":"x","a":${JSON.stringify("y".repeat(2_000_000))}}`,
    ]
  ) slack.sendRaw(text);
  await slack.say(ALICE_DM, {
    text: "\u202Eodd\u0000 \uD83D".toWellFormed(),
    files: [null] as never,
  });
  await slack.say(ALICE_DM, { text: "z".repeat(300_000) });
  await slack.say(ALICE_DM, { text: "still there" });
  await app.heard("still there");
  assertEquals(app.host.refused, []);
  assertEquals(app.ended, undefined);
});

slackTest(
  "slack tells what a message says since it was edited, and that it was deleted",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    const ts = await slack.say(ALICE_DM, { text: "buy milk" });
    await app.heard("buy milk");
    const written = slack.workspace.conversation(ALICE_DM).messages.at(-1)!;
    const tell = (event: Record<string, unknown>) => {
      const body = slack.eventOf(ALICE_DM, written);
      const hidden = { type: "message", channel: ALICE_DM, hidden: true, ...event };
      return slack.tell("events_api", { ...body, event: hidden }, "a change");
    };
    const message = { type: "message", user: ALICE, ts, text: "buy oat milk" };
    // A link was unfolded.
    await tell({ subtype: "message_changed", message });
    const edited = { user: ALICE, ts: "1700000000.000200" };
    await tell({ subtype: "message_changed", message: { ...message, edited } });
    const { messageId, metadata } = await app.heard("buy oat milk");
    assertEquals([messageId, metadata?.ts], [`${ts}~${edited.ts}`, ts]);
    const goneTs = "1700000000.000300";
    const gone = { subtype: "message_deleted", ts: goneTs, deleted_ts: ts };
    await tell({ ...gone, previous_message: message });
    await app.until(() => app.host.published.length === 3);
    assertEquals(app.host.published.map(({ content, replaces }) => [content, replaces]), [
      ["buy milk", undefined],
      ["buy oat milk", ts],
      ["", ts],
    ]);
  },
);

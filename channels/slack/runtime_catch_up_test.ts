import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { fakeClock } from "../../lib/agent/testing/fake_clock.ts";
import { ALICE_DM, BOT_USER, GENERAL } from "./testing/fake_workspace.ts";
import { fastClock } from "./testing/fast_clock.ts";
import { slackTest } from "./testing/slack_test_case.ts";
import { TestSlack } from "./testing/test_slack.ts";

/** Until when the channel of a folder has read everything, seconds since 1970. */
function seenIn({ intake }: { intake: { cursors: Record<string, string> } }): number {
  return Number(intake.cursors.seen);
}

slackTest(
  "slack W1: a message that was acknowledged is handed on by the next process",
  async (slack) => {
    const app = await TestSlack.connected(slack);
    app.host.failNext(new Error("the disk is full"));
    const ts = await slack.say(ALICE_DM, { text: "kept" });
    await app.until(() => slack.acknowledged().includes(ts));
    await app.until(() => app.host.offered.length === 1);
    await app.stop();
    assertEquals(app.turns("kept"), 0);
    await using next = await TestSlack.connected(slack, { host: app.host });
    await next.heard("kept");
    assertEquals(next.turns("kept"), 1);
  },
);

slackTest(
  "slack answers once what was written while it was away, in threads too",
  async (slack) => {
    slack.write("C0RANDOM001", { text: `<@${BOT_USER}> before the first start` });
    // Slack gives a time to each message, and the first start comes behind it.
    const app = await TestSlack.connected(slack);
    const ts = await slack.say(GENERAL, { text: `<@${BOT_USER}> question` });
    await app.heard("question");
    await app.send(`${GENERAL}:${ts}`, "answer");
    await slack.say(ALICE_DM, { text: "known" });
    await app.heard("known");
    await app.stop();
    slack.workspace.maxPage = 2;
    const since = app.host.published.length;
    for (let count = 1; count <= 5; count += 1) {
      slack.write(ALICE_DM, { text: `meanwhile ${count}` });
    }
    slack.write(GENERAL, { text: "not for it" });
    // A thread under a message that was answered already.
    const known = slack.workspace.conversation(ALICE_DM).messages
      .find(({ text }) => text === "known")!;
    slack.write(ALICE_DM, { text: "below it", thread_ts: known.ts });
    const fresh = slack.write(GENERAL, { text: `<@${BOT_USER}> fresh` });
    slack.write(GENERAL, { text: "and more", thread_ts: fresh.ts });
    slack.write(GENERAL, { text: "in the old thread", thread_ts: ts });
    slack.write(ALICE_DM, { text: "of a bot", bot_id: "B0OTHER0001" });
    slack.limitRate("conversations.history", 0);
    const next = await TestSlack.connected(slack, { host: app.host });
    for (const text of ["below it", "meanwhile 5", "fresh", "and more", "in the old thread"]) {
      await next.heard(text);
    }
    const news = next.host.published.slice(since)
      .map(({ content }) => content).filter((content) => content.startsWith("meanwhile"));
    assertEquals(news, [1, 2, 3, 4, 5].map((count) => `meanwhile ${count}`));
    assertEquals([next.turns("not for it"), next.turns("of a bot"), next.turns("question")], [
      0,
      0,
      1,
    ]);
    assertEquals(
      next.host.published.find(({ content }) => content === "and more")?.chatId,
      `${GENERAL}:${fresh.ts}`,
    );
    await next.until(() => next.calls("conversations.replies").length >= 2);
    await next.stop();
    await using third = await TestSlack.connected(slack, { host: app.host });
    await slack.say(ALICE_DM, { text: "afterwards" });
    await third.heard("afterwards");
    // What is read again has the id that it had.
    assertEquals([third.turns("before the first start"), third.turns("known")], [0, 1]);
    assertEquals([third.turns("meanwhile 5"), third.turns("in the old thread")], [1, 1]);
  },
);

slackTest("slack reads what it was not told while its connection was lost", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  await slack.say(ALICE_DM, { text: "before" });
  await app.heard("before");
  slack.refuseSockets = 2;
  slack.cut();
  slack.write(ALICE_DM, { text: "in between" });
  await app.heard("in between");
  assertStringIncludes(app.host.details.join("\n"), "not connected");
  assertEquals(app.turns("before"), 1);
  assertStringIncludes(app.detail, "connected as");
});

slackTest("slack reads on where Slack says when to come again, and not before", async (slack) => {
  const app = await TestSlack.connected(slack);
  await app.stop();
  slack.write(ALICE_DM, { text: "meanwhile" });
  slack.limitRate("conversations.history", 60);
  const clock = fakeClock(Date.now());
  const host = await FakeHost.openWith({ name: "slack", clock, stateDir: app.host.stateDir });
  {
    await using next = await TestSlack.connected(slack, { host });
    const calls = () => next.calls("conversations.history").length;
    const wall = clock.now();
    await slack.say(ALICE_DM, { text: "live" });
    await next.heard("live");
    assertEquals([calls(), next.turns("meanwhile")], [1, 0]);
    await next.until(() => {
      if (calls() === 1) clock.tick(500);
      return calls() > 1;
    });
    assert(clock.now() - wall >= 60_000, `${clock.now() - wall}`);
    await next.heard("meanwhile");
  }
  await app.host.close();
});

slackTest(
  "slack notes that it was there, so that a process that is killed reads little again",
  async (slack) => {
    const clock = fakeClock(Date.now());
    await using app = await TestSlack.connected(slack, { clock });
    await app.until(() => clock.timers() > 0);
    const seen = () => seenIn(app.host);
    await app.until(() => seen() > 0);
    const first = seen();
    for (let count = 0; count < 10; count += 1) clock.tick(30_000);
    await app.until(() => Math.round(seen() - first) === 300);
  },
);

slackTest(
  "slack reads what could not be written down while the disk was full, when Slack tells it no more",
  async (slack) => {
    const clock = fakeClock(Date.now());
    await using app = await TestSlack.connected(slack, { clock });
    await slack.say(ALICE_DM, { text: "before" });
    await app.heard("before");
    app.host.intake.fault = new Error("database or disk is full");
    const { length } = slack.acknowledged();
    await slack.say(ALICE_DM, { text: "on a full disk" });
    const isRefused = () =>
      app.host.lines.some(({ message }) => message.includes("could not be read"));
    await app.until(() => {
      if (!isRefused()) clock.tick(1_000);
      return isRefused();
    });
    assertEquals([slack.acknowledged().length, app.turns("on a full disk")], [length, 0]);
    app.host.intake.fault = undefined;
    await app.until(() => {
      if (app.turns("on a full disk") === 0) clock.tick(1_000);
      return app.turns("on a full disk") > 0;
    });
    assertEquals(app.turns("on a full disk"), 1);
  },
);

slackTest("slack notes nothing as read while it cannot read", async (slack) => {
  const clock = fakeClock(Date.now());
  await using app = await TestSlack.connected(slack, { clock });
  await slack.say(ALICE_DM, { text: "before" });
  await app.heard("before");
  const seen = seenIn(app.host);
  slack.limitRate("users.conversations", 600);
  slack.cut();
  slack.write(ALICE_DM, { text: "in between" });
  const asked = () => app.host.lines.some(({ message }) => message.includes("are tried again"));
  await app.until(() => {
    if (!asked()) clock.tick(1_000);
    return asked();
  });
  for (let count = 0; count < 10; count += 1) clock.tick(30_000);
  await slack.say(ALICE_DM, { text: "live" });
  await app.heard("live");
  assertEquals([app.turns("in between"), seenIn(app.host)], [0, seen]);
});

slackTest("slack reads behind a clock that was years ahead", async (slack) => {
  const years = 10 * 365 * 86_400_000;
  const ahead = await FakeHost.openWith({ name: "slack", clock: fakeClock(Date.now() + years) });
  const first = await TestSlack.connected(slack, { host: ahead });
  await first.until(() => seenIn(ahead) > Date.now() / 1_000);
  await first.stop();
  const clock = fakeClock(Date.now());
  const host = await FakeHost.openWith({ name: "slack", clock, stateDir: ahead.stateDir });
  slack.write(ALICE_DM, { text: "meanwhile" });
  {
    await using next = await TestSlack.connected(slack, { host });
    await next.heard("meanwhile");
  }
  await ahead.close();
});

slackTest("slack reads once for connections that come and go", async (slack) => {
  const clock = fakeClock(Date.now());
  await using app = await TestSlack.connected(slack, { clock });
  await slack.say(ALICE_DM, { text: "before" });
  await app.heard("before");
  const asked = () => app.calls("users.conversations").length;
  slack.limitRate("users.conversations", 600);
  const connect = async () => {
    const opened = app.host.details.length;
    slack.cut();
    await app.until(() => {
      clock.tick(100);
      return app.host.details.slice(opened).some((detail) => detail.startsWith("connected"));
    });
  };
  for (let times = 0; times < 6; times += 1) await connect();
  assertEquals(asked(), 1);
  slack.write(ALICE_DM, { text: "in between" });
  await app.until(() => {
    clock.tick(1_000);
    return app.turns("in between") === 1 && asked() >= 3;
  });
  assertEquals(asked(), 3);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fakeClock } from "../../lib/agent/testing/fake_clock.ts";
import { HTTP_PATH } from "./app_manifest.ts";
import { FakeSlack } from "./testing/fake_slack.ts";
import { ALICE, ALICE_DM } from "./testing/fake_workspace.ts";
import { TestSlack } from "./testing/test_slack.ts";

const changes = { mode: "http", port: 0, appToken: "" } as const;

/** Where the channel listens. */
function urlOf(app: TestSlack): string {
  return /http:\S+/.exec(app.detail)![0];
}

Deno.test("slack in the mode http answers the challenge and takes each event once (W2)", async () => {
  const slack = await FakeSlack.open();
  {
    await using app = await TestSlack.connected(slack, { changes });
    const url = urlOf(app);
    assert(url.endsWith(HTTP_PATH));
    const challenge = await slack.post(url, { type: "url_verification", challenge: "abc" });
    assertEquals(await challenge.json(), { challenge: "abc" });
    const event = slack.eventOf(ALICE_DM, slack.write(ALICE_DM, { text: "hello" }));
    for (let retry = 0; retry < 4; retry += 1) {
      const headers: Record<string, string> = retry === 0
        ? {}
        : { "x-slack-retry-num": String(retry), "x-slack-retry-reason": "http_timeout" };
      assertEquals((await slack.post(url, event, { headers })).status, 200);
    }
    const forged = slack.eventOf(ALICE_DM, slack.write(ALICE_DM, { text: "forged" }));
    assertEquals((await slack.post(url, forged, { secret: "wrong" })).status, 401);
    assertEquals((await slack.post(url, forged, { atMs: Date.now() - 301_000 })).status, 401);
    assertEquals((await slack.post(url, forged, { cut: true })).status, 401);
    await slack.post(url, slack.eventOf(ALICE_DM, slack.write(ALICE_DM, { text: "behind" })));
    await app.heard("behind");
    assertEquals([app.turns("hello"), app.turns("forged")], [1, 0]);
    assertEquals(slack.calls.some(({ method }) => method === "apps.connections.open"), false);
  }
  await slack.close();
});

Deno.test("slack in the mode http takes clicks, and reads what came while it was away", async () => {
  const slack = await FakeSlack.open();
  const app = await TestSlack.connected(slack, { changes });
  await app.send(ALICE_DM, "May I?", {
    event: {
      type: "approval",
      id: "ap-1",
      digest: "ab".repeat(32),
      expiresAt: Date.now() + 60_000,
    },
  });
  const card = slack.workspace.cards[0]!;
  const click = slack.clickOf(card, "approval_approve");
  assertEquals((await slack.post(urlOf(app), click, { isForm: true })).status, 200);
  const heard = await app.heard("/approve");
  assertEquals([heard.content, heard.senderId], ["/approve ap-1 abababab", ALICE]);
  await app.stop();
  slack.write(ALICE_DM, { text: "meanwhile" });
  {
    await using next = await TestSlack.connected(slack, { changes, host: app.host });
    await next.heard("meanwhile");
  }
  await slack.close();
});

Deno.test("slack in the mode http needs the signing secret", async () => {
  const slack = await FakeSlack.open();
  const app = await TestSlack.start(slack, {
    changes: { ...changes, signingSecret: " \n", appToken: "xapp-1" },
  });
  await app.started;
  assertStringIncludes(String(app.ended), "signingSecret is not set");
  assertEquals(slack.calls, []);
  await app.host.close();
  await slack.close();
});

Deno.test("slack in the mode http reads what Slack gave up to tell while it was not reached", async () => {
  const slack = await FakeSlack.open();
  const clock = fakeClock(Date.now());
  {
    const app = await TestSlack.connected(slack, { changes, clock });
    await using _ = app;
    const url = urlOf(app);
    const tell = (text: string, headers: Record<string, string> = {}) =>
      slack.post(url, slack.eventOf(ALICE_DM, slack.write(ALICE_DM, { text })), { headers });
    await tell("before");
    await app.heard("before");
    // The proxy is away, and Slack has told each three times.
    slack.write(ALICE_DM, { text: "given up" });
    for (let count = 0; count < 4; count += 1) clock.tick(30_000);
    await tell("again", { "x-slack-retry-num": "2", "x-slack-retry-reason": "http_timeout" });
    await app.heard("again");
    await tell("told", { "x-slack-retry-num": "3", "x-slack-retry-reason": "connection_failed" });
    await app.heard("told");
    assertEquals(app.turns("given up"), 0);
    clock.tick(60_000);
    await app.heard("given up");
    assertEquals([app.turns("before"), app.turns("told"), app.turns("given up")], [1, 1, 1]);
  }
  await slack.close();
});

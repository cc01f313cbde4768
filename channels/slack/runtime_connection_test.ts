import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { ALICE_DM, BOB_DM } from "./testing/fake_workspace.ts";
import { slackTest } from "./testing/slack_test_case.ts";
import { TestSlack } from "./testing/test_slack.ts";
import { rounds } from "../../tests/support/rounds.ts";

slackTest(
  "slack connects anew before Slack takes the connection away, and loses nothing",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    for (const reason of ["warning", "refresh_requested"] as const) {
      const { opened } = slack;
      slack.refresh(reason);
      await slack.say(ALICE_DM, { text: `during ${reason}` });
      await app.until(() => slack.opened > opened);
      await app.heard(`during ${reason}`);
      await app.until(() => slack.connections === 1);
    }
    assertStringIncludes(app.detail, "connected as helper to Example");
    assert(!app.detail.includes("another program"));
  },
);

slackTest("slack names another program that is connected with the app token", async (slack) => {
  slack.others = 1;
  await using app = await TestSlack.connected(slack);
  assertStringIncludes(app.detail, "another program is connected with this app token");
  assert(app.detail.length < 200, app.detail);
});

slackTest("slack says once that its token was revoked, and does not go on", async (slack) => {
  const app = await TestSlack.connected(slack);
  slack.revoke();
  const error = await assertRejects(() => app.send(ALICE_DM, "late"), LoginRefusedError);
  assertStringIncludes(error.message, "revoked");
  await app.started;
  assert(app.ended instanceof LoginRefusedError);
  const calls = slack.calls.length;
  await app.host.close();
  const again = await TestSlack.start(slack);
  await again.started;
  assert(again.ended instanceof LoginRefusedError, String(again.ended));
  assertEquals(slack.calls.length, calls + 1);
  await again.host.close();
});

for (
  const [method, error, words] of [
    ["auth.test", "invalid_auth", "botToken"],
    ["auth.test", "account_inactive", "removed"],
    ["apps.connections.open", "invalid_auth", "appToken"],
    ["apps.connections.open", "missing_scope", "connections:write"],
  ] as const
) {
  slackTest(`slack refuses to start when ${method} says ${error}`, async (slack) => {
    slack.logins[method] = error;
    const app = await TestSlack.start(slack);
    await app.started;
    assert(app.ended instanceof LoginRefusedError, String(app.ended));
    assertStringIncludes(app.ended.message, words);
    await app.host.close();
  });
}

slackTest("slack ends when Socket Mode is switched off", async (slack) => {
  const app = await TestSlack.connected(slack);
  slack.refresh("link_disabled");
  await app.started;
  assert(app.ended instanceof LoginRefusedError);
  assertStringIncludes(app.ended.message, "Socket Mode is switched off");
  await app.host.close();
});

slackTest("slack takes tokens with the blanks that were copied along", async (slack) => {
  const { botToken, appToken } = slack.section;
  const changes = { botToken: ` ${botToken}\n`, appToken: `\t${appToken} ` };
  await using app = await TestSlack.connected(slack, { changes });
  const files = [{ id: "F0FILE00001", name: "a.txt", mode: "hosted", size: 1 }];
  slack.workspace.files.set("F0FILE00001", { name: "a.txt", bytes: new Uint8Array([65]) });
  await slack.say(ALICE_DM, { text: "look", files });
  assertEquals((await app.heard("look")).media?.length, 1);
});

slackTest("slack leaves out nothing of much that is told at once (C34)", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const ids: Promise<string>[] = [];
  for (let count = 0; count < rounds(400, 100); count += 1) {
    ids.push(slack.say(count % 2 === 0 ? ALICE_DM : BOB_DM, { text: `message ${count}.` }));
  }
  const told = await Promise.all(ids);
  await app.until(() => app.turns("message") === told.length);
  await app.until(() => slack.acknowledged().length === told.length);
});

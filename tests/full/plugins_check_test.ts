/** What `service plugins enable` says of settings that do not work, seen from the shell. */

import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { BOT_SCOPES } from "../../channels/slack/app_manifest.ts";
import { FakeSlack } from "../../channels/slack/testing/fake_slack.ts";
import { FakeTelegram } from "../../channels/telegram/testing/fake_telegram.ts";
import { makeHome } from "../support/home.ts";

Deno.test("plugins enable asks the platform: a wrong token, what it lacks, and that nobody answers", async () => {
  const telegram = await FakeTelegram.open();
  const slack = await FakeSlack.open({
    scopes: BOT_SCOPES.filter((scope) => scope !== "reactions:write"),
  });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => telegram.close());
  closing.defer(() => slack.close());
  const wrong = "999001:AAWrongTokenOfATest-0123456789_abcdefgh";
  const allowFrom = ["1001"];
  await using home = await makeHome({
    channels: {
      telegram: { ...telegram.section, token: wrong, allowFrom },
      slack: { ...slack.section, allowFrom: [slack.senders[0]] },
    },
  });
  const file = `${home.dir}/home/config.json`;
  const enable = async (name: string, expected = 1) => {
    const before = await Deno.readTextFile(file);
    const { code, stderr } = await home.run(["plugins", "enable", name]);
    assertEquals(code, expected, stderr);
    assertEquals(await Deno.readTextFile(file) === before, expected === 1);
    assertFalse(stderr.includes(wrong), stderr);
    return stderr;
  };

  const refused = await enable("telegram");
  assertStringIncludes(refused, "Nothing was written");
  assertStringIncludes(refused, "\n  Telegram refuses the login: the token is wrong");
  assertStringIncludes(await enable("slack"), "\n  botToken: The app lacks reactions:write");

  await home.configure({ channels: { telegram: { ...telegram.section, allowFrom } } });
  assertFalse(/error|warning/.test(await enable("telegram", 0)));
  // One account beside another is told by its name.
  const accounts = { work: { token: wrong } };
  await home.configure({ channels: { telegram: { ...telegram.section, allowFrom, accounts } } });
  const both = await enable("telegram");
  assert(/^ {2}work: Telegram refuses the login: the token is wrong/m.test(both), both);
  assertEquals(both.match(/Telegram refuses/g)?.length, 1);
  await home.configure({ channels: { telegram: { ...telegram.section, allowFrom } } });
  await telegram.goDown();
  const away = await enable("telegram");
  assert(/^ {2}apiUrl cannot be used now: /m.test(away), away);
});

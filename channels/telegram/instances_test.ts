import { assertEquals } from "@std/assert";
import { FakeTelegram } from "./testing/fake_telegram.ts";
import { TestBot } from "./testing/test_bot.ts";
import { instances } from "./instances.ts";

Deno.test("instances has the bot of the section and each of its accounts (C16, C18)", () => {
  const section = {
    enabled: true,
    token: "1:first",
    respond: "all",
    accounts: { work: { token: "2:second" }, old: { enabled: false } },
  };
  const all = instances.instanceSpecs(section, false);
  assertEquals(
    all.map(({ instanceId, config }) => [
      instanceId,
      config.token,
      config.respond,
      config.enabled,
    ]),
    [
      ["default", "1:first", "all", true],
      ["work", "2:second", "all", true],
      ["old", "1:first", "all", false],
    ],
  );
  assertEquals(instances.updateInstanceConfig(section, { quote: "never" }, "work"), {
    ...section,
    accounts: { ...section.accounts, work: { token: "2:second", quote: "never" } },
  });
});

Deno.test("two bots beside each other hear and answer each for itself (C16)", async () => {
  await using one = await TestBot.connect();
  await using other = await TestBot.connect({ telegram: await FakeTelegram.open() });
  await one.heard(one.telegram.say("to the one"));
  await other.heard(other.telegram.say("to the other"));
  await other.send("1001", "from the other");
  assertEquals(one.host.published.map(({ content }) => content), ["to the one"]);
  assertEquals(one.telegram.shown, []);
  assertEquals(other.telegram.shown.map(({ text }) => text), ["from the other"]);
});

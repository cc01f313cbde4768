import { assertEquals } from "@std/assert";
import { FakeTelegram } from "./testing/fake_telegram.ts";
import { TestBot } from "./testing/test_bot.ts";

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

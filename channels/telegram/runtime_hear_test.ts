import { assertEquals, assertMatch } from "@std/assert";
import { TestBot } from "./testing/test_bot.ts";

const GROUP = { chat: { id: -1007, type: "supergroup", title: "Team" } };

Deno.test("telegram starts one turn for an update that is given three times (W2)", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  telegram.redeliverEach(3);
  const ids = [telegram.say("one"), telegram.say("two"), telegram.say("three")];
  await bot.until(() => telegram.api.queue.size === 0);
  for (const id of ids) await bot.heard(id);
  assertEquals(bot.turns.map(({ content }) => content), ["one", "two", "three"]);
});

Deno.test("telegram publishes after the restart what it had acknowledged before (W1)", async () => {
  await using first = await TestBot.connect();
  const { telegram, host } = first;
  // The service takes nothing, and the process ends like that.
  const release = host.hold();
  const id = telegram.say("do not lose me");
  await first.until(() => telegram.api.queue.acknowledged.length === 1);
  await first.stop();
  release();
  assertEquals(host.published.length, 0);
  const second = await TestBot.connect({ telegram, host });
  assertEquals((await second.heard(id)).content, "do not lose me");
  await second.stop();
  assertEquals(second.turns.length, 1);
});

Deno.test("telegram hears once what was written while it was down, with the time of then", async () => {
  await using first = await TestBot.connect();
  const { telegram, host } = first;
  const known = telegram.say("before");
  await first.heard(known);
  await first.until(() => telegram.api.queue.acknowledged.length === 1);
  await first.stop();
  const date = 1_700_000_000;
  const missed = telegram.say("meanwhile", { date });
  const second = await TestBot.connect({ telegram, host });
  const { content, sentAt } = await second.heard(missed);
  assertEquals([content, sentAt], ["meanwhile", date * 1_000]);
  await second.until(() => telegram.api.queue.size === 0);
  await second.stop();
  assertEquals(host.published.map(({ content }) => content), ["before", "meanwhile"]);
});

Deno.test("telegram asks without its offset when a week may have begun other numbers", async () => {
  await using first = await TestBot.connect();
  const { telegram, host } = first;
  await first.heard(telegram.say("x"));
  await first.until(() => telegram.api.queue.acknowledged.length === 1);
  await first.stop();
  host.clock.tick(7 * 24 * 60 * 60 * 1_000);
  const second = await TestBot.connect({ telegram, host });
  assertEquals(telegram.callsOf("getUpdates").at(-1)!.offset, undefined);
  await second.stop();
});

Deno.test("telegram hears others while one chat floods it and the service takes none of that", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const release = host.hold();
  for (let index = 0; index < 300; index += 1) telegram.say(`flood ${index}`);
  await bot.until(() => host.offered.length > 0);
  telegram.say("hello", { senderId: "1002" });
  await bot.until(() => host.offered.some(({ senderId }) => senderId === "1002"));
  assertEquals(host.offered.filter(({ senderId }) => senderId === "1001").length, 1);
  release();
  await bot.until(() => host.published.length === 301);
  const flood = host.published.filter(({ senderId }) => senderId === "1001");
  assertEquals(flood.map(({ content }) => content).at(-1), "flood 299");
});

Deno.test("telegram keeps nothing of somebody whom allowFrom does not list, and logs the number once", async () => {
  await using bot = await TestBot.connect({ allowFrom: ["1001"] });
  const { telegram, host } = bot;
  telegram.say("let me in", { senderId: "1002" });
  telegram.say("and again", { senderId: "1002" });
  await bot.heard(telegram.say("hello"));
  assertEquals(host.offered.length, 1);
  const named = host.lines.filter(({ fields }) => fields?.senderId === "1002");
  assertEquals(named.length, 1);
  assertEquals(host.strangers.map(({ senderId, chatId }) => [senderId, chatId]), [
    ["1002", "1002"],
    ["1002", "1002"],
  ]);
});

Deno.test("telegram names chat, topic, sender and message", async () => {
  await using bot = await TestBot.connect();
  const id = bot.telegram.say("hi @helper_bot", {
    ...GROUP,
    entities: [{ type: "mention", offset: 3, length: 11 }],
    is_topic_message: true,
    message_thread_id: 42,
  });
  const { chatId, senderId, senderName, metadata, content } = await bot.heard(id);
  assertEquals([chatId, senderId, senderName], ["-1007/42", "1001", "Person 1001"]);
  assertEquals([metadata, content], [{ message_id: id }, "hi @helper_bot"]);
});

Deno.test("telegram types and reacts when a turn begins, and not for a repeat", async () => {
  await using bot = await TestBot.connect({ ackReaction: "👀" });
  const { telegram } = bot;
  const id = telegram.say("hello");
  await bot.heard(id);
  await bot.until(() =>
    telegram.callsOf("setMessageReaction").length > 0 &&
    telegram.callsOf("sendChatAction").length > 0
  );
  assertEquals(telegram.callsOf("setMessageReaction"), [{
    chat_id: 1001,
    message_id: id,
    reaction: [{ type: "emoji", emoji: "👀" }],
  }]);
  assertEquals(telegram.callsOf("sendChatAction"), [{ chat_id: 1001, action: "typing" }]);
  // Telegram forgets it, so that it comes again until the turn ends.
  await bot.ticking(bot.until(() => telegram.callsOf("sendChatAction").length === 2), 100);
  await bot.send("1001", "", { event: { type: "turn_end", status: "done" } });
  const typed = telegram.callsOf("sendChatAction").length;
  bot.host.clock.tick(10_000);
  await telegram.redeliver();
  await bot.until(() => bot.host.published.length === 2);
  assertEquals(telegram.callsOf("sendChatAction").length, typed);
  assertEquals(telegram.callsOf("setMessageReaction").length, 1);
});

Deno.test("telegram lists the commands of the service, in the language of the section", async () => {
  await using bot = await TestBot.connect({ language: "de" });
  const [{ commands }] = bot.telegram.callsOf("setMyCommands") as unknown as [
    { commands: { command: string; description: string }[] },
  ];
  const { COMMAND_NAMES } = await import("../../lib/agent/chat_commands.ts");
  assertEquals(
    commands.map(({ command }) => command).toSorted(),
    COMMAND_NAMES.toSorted(),
  );
  assertEquals(commands.find(({ command }) => command === "new")?.description, "Von vorn beginnen");
});

Deno.test("telegram goes on whatever Telegram answers and gives", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  for (const body of ["", "null", "[]", '{"ok":true,"result":"x"}', "<html>", '{"ok":true']) {
    telegram.answerWith(/^getUpdates$/, body);
  }
  telegram.api.queue.push({ message: "no message" });
  telegram.api.queue.push({ message: { message_id: 1, chat: null } });
  telegram.api.queue.push({ callback_query: 7 });
  telegram.api.queue.push({ something: "new" });
  const id = telegram.say("still here");
  await bot.ticking(bot.heard(id), 1_000);
  assertEquals(host.published.length, 1);
  assertEquals(bot.ended, undefined);
  await bot.ticking(bot.until(() => bot.detail === "connected as @helper_bot"), 1_000);
});

Deno.test("telegram tells what a message says since it was edited", async () => {
  await using bot = await TestBot.connect();
  const id = bot.telegram.say("buy milk");
  await bot.heard(id);
  bot.telegram.change(id, "buy oat milk");
  await bot.until(() => bot.host.published.length === 2);
  const { content, replaces, messageId, metadata } = bot.host.published[1]!;
  assertEquals([content, replaces, metadata?.message_id], ["buy oat milk", String(id), id]);
  assertMatch(messageId!, new RegExp(`^${id}~\\d+$`));
  // An edit begins nothing: it is not acknowledged.
  assertEquals(bot.telegram.api.calls.filter(({ method }) => method === "setMessageReaction"), []);
});

import { assertEquals, assertRejects } from "@std/assert";
import { RetryLaterError } from "../../lib/channel/delivery_error.ts";
import { TestBot } from "./testing/test_bot.ts";

const CHAT = "1001";
const TOPIC = "-1007/42";

Deno.test("telegram shows what it does in one silent message, which goes at the end", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const metadata = { message_id: 9 };
  const note = (text: string) =>
    bot.send(CHAT, text, { metadata, event: { type: "progress", toolHint: true } });
  await note("reading a.txt");
  await bot.until(() => telegram.shown.length === 1);
  assertEquals([telegram.shown[0]!.isSilent, telegram.shown[0]!.text], [true, "reading a.txt"]);
  for (const text of ["b", "c", "writing d.txt"]) await note(text);
  await bot.ticking(bot.until(() => telegram.shown[0]!.text === "writing d.txt"));
  // Of what came too fast the newest alone.
  assertEquals(telegram.callsOf("editMessageText").length, 1);
  await bot.send(CHAT, "Done.", { metadata });
  await bot.until(() => telegram.shown.length === 1);
  await bot.send(CHAT, "", { metadata, event: { type: "turn_end", status: "done" } });
  assertEquals(telegram.shown.map(({ text }) => text), ["Done."]);
  host.clock.tick(60_000);
  assertEquals(telegram.api.chats.messages.length, 2);
});

Deno.test("telegram takes away at its start what the process before it has shown", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const metadata = { message_id: 9 };
  await bot.send(CHAT, "reading", { metadata, event: { type: "progress", toolHint: true } });
  await bot.until(() => telegram.shown.length === 1);
  await bot.stop();
  const second = await TestBot.connect({ telegram, host });
  await second.until(() => telegram.shown.length === 0);
  await second.stop();
});

Deno.test("telegram takes a note away as soon as the chat takes calls again", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  const metadata = { message_id: 9 };
  await bot.send(CHAT, "reading", { metadata, event: { type: "progress", toolHint: true } });
  await bot.until(() => telegram.shown.length === 1);
  telegram.flood(/^deleteMessage$/, 3);
  await bot.send(CHAT, "", { metadata, event: { type: "turn_end", status: "done" } });
  assertEquals(telegram.shown.length, 1);
  telegram.fail(/^deleteMessage$/, 500, "Internal Server Error");
  bot.host.clock.tick(3_000);
  await bot.ticking(bot.until(() => telegram.shown.length === 0));
  // One that somebody has deleted is no more asked for.
  await bot.send(CHAT, "reading", { metadata, event: { type: "progress", toolHint: true } });
  await bot.until(() => telegram.shown.length === 1);
  const calls = telegram.callsOf("deleteMessage").length;
  telegram.fail(/^deleteMessage$/, 400, "Bad Request: message to delete not found");
  await bot.send(CHAT, "", { metadata, event: { type: "turn_end", status: "done" } });
  bot.host.clock.tick(10_000);
  assertEquals(telegram.callsOf("deleteMessage").length, calls);
});

Deno.test("telegram shows a stream in one message, edited no more often than Telegram allows (C26, C28)", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  const metadata = { message_id: 3 };
  await bot.stream(CHAT, "Hel", { metadata });
  assertEquals(telegram.shown.map(({ text }) => text), ["Hel"]);
  const second = bot.stream(CHAT, "lo **wor", { metadata });
  await new Promise((next) => setTimeout(next, 20));
  assertEquals(telegram.callsOf("editMessageText").length, 0);
  await bot.ticking(second, 1_000);
  await bot.ticking(bot.stream(CHAT, "ld**", { metadata, streamEnd: true }), 1_000);
  await bot.send(CHAT, "", { metadata, event: { type: "turn_end", status: "done" } });
  assertEquals(telegram.shown.map(({ text, edits }) => [text, edits]), [["Hello world", 2]]);
  assertEquals(telegram.callsOf("sendMessage").length, 1);
});

Deno.test("telegram edits in groups every three seconds, and quotes the question once", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const metadata = { message_id: 3 };
  await bot.stream(TOPIC, "a", { metadata });
  const next = bot.stream(TOPIC, "b", { metadata });
  await new Promise((next) => setTimeout(next, 20));
  host.clock.tick(2_900);
  await new Promise((next) => setTimeout(next, 20));
  assertEquals(telegram.shown[0]!.text, "a");
  host.clock.tick(100);
  await next;
  const words = Array.from({ length: 1_000 }, (_, index) => `word${index}`).join(" ");
  await bot.ticking(bot.stream(TOPIC, ` ${words}`, { metadata, streamEnd: true }), 1_000);
  assertEquals(telegram.shown.map(({ replyTo }) => replyTo), [3, undefined]);
  assertEquals(telegram.shown.map(({ text }) => text).join(" "), `ab ${words}`);
});

Deno.test("telegram repeats no text of a stream whose edit was refused (C27)", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  await bot.stream(CHAT, "one ");
  telegram.flood(/^editMessageText$/, 30);
  const refused = await bot.ticking(
    assertRejects(() => bot.stream(CHAT, "two "), RetryLaterError),
    1_000,
  );
  assertEquals(refused.retryAfterMs, 30_000);
  host.clock.tick(30_000);
  await bot.ticking(bot.stream(CHAT, "two three", { streamEnd: true }), 1_000);
  assertEquals(telegram.shown.map(({ text }) => text), ["one two three"]);
});

Deno.test("telegram takes an edit that changes nothing for done, and one of a message that is gone", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  await bot.stream(CHAT, "text");
  telegram.fail(/^editMessageText$/, 400, "Bad Request: message is not modified: x");
  await bot.ticking(bot.stream(CHAT, " more"), 1_000);
  telegram.fail(/^editMessageText$/, 400, "Bad Request: message to edit not found");
  await bot.ticking(bot.stream(CHAT, " end", { streamEnd: true }), 1_000);
  assertEquals(telegram.shown.length, 1);
});

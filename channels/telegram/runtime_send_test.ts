import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { MAX_FILE_BYTES } from "./outbound/outgoing_kinds.ts";
import { TestBot } from "./testing/test_bot.ts";

const CHAT = "1001";
const TOPIC = "-1007/42";

Deno.test("telegram sends Markdown as Telegram's HTML, and quotes in groups alone", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  await bot.send(CHAT, "**yes** <no>", { metadata: { message_id: 7 } });
  await bot.send(TOPIC, "there", { metadata: { message_id: 8 } });
  const [one, two] = telegram.shown;
  assertEquals([one!.html, one!.text, one!.replyTo], [
    "<b>yes</b> &lt;no&gt;",
    "yes <no>",
    undefined,
  ]);
  assertEquals([two!.chatId, two!.replyTo], [TOPIC, 8]);
  const [, call] = telegram.callsOf("sendMessage");
  assertEquals(call!.reply_parameters, { message_id: 8, allow_sending_without_reply: true });
  assertEquals(call!.link_preview_options, { is_disabled: true });
});

Deno.test("telegram sends what Telegram takes for wrong markup once more, as plain text", async () => {
  await using bot = await TestBot.connect();
  bot.telegram.fail(
    /^sendMessage$/,
    400,
    "Bad Request: can't parse entities: Unsupported start tag",
  );
  await bot.send(CHAT, "**yes** <no>");
  const [sent] = bot.telegram.shown;
  assertEquals([sent!.text, sent!.html], ["yes <no>", "yes <no>"]);
  bot.telegram.fail(/^sendMessage$/, 400, "Bad Request: can't parse entities: x", { times: 2 });
  await assertRejects(() => bot.send(CHAT, "**yes**"), PermanentDeliveryError, "can't parse");
});

Deno.test("telegram waits as long as a 429 says, for that chat alone", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  telegram.flood(/^sendMessage$/, 7);
  const error = await assertRejects(() => bot.send(CHAT, "a"), RetryLaterError);
  assertEquals(error.retryAfterMs, 7_000);
  host.clock.tick(3_000);
  // Telegram is not even asked before that.
  const again = await assertRejects(() => bot.send(CHAT, "b"), RetryLaterError);
  assertEquals(again.retryAfterMs, 4_000);
  await bot.send("1002", "c");
  host.clock.tick(4_000);
  await bot.send(CHAT, "d");
  assertEquals(telegram.shown.map(({ text }) => text), ["c", "d"]);
  assertEquals(telegram.callsOf("sendMessage (refused)").length, 1);
});

Deno.test("telegram tells what a repeat cannot mend, and why", async () => {
  await using bot = await TestBot.connect();
  for (
    const [code, description, words] of [
      [403, "Forbidden: bot was blocked by the user", "the person has blocked the bot"],
      [403, "Forbidden: bot was kicked from the supergroup chat", "no member of the group"],
      [400, "Bad Request: chat not found", "there is no such chat"],
      [400, "Bad Request: message thread not found", "the topic is gone"],
      [400, "Bad Request: something else", "something else"],
    ] as const
  ) {
    bot.telegram.fail(/^sendMessage$/, code, description);
    await assertRejects(() => bot.send(CHAT, "x"), PermanentDeliveryError, words);
  }
  for (const chat of ["", "@name", "1001;x", "1001/", "12345678901234567890"]) {
    await assertRejects(() => bot.send(chat, "x"), PermanentDeliveryError, "Cannot send to");
  }
  assertEquals(bot.telegram.shown, []);
});

Deno.test("telegram tells what may have arrived from what has not", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  telegram.cutOff(/^sendMessage$/);
  await assertRejects(() => bot.send(CHAT, "taken"), UncertainDeliveryError);
  assertEquals(telegram.shown.map(({ text }) => text), ["taken"]);
  telegram.answerWith(/^sendMessage$/, "<html>Bad Gateway</html>", 502);
  const bad = await assertRejects(() => bot.send(CHAT, "x"), Error, "status 502");
  assertEquals(bad.name, "RetryLaterError");
  telegram.answerWith(/^sendMessage$/, "<html>Gateway Timeout</html>", 504);
  await assertRejects(() => bot.send(CHAT, "x"), UncertainDeliveryError);
  telegram.fail(/^sendMessage$/, 500, "Internal Server Error: restart");
  await assertRejects(() => bot.send(CHAT, "x"), UncertainDeliveryError);
  for (
    const body of [
      "",
      "null",
      "<html>",
      '{"ok":true}',
      '{"ok":true,"result":null}',
      '{"ok":true,"result":{}}',
      '{"ok":true,"result":{"message_id":"1","chat":{"id":1}}}',
    ]
  ) {
    telegram.answerWith(/^sendMessage$/, body);
    await assertRejects(() => bot.send(CHAT, "x"), UncertainDeliveryError);
  }
  await telegram.close();
  const away = await assertRejects(() => bot.send(CHAT, "x"), NotConnectedError);
  assert(!away.message.includes(telegram.token), away.message);
});

Deno.test("telegram follows a group that became another chat, also behind a restart", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  telegram.api.migrated.set("-55", -10055);
  await bot.send("-55", "one");
  await bot.stop();
  const second = await TestBot.connect({ telegram, host });
  await second.send("-55", "two");
  await second.stop();
  assertEquals(telegram.shown.map(({ chatId }) => chatId), ["-10055", "-10055"]);
  assertEquals(telegram.callsOf("sendMessage").map(({ chat_id }) => chat_id), [
    -55,
    -10055,
    -10055,
  ]);
});

Deno.test("telegram sends no part of a long message a second time", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const long = Array.from({ length: 1_500 }, (_, index) => `word${index}`).join(" ");
  const message = { id: "same" };
  telegram.fail(/^sendMessage$/, 429, "Too Many Requests: retry after 1", {
    behind: 1,
    parameters: { retry_after: 1 },
  });
  await assertRejects(() => bot.send(CHAT, long, message), Error, "Too Many Requests");
  host.clock.tick(1_000);
  assertEquals(telegram.shown.length, 1);
  await bot.send(CHAT, long, message);
  const text = telegram.shown.map(({ text }) => text).join(" ");
  assertEquals(text, long);
});

Deno.test("telegram sends files by their kinds, pictures together, and a short text beside them", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const file = async (name: string, content = "x") => {
    const path = `${host.stateDir}/${name}`;
    await Deno.writeTextFile(path, content);
    return path;
  };
  const [a, b, notes, voice] = await Promise.all(
    ["a.jpg", "b.png", "notes; 1.txt", "v.ogg"].map((name) => file(name)),
  );
  await bot.send(CHAT, "**two**", { media: [a!, b!] });
  assertEquals(telegram.callsOf("sendMediaGroup").length, 1);
  assertEquals(
    telegram.shown.map(({ kinds, files, text }) => [kinds[0], files[0]!.name, text]),
    [["photo", "a.jpg", "two"], ["photo", "b.png", ""]],
  );
  await bot.send(CHAT, "mixed", { media: [voice!, notes!] });
  assertEquals(
    telegram.shown.slice(2).map(({ kinds, files, text }) => [kinds[0], files[0]?.name, text]),
    [[undefined, undefined, "mixed"], ["voice", "v.ogg", ""], ["document", "notes_ 1.txt", ""]],
  );
});

Deno.test("telegram sends a picture that Telegram does not take as a document, and says what it refuses", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const path = `${host.stateDir}/odd.png`;
  await Deno.writeTextFile(path, "x");
  telegram.fail(/^sendPhoto$/, 400, "Bad Request: PHOTO_INVALID_DIMENSIONS");
  await bot.send(CHAT, "look", { media: [path] });
  assertEquals(telegram.shown[0]!.kinds, ["document"]);
  telegram.fail(/^sendPhoto$/, 400, "Bad Request: FILE_CONTENT_TYPE_INVALID");
  await bot.send(CHAT, "look again", { media: [path] });
  assertEquals(
    telegram.shown[1]!.text,
    "look again\n\nThe file odd.png could not be attached: Telegram refused sendPhoto: Bad Request: " +
      "FILE_CONTENT_TYPE_INVALID.",
  );
});

Deno.test("telegram says which file is too large, empty or gone, and sends the others", async () => {
  await using bot = await TestBot.connect({ language: "de" });
  const { telegram, host } = bot;
  const path = (name: string) => `${host.stateDir}/${name}`;
  await Deno.writeTextFile(path("ok.txt"), "x");
  await Deno.writeTextFile(path("empty.txt"), "");
  await using large = await Deno.open(path("large.bin"), { write: true, create: true });
  await large.truncate(MAX_FILE_BYTES + 1);
  const media = ["ok.txt", "empty.txt", "large.bin", "gone.txt"].map(path);
  await bot.send(CHAT, "here", { media });
  const [{ text, files }] = telegram.shown as [typeof telegram.shown[number]];
  assertEquals(files.map(({ name }) => name), ["ok.txt"]);
  assertStringIncludes(text, "large.bin konnte nicht angehängt werden: 51 MB > 50 MB");
  assertStringIncludes(text, "empty.txt konnte nicht angehängt werden");
  assertStringIncludes(text, "gone.txt konnte nicht angehängt werden");
});

Deno.test("telegram lets a message that is being sent arrive when it is stopped", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  const sending = bot.send(CHAT, "last words");
  await bot.channel.stop();
  await sending;
  assertEquals(telegram.shown.map(({ text }) => text), ["last words"]);
  await assertRejects(() => bot.send(CHAT, "late"), Error, "it was stopped");
});

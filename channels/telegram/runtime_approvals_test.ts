import { assertEquals, assertRejects } from "@std/assert";
import { ANSWER_MS } from "./outbound/click_answers.ts";
import { TestBot } from "./testing/test_bot.ts";

const ID = "apr_abcdefgh23456789";
const DIGEST = "0123456789abcdef".repeat(4);
const CHAT = "1001";

function approval(bot: TestBot, id = ID) {
  const expiresAt = bot.host.clock.now() + 120_000;
  return bot.send(CHAT, "**Approval needed**: exec", {
    event: { type: "approval", id, digest: DIGEST, expiresAt },
  });
}

function resolved(bot: TestBot, content = "", outcome: "approved" | "expired" = "approved") {
  return bot.send(CHAT, content, { event: { type: "approval_resolved", id: ID, outcome } });
}

const wordsFor = (bot: TestBot, queryId: string) =>
  bot.telegram.callsOf("answerCallbackQuery")
    .find(({ callback_query_id }) => callback_query_id === queryId)?.text;

async function answered(bot: TestBot, queryId: string) {
  await bot.until(() =>
    bot.telegram.callsOf("answerCallbackQuery").some((call) => call.callback_query_id === queryId)
  );
  return wordsFor(bot, queryId);
}

Deno.test("telegram shows an approval with buttons, and a click is a command of who clicked", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  await approval(bot);
  const [message] = telegram.shown;
  assertEquals(message!.keyboard.map(({ text }) => text), ["✅ Approve", "❌ Deny"]);
  const query = telegram.click(message!, "Approve");
  const { content, senderId, chatId } = await bot.heard(`click:${query}`);
  assertEquals([content, senderId, chatId], [`/approve ${ID} 01234567`, "1001", CHAT]);
  // What the service says to it is shown to who clicked, and to nobody else.
  await bot.send(chatId, "Approved `apr`.", { metadata: bot.host.published[0]!.metadata });
  assertEquals(await answered(bot, query), "Approved apr.");
  assertEquals(telegram.shown.length, 1);
  const denial = telegram.click(message!, "Deny", "1002");
  assertEquals((await bot.heard(`click:${denial}`)).content, `/deny ${ID}`);
});

Deno.test("telegram answers a click to which the service says nothing soon, and shows later what it says", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  await approval(bot);
  const query = telegram.click(telegram.shown[0]!, "Approve");
  const { metadata } = await bot.heard(`click:${query}`);
  assertEquals(telegram.callsOf("answerCallbackQuery"), []);
  host.clock.tick(ANSWER_MS);
  assertEquals(await answered(bot, query), "Sent.");
  await bot.send(CHAT, "Approved apr.", { metadata });
  assertEquals(telegram.shown.at(-1)!.text, "Approved apr.");
});

Deno.test("telegram sends what the service says to a click as a message where Telegram does not show it", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  await approval(bot);
  const [message] = telegram.shown;
  for (
    const [senderId, words, isOld] of [
      ["1001", "x".repeat(201), false],
      ["1002", "Not approved.", true],
    ] as const
  ) {
    const query = telegram.click(message!, "Approve", senderId);
    const { metadata } = await bot.heard(`click:${query}`);
    const tooOld =
      "Bad Request: query is too old and response timeout expired or query ID is invalid";
    if (isOld) telegram.fail(/^answerCallbackQuery$/, 400, tooOld);
    await bot.send(CHAT, words, { metadata });
    assertEquals(telegram.shown.at(-1)!.text, words);
  }
});

Deno.test("telegram takes the buttons away when an approval is over, and says how it came out", async () => {
  await using bot = await TestBot.connect({ language: "es" });
  const { telegram } = bot;
  await approval(bot);
  await resolved(bot, "", "expired");
  const [message] = telegram.shown;
  assertEquals(message!.keyboard, []);
  assertEquals(message!.text, "Approval needed: exec\n\nNadie respondió a tiempo.");
  // A second word of it changes nothing.
  await resolved(bot, "", "expired");
  assertEquals(telegram.shown.length, 1);
});

Deno.test("telegram says how an approval came out in the service's words where it has some", async () => {
  await using bot = await TestBot.connect();
  await approval(bot);
  await resolved(bot, "Approved by **Ann**.");
  assertEquals(bot.telegram.shown[0]!.text, "Approval needed: exec\n\nApproved by Ann.");
});

Deno.test("telegram knows its buttons after a restart, and takes them away", async () => {
  await using first = await TestBot.connect();
  const { telegram, host } = first;
  await approval(first);
  await first.stop();
  const [message] = telegram.shown;
  const query = telegram.click(message!, "Approve");
  const second = await TestBot.connect({ telegram, host });
  assertEquals((await second.heard(`click:${query}`)).content, `/approve ${ID} 01234567`);
  await resolved(second);
  assertEquals(message!.keyboard, []);
  await second.stop();
});

Deno.test("telegram answers a second click and a late one with a word, and with no command", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  await approval(bot);
  const [message] = telegram.shown;
  const [approve] = message!.keyboard;
  await bot.heard(`click:${telegram.click(message!, "Approve")}`);
  assertEquals(
    await answered(bot, telegram.click(message!, "Deny")),
    "This was answered already.",
  );
  await resolved(bot);
  const over = telegram.clickData(message!, approve!.callback_data, "1002");
  assertEquals(await answered(bot, over), "This was answered already.");
  assertEquals(host.published.length, 1);
});

Deno.test("telegram takes no click behind the time of an approval", async () => {
  await using bot = await TestBot.connect();
  await approval(bot);
  bot.host.clock.tick(121_000);
  const query = bot.telegram.click(bot.telegram.shown[0]!, "Approve");
  const said = await bot.ticking(answered(bot, query));
  assertEquals(said, "It is too late: nobody waits for this answer any more.");
  assertEquals(bot.host.offered, []);
});

Deno.test("telegram refuses a click of somebody whom allowFrom does not list", async () => {
  await using bot = await TestBot.connect({ allowFrom: ["1001"] });
  await approval(bot);
  const query = bot.telegram.click(bot.telegram.shown[0]!, "Approve", "1002");
  assertEquals(await answered(bot, query), "You may not answer this.");
  assertEquals(bot.host.offered, []);
});

Deno.test("telegram hears a click once that is given three times", async () => {
  await using bot = await TestBot.connect();
  bot.telegram.redeliverEach(3);
  await approval(bot);
  const query = bot.telegram.click(bot.telegram.shown[0]!, "Approve");
  await bot.heard(`click:${query}`);
  await bot.until(() => bot.telegram.api.queue.size === 0);
  assertEquals(bot.turns.length, 1);
});

Deno.test("telegram answers a button that it did not make, and hears nothing of it", async () => {
  await using bot = await TestBot.connect();
  await approval(bot);
  const [message] = bot.telegram.shown;
  for (const data of ["x", "a:/stop:01234567 ", "a:b c:01234567", "#gone", "", "a::01234567"]) {
    await answered(bot, bot.telegram.clickData(message!, data));
  }
  assertEquals(bot.host.offered, []);
});

Deno.test("telegram keeps what is too long for a button in its memory", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  const id = `apr_${"x".repeat(90)}`;
  await approval(bot, id);
  const query = telegram.click(telegram.shown[0]!, "Approve");
  assertEquals((await bot.heard(`click:${query}`)).content, `/approve ${id} 01234567`);
});

Deno.test("telegram hears clicks in topics beside messages that wait for the service", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const expiresAt = host.clock.now() + 120_000;
  const event = { type: "approval", id: ID, digest: DIGEST, expiresAt } as const;
  await bot.send("-1007/42", "approve?", { event });
  const release = host.hold();
  telegram.say("/status", {
    chat: { id: -1007, type: "supergroup", title: "Team" },
    is_topic_message: true,
    message_thread_id: 42,
  });
  await bot.until(() => host.offered.length === 1);
  telegram.click(telegram.shown[0]!, "Approve");
  await bot.until(() => host.offered.length === 2);
  assertEquals(host.offered.map(({ chatId }) => chatId), ["-1007/42", "-1007/42"]);
  release();
});

Deno.test("telegram tells when a resolved approval could not be changed for now", async () => {
  await using bot = await TestBot.connect();
  await approval(bot);
  bot.telegram.fail(/^editMessageText$/, 500, "Internal Server Error");
  await assertRejects(() => resolved(bot), Error, "Internal Server Error");
  await resolved(bot);
  assertEquals(bot.telegram.shown[0]!.keyboard, []);
});

Deno.test("telegram says how an approval came out whose message a killed process has posted", async () => {
  await using bot = await TestBot.connect();
  await resolved(bot, "Approved: **exec**");
  assertEquals(bot.telegram.shown.map(({ text }) => text), ["Approved: exec"]);
});

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { TestBot } from "./testing/test_bot.ts";

Deno.test("telegram ends with one clear state when its token is revoked, and asks no more", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  telegram.revoke();
  await bot.started;
  assert(bot.ended instanceof LoginRefusedError);
  assertMatch(
    bot.ended.message,
    /refuses the login: the token is wrong or was revoked\. Copy it again/,
  );
  assertEquals(bot.channel.isRunning, false);
  const calls = telegram.api.calls.length;
  bot.host.clock.tick(3_600_000);
  assertEquals([telegram.api.calls.length, bot.host.clock.timers()], [calls, 0]);
  await assertRejects(() => bot.send("1001", "x"), Error, "Not connected");
});

Deno.test("telegram says of a send too that its token was revoked", async () => {
  await using bot = await TestBot.connect();
  bot.telegram.fail(/^sendMessage$/, 401, "Unauthorized");
  await assertRejects(() => bot.send("1001", "x"), LoginRefusedError);
  await bot.started;
  assert(bot.ended instanceof LoginRefusedError);
});

Deno.test("telegram goes on where a server knows a method no more than its token", async () => {
  await using bot = await TestBot.connect({ ackReaction: "👀" });
  bot.telegram.fail(/^setMessageReaction$/, 404, "Not Found: method not found");
  await bot.heard(bot.telegram.say("hello"));
  await bot.until(() => bot.host.lines.some(({ message }) => message === "A reaction was not set"));
  await bot.heard(bot.telegram.say("still there"));
});

for (const token of ["777001:AAAnotherTokenOfATest-0123456789_xyz", "not a token", "a/../b", ""]) {
  Deno.test(`telegram is refused with the token ${JSON.stringify(token)}, and says so`, async () => {
    await using bot = await TestBot.start({ token });
    await bot.started;
    assert(bot.ended instanceof LoginRefusedError, String(bot.ended));
    if (token !== "") assert(!bot.ended.message.includes(token));
  });
}

Deno.test("telegram goes on trying while Telegram is away, ever more slowly", async () => {
  await using bot = await TestBot.start();
  const { telegram, host } = bot;
  telegram.fail(/^getMe$/, 502, "Bad Gateway", { times: 3 });
  for (const seconds of [2, 3, 5]) {
    // Up to a quarter more than 1, 2 and 4.
    await bot.until(() => bot.detail.endsWith(`again in ${seconds} s`));
    assertMatch(bot.detail, /^not connected: Telegram is away: Bad Gateway/);
    host.clock.tick(seconds * 1_000);
  }
  await bot.until(() => bot.detail === "connected as @helper_bot");
  assertEquals(bot.ended, undefined);
});

Deno.test("telegram waits with its polls as long as a 429 says", async () => {
  await using bot = await TestBot.start();
  const { telegram, host } = bot;
  telegram.flood(/^getUpdates$/, 9);
  await bot.until(() => bot.detail.includes("again in 9 s") && host.clock.timers() > 0);
  host.clock.tick(8_999);
  await new Promise((next) => setTimeout(next, 20));
  assertEquals(telegram.callsOf("getUpdates").length, 0);
  host.clock.tick(1);
  await bot.until(() => telegram.callsOf("getUpdates").length > 0);
  await bot.heard(telegram.say("hello"));
});

Deno.test("telegram names another program that reads its updates, and does not fight it", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  for (const seconds of [3, 6, 12, 24, 48, 60]) {
    telegram.pollElsewhere();
    await bot.until(() =>
      bot.detail ===
        "another program reads this bot's updates: stop it, or give this one another " +
          `bot; again in ${seconds} s` && host.clock.timers() > 0
    );
    const polls = telegram.api.queue.polls;
    host.clock.tick(seconds * 1_000 - 1);
    await new Promise((next) => setTimeout(next, 5));
    assertEquals(telegram.api.queue.polls, polls);
    host.clock.tick(1);
    await bot.until(() => telegram.api.queue.polls === polls + 1);
  }
  const warnings = host.lines.filter(({ message }) => /Another program/.test(message));
  assertEquals(warnings.length, 1);
  // The other one is gone.
  await bot.heard(telegram.say("hello"));
  await bot.until(() => bot.detail === "connected as @helper_bot");
});

Deno.test("telegram takes an old server's words for another program, where no webhook is set", async () => {
  await using bot = await TestBot.start();
  const { telegram } = bot;
  telegram.fail(/^getUpdates$/, 409, "Conflict: terminated by other long poll or webhook");
  await bot.until(() => /^another program reads this bot's updates/.test(bot.detail));
  assertEquals(telegram.callsOf("deleteWebhook"), []);
});

Deno.test("telegram removes a webhook once where it polls, and names one that comes back", async () => {
  await using bot = await TestBot.start();
  const { telegram } = bot;
  const url = "https://elsewhere.example/secret-path";
  telegram.setWebhookElsewhere(url);
  await bot.until(() => telegram.api.queue.polls > 0);
  const removed = bot.host.lines.find(({ message }) =>
    /webhook of the bot was removed/.test(message)
  );
  assertEquals(removed?.fields, { host: "elsewhere.example" });
  assertEquals(telegram.callsOf("deleteWebhook"), [{ drop_pending_updates: false }]);
  telegram.setWebhookElsewhere(url);
  await bot.until(() =>
    /^another program has set a webhook to elsewhere\.example/.test(bot.detail)
  );
  bot.host.clock.tick(60_000);
  await bot.until(() => telegram.callsOf("getWebhookInfo").length === 3);
  assertEquals(telegram.callsOf("deleteWebhook").length, 1);
  assert(bot.host.details.every((detail) => !detail.includes("secret-path")));
});

Deno.test("telegram is there again after the connection was cut", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  telegram.cutOff(/^getUpdates$/);
  await bot.heard(telegram.say("arrives"));
  telegram.say("lost on the way");
  await bot.until(() => /^not connected/.test(bot.detail));
  host.clock.tick(2_000);
  await bot.until(() => host.published.length === 2);
  await bot.until(() => bot.detail === "connected as @helper_bot");
});

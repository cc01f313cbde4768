import { assert, assertEquals, assertMatch } from "@std/assert";
import { checkChannel, FakeHost } from "../../lib/channel/testing/mod.ts";
import { FakeTelegram } from "./testing/fake_telegram.ts";
import { TestBot, type TestBotOptions } from "./testing/test_bot.ts";
import { LOOK_MS } from "./inbound/serve_webhook.ts";

const SECRET = "a-secret-of-a-webhook";

const OUTSIDE = "https://bot.example.com";

const SECTION = {
  mode: "webhook",
  webhookUrl: `${OUTSIDE}/telegram`,
  webhookHost: "127.0.0.1",
  webhookPort: 0,
  webhookSecret: SECRET,
} as const;

/** A bot behind a proxy that passes posts on to wherever it listens. */
async function connect(options: TestBotOptions = {}) {
  const telegram = options.telegram ?? await FakeTelegram.open();
  const host = options.host ?? await FakeHost.open({ name: "telegram" });
  let inside = "";
  const listen = host.listen.bind(host);
  host.listen = async (address, handler) => {
    const listener = await listen(address, handler);
    telegram.api.proxies.set(OUTSIDE, inside = listener.url);
    return listener;
  };
  const bot = await TestBot.start({ ...SECTION, ...options, telegram, host });
  await bot.until(() => bot.detail.endsWith("by its webhook") && inside !== "");
  await bot.until(() => telegram.api.webhook !== undefined);
  const post = (body: string, headers: HeadersInit = {}, path = "/telegram", method = "POST") =>
    fetch(inside + path, {
      method,
      ...method === "POST" && { body },
      headers: { "x-telegram-bot-api-secret-token": SECRET, ...headers },
    }).then(async (response) => {
      await response.body?.cancel();
      return response.status;
    });
  return { bot, post };
}

Deno.test("telegram hears by its webhook, an update that is posted three times once (W2)", async () => {
  const { bot } = await connect();
  await using _ = bot;
  const { telegram } = bot;
  telegram.redeliverEach(3);
  const id = telegram.say("hello");
  assertEquals((await bot.heard(id)).content, "hello");
  await bot.until(() => telegram.api.queue.size === 0);
  assertEquals(bot.turns.length, 1);
  assertEquals(telegram.callsOf("setWebhook"), [{
    url: SECTION.webhookUrl,
    secret_token: SECRET,
    allowed_updates: ["message", "edited_message", "callback_query"],
  }]);
  assertEquals(bot.detail, "connected as @helper_bot, by its webhook");
  await bot.send("1001", "answer");
});

Deno.test("telegram answers a post when it is on the disk, while the service takes nothing", async () => {
  const { bot } = await connect();
  await using _ = bot;
  const release = bot.host.hold();
  bot.telegram.say("one");
  bot.telegram.say("two");
  await bot.until(() => bot.telegram.api.queue.acknowledged.length === 2);
  assertEquals(bot.host.published, []);
  release();
  await bot.until(() => bot.turns.length === 2);
});

Deno.test("telegram refuses posts that do not know the secret, and other requests", async () => {
  const { bot, post } = await connect();
  await using _ = bot;
  const update = JSON.stringify({ update_id: 1, message: null });
  const secret = (value: string) => ({ "x-telegram-bot-api-secret-token": value });
  assertEquals(await post(update, secret("")), 401);
  assertEquals(await post(update, secret(SECRET + "x")), 401);
  assertEquals(await post(update, secret(SECRET.toUpperCase())), 401);
  assertEquals(await post(update, {}, "/elsewhere"), 404);
  assertEquals(await post("", {}, "/telegram", "GET"), 405);
  assertEquals(await post("{no json"), 400);
  assertEquals(await post("null"), 200);
  assertEquals(await post("[]"), 200);
  assertEquals(await post(update), 200);
  assertEquals(bot.host.offered, []);
});

Deno.test("telegram leaves its webhook set when it is stopped, and hears then what was written", async () => {
  const { bot } = await connect();
  await using _ = bot;
  const { telegram, host } = bot;
  await bot.stop();
  telegram.say("meanwhile");
  await bot.until(() => telegram.api.webhookFailure !== undefined);
  const { bot: second } = await connect({ telegram, host });
  await second.until(() => host.published.length === 1);
  assertEquals(host.published[0]!.content, "meanwhile");
  await second.stop();
});

Deno.test("telegram names who has taken its webhook, and does not take it back", async () => {
  const { bot } = await connect();
  await using _ = bot;
  const { telegram } = bot;
  telegram.setWebhookElsewhere("https://elsewhere.example/x");
  await bot.ticking(
    bot.until(() => /has set the webhook to elsewhere\.example/.test(bot.detail)),
    LOOK_MS / 10,
  );
  telegram.api.webhook = undefined;
  await bot.ticking(bot.until(() => /has removed the webhook/.test(bot.detail)), LOOK_MS / 10);
  assertEquals(telegram.callsOf("setWebhook").length, 1);
});

Deno.test("telegram ends when its token is revoked, by its webhook too", async () => {
  const { bot } = await connect();
  await using _ = bot;
  bot.telegram.revoke();
  await bot.ticking(bot.started, LOOK_MS / 10);
  assertEquals((bot.ended as Error).name, "LoginRefusedError");
});

Deno.test("telegram says what is wrong with the settings of a webhook", async () => {
  for (
    const [changes, words] of [
      [{ webhookUrl: "" }, /^webhookUrl is not set/],
      [{ webhookHost: "" }, /^webhookHost is not set/],
      [{ webhookSecret: "short" }, /^webhookSecret is too short/],
      [{ webhookUrl: "http://bot.example.com/x" }, /^webhookUrl is not taken: .*HTTPS/],
    ] as const
  ) {
    await using bot = await TestBot.start({ ...SECTION, ...changes });
    await bot.started;
    assert(bot.ended instanceof Error);
    assertMatch(bot.ended.message, words);
  }
});

Deno.test("telegram works with its webhook in a worker that may reach nothing else", async () => {
  const openPlatform = async () => {
    const telegram = await FakeTelegram.open();
    // A worker may listen at the port of its section alone.
    using free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = free.addr;
    const webhookUrl = `http://127.0.0.1:${port}/telegram`;
    Object.defineProperty(telegram, "section", {
      value: { ...telegram.section, ...SECTION, webhookUrl, webhookPort: port },
    });
    return telegram;
  };
  const folder = new URL("./", import.meta.url);
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
});

Deno.test("telegram takes a webhook's settings with the blanks that were copied along", async () => {
  const { bot, post } = await connect({
    webhookSecret: ` ${SECRET}\n`,
    webhookUrl: ` ${SECTION.webhookUrl} `,
  });
  await using _ = bot;
  assertEquals(bot.telegram.api.webhook, { url: SECTION.webhookUrl, secret: SECRET });
  assertEquals(await post(JSON.stringify({ update_id: 1 })), 200);
});

import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import {
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import type { FakeCall } from "./testing/fake_api.ts";
import { refused, tooMany } from "./testing/fake_answer.ts";
import { snowflake } from "./testing/fake_world.ts";
import { fastClock, TestBot } from "./testing/test_bot.ts";

const isCreate = ({ method, path }: FakeCall) => method === "POST" && path.endsWith("/messages");
const errorOf = (promise: Promise<unknown>) => promise.then(() => undefined, (error) => error);

Deno.test("DiscordChannel replies to what it answers, once, and calls nobody else", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  fake.write("hello");
  const { metadata = {} } = (await bot.published(1))[0]!;
  await bot.send("Hello @everyone and <@123456789012345678>", { metadata });
  await bot.send("more", { metadata });
  const [first, second] = fake.api.calls.filter(isCreate);
  assertEquals(first!.body.message_reference, {
    message_id: metadata.message_id,
    fail_if_not_exists: false,
  });
  assertEquals(first!.body.allowed_mentions, { parse: [], replied_user: true });
  assertEquals(second!.body.message_reference, undefined);
  assertEquals(fake.world.messages.some(({ mention_everyone: all }) => all), false);
  assertEquals(first!.body.content, "Hello @everyone and \\<@123456789012345678>");
});

Deno.test("DiscordChannel answers without a reply where it may not read what stands there", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  fake.write("hello");
  const { metadata } = (await bot.published(1))[0]!;
  fake.refuseWith(
    refused(400, 160002, "Cannot reply without permission to read message history"),
  );
  await bot.send("Hello", { metadata });
  assertEquals(bot.texts(), ["Hello"]);
});

Deno.test("DiscordChannel answers in private without a reply", async () => {
  await using bot = await TestBot.open();
  const { fake, fake: { world } } = bot;
  fake.write("hello", { channelId: world.direct.id });
  const { metadata, chatId } = (await bot.published(1))[0]!;
  await bot.send("Hello", { metadata, chatId });
  const [call] = fake.api.calls.filter(isCreate);
  assertEquals(call!.body.message_reference, undefined);
  assertEquals(fake.sent()[0]!.chatId, world.direct.id);
});

Deno.test("DiscordChannel gives a message that was cut off again under its nonce, so that it stands there once", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  const { fake } = bot;
  let cuts = 0;
  fake.api.cutsBehind = (call) => isCreate(call) && cuts++ < 2;
  await bot.send("once");
  assertEquals(bot.texts(), ["once"]);
  const calls = fake.api.calls.filter(isCreate);
  assertEquals(calls.length, 3);
  assertEquals(new Set(calls.map(({ body }) => body.nonce)).size, 1);
  assertEquals(calls.every(({ body }) => body.enforce_nonce === true), true);
  assertEquals(String(calls[0]!.body.nonce).length <= 25, true);
});

Deno.test("DiscordChannel says that a message may have arrived when Discord never says so", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  bot.fake.api.cutsBehind = isCreate;
  assertInstanceOf(await errorOf(bot.send("perhaps")), UncertainDeliveryError);
  assertEquals(bot.texts(), ["perhaps"]);
});

Deno.test("DiscordChannel uses the same nonce for a message that the service gives again", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const message = bot.message("once");
  fake.refuse("temporary");
  assertInstanceOf(await errorOf(bot.channel.send(message)), Error);
  await bot.channel.send(message);
  await bot.channel.send(message);
  assertEquals(bot.texts(), ["once"]);
});

for (const global of [false, true]) {
  Deno.test(`DiscordChannel obeys 429 with retry-after ${global ? "for everything" : "of a channel"}`, async () => {
    await using bot = await TestBot.open();
    const { fake, fake: { world } } = bot;
    fake.refuseWith(tooMany(90, { global }));
    const error = await errorOf(bot.send("too much"));
    assertInstanceOf(error, RetryLaterError);
    assertEquals(error.retryAfterMs >= 89_000 && error.retryAfterMs < 95_000, true);
    const before = fake.api.calls.filter(isCreate).length;
    // Nothing is asked before that time is over.
    assertInstanceOf(await errorOf(bot.send("too much")), RetryLaterError);
    assertEquals(fake.api.calls.filter(isCreate).length, before);
    // Another channel has a limit of its own.
    const other = await errorOf(bot.send("elsewhere", { chatId: world.direct.id }));
    assertEquals(other instanceof RetryLaterError, global);
  });
}

Deno.test("DiscordChannel comes not at once again to who says too much, and not when to come", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  bot.fake.api.intercept = (call) => isCreate(call) ? { status: 429, body: "<html>" } : undefined;
  const error = await errorOf(bot.send("too much"));
  assertInstanceOf(error, RetryLaterError);
  assertEquals(error.retryAfterMs >= 1_000, true);
});

Deno.test("DiscordChannel waits for a limit that is over soon", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  bot.fake.refuseWith({
    ...tooMany(1),
    headers: { "Retry-After": "1", "X-RateLimit-Scope": "shared" },
  });
  await bot.send("soon");
  assertEquals(bot.texts(), ["soon"]);
});

Deno.test("DiscordChannel goes on behind what was taken of a long answer", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const words = Array.from({ length: 900 }, (_, at) => `word${at}`);
  const message = bot.message(words.join(" "));
  const before = fake.api.intercept;
  let creates = 0;
  fake.api.intercept = (call) =>
    isCreate(call) && ++creates === 3
      ? { status: 500, body: { code: 0, message: "No" } }
      : undefined;
  assertInstanceOf(await errorOf(bot.channel.send(message)), Error);
  assertEquals(bot.texts().length, 2);
  fake.api.intercept = before;
  await bot.channel.send(message);
  assertEquals(bot.texts().join(" ").split(/\s+/), words);
  const nonces = fake.api.calls.filter(isCreate).map(({ body }) => body.nonce);
  // The one that was refused is the only one that was given twice.
  assertEquals(nonces.length, new Set(nonces).size + 1);
});

for (
  const [code, status, advice] of [
    [10003, 404, /channel is gone/],
    [50001, 403, /View Channel/],
    [50007, 403, /direct messages/],
    [50013, 403, /Send Messages/],
    [160005, 403, /locked/],
    [99999, 400, /99999/],
  ] as const
) {
  Deno.test(`DiscordChannel says what to do when Discord refuses a message with ${code}`, async () => {
    await using bot = await TestBot.open();
    bot.fake.refuseWith(refused(status, code, "No"));
    const error = await errorOf(bot.send("refused"));
    assertInstanceOf(error, PermanentDeliveryError);
    assertMatch(error.message, advice);
    await bot.send("next");
    assertEquals(bot.texts(), ["next"]);
  });
}

Deno.test("DiscordChannel refuses chats that are none, without asking Discord", async () => {
  await using bot = await TestBot.open();
  for (const chatId of ["", "general", "../users/@me", "1234", `${snowflake()}/x`]) {
    assertInstanceOf(await errorOf(bot.send("x", { chatId })), PermanentDeliveryError);
  }
  assertEquals(bot.fake.api.calls.filter(isCreate).length, 0);
});

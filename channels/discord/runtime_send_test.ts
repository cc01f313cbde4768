import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import {
  NotConnectedError,
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

Deno.test("DiscordChannel merges pieces of a stream into few edits, whose text is whole (C26, C28)", async () => {
  await using bot = await TestBot.open({ clock: fastClock(50), section: { streaming: true } });
  const { fake } = bot;
  fake.write("hello");
  const { metadata = {} } = (await bot.published(1))[0]!;
  const piece = { chatId: fake.chatId, metadata, streamId: "s", resuming: false };
  for (let at = 0; at < 10; at += 1) {
    await bot.channel.sendDelta({ ...piece, delta: `word${at} `, streamEnd: at === 9 });
  }
  const words = Array.from({ length: 10 }, (_, at) => `word${at}`).join(" ");
  assertEquals(bot.texts(), [words]);
  assertEquals(fake.api.calls.filter(isCreate).length, 1);
  const edits = fake.api.calls.filter(({ method }) => method === "PATCH");
  assertEquals(
    edits.every(({ body }) =>
      JSON.stringify(body.allowed_mentions) ===
        '{"parse":[],"replied_user":true}'
    ),
    true,
  );
});

Deno.test("DiscordChannel goes on in a further message when a stream is longer than one, and mixes none", async () => {
  await using bot = await TestBot.open({ clock: fastClock(200), section: { streaming: true } });
  const { fake } = bot;
  const piece = { chatId: fake.chatId, metadata: {}, resuming: false };
  const words = (name: string) => Array.from({ length: 600 }, (_, at) => `${name}${at}`);
  for (let from = 0; from < 600; from += 200) {
    for (const name of ["a", "b"]) {
      await bot.channel.sendDelta({
        ...piece,
        streamId: name,
        delta: words(name).slice(from, from + 200).join(" ") + " ",
        streamEnd: from === 400,
      });
    }
  }
  const texts = bot.texts();
  for (const name of ["a", "b"]) {
    const own = texts.filter((text) => text.startsWith(name)).join(" ").split(/\s+/);
    assertEquals(own, words(name));
  }
});

Deno.test("DiscordChannel does not repeat what arrived when a piece is refused and given again (C27)", async () => {
  await using bot = await TestBot.open({ clock: fastClock(50), section: { streaming: true } });
  const { fake } = bot;
  const piece = { chatId: fake.chatId, metadata: {}, streamId: "s", resuming: false };
  await bot.channel.sendDelta({ ...piece, delta: "one ", streamEnd: false });
  fake.refuseWith(tooMany(30));
  const error = await errorOf(bot.channel.sendDelta({ ...piece, delta: "two ", streamEnd: false }));
  assertInstanceOf(error, RetryLaterError);
  assertEquals(bot.texts(), ["one"]);
});

Deno.test("DiscordChannel shows in one silent message what the agent does, and takes it away at the end", async () => {
  await using bot = await TestBot.open({ clock: fastClock(50) });
  const { fake } = bot;
  for (let at = 0; at < 20; at += 1) {
    await bot.event({ type: "progress", toolHint: at % 2 === 0 }, `step *${at}*\nmore`);
  }
  for (let looks = 0; looks < 500 && !bot.texts().some((text) => text.includes("19")); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assertEquals(bot.texts(), ["-# step 19 more"]);
  const [create, ...others] = fake.api.calls.filter(isCreate);
  assertEquals(create!.body.flags, 4096);
  assertEquals(others.length, 0);
  await bot.send("The answer");
  await bot.event({ type: "turn_end", status: "done" });
  assertEquals(bot.texts(), ["The answer"]);
});

Deno.test("DiscordChannel takes away after a restart what it showed of a turn that was cut off", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  await bot.event({ type: "progress", toolHint: false }, "working");
  for (let looks = 0; looks < 500 && bot.texts().length === 0; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await bot.stop();
  assertEquals(bot.texts(), ["-# working"]);
  // It is not there yet when it is asked first.
  let refusals = 0;
  fake.api.intercept = ({ method }) =>
    method === "DELETE" && refusals++ < 2 ? { status: 503 } : undefined;
  const clock = fastClock(50);
  await using _again = await TestBot.open({ fake, stateDir: bot.host.stateDir, clock });
  for (let looks = 0; looks < 500 && bot.texts().length > 0; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assertEquals(bot.texts(), []);
});

for (const raw of ['{"id":', "null", '{"id":"x"}', "[]"]) {
  Deno.test(`DiscordChannel sends a message once whose answer was ${raw}`, async () => {
    await using bot = await TestBot.open({ clock: fastClock(20) });
    const { fake } = bot;
    let broken = 0;
    fake.api.saysBehind = (call) =>
      isCreate(call) && broken++ < 1 ? { status: 200, raw } : undefined;
    await bot.send("Hello");
    assertEquals(bot.texts(), ["Hello"]);
    assertEquals(broken, 2);
  });
}

Deno.test("DiscordChannel shows a stream once whose first message Discord took and refused in words", async () => {
  await using bot = await TestBot.open({ clock: fastClock(50), section: { streaming: true } });
  const { fake } = bot;
  let refusals = 0;
  fake.api.saysBehind = (call) =>
    isCreate(call) && refusals++ < 1
      ? { status: 500, body: { code: 0, message: "500: Internal Server Error" } }
      : undefined;
  const piece = { chatId: fake.chatId, metadata: {}, streamId: "s", resuming: false };
  await errorOf(bot.channel.sendDelta({ ...piece, delta: "one ", streamEnd: false }));
  await bot.channel.sendDelta({ ...piece, delta: "one two", streamEnd: true });
  assertEquals(bot.texts(), ["one two"]);
  await bot.channel.sendDelta({ ...piece, streamId: "t", delta: "another", streamEnd: true });
  assertEquals(bot.texts(), ["one two", "another"]);
});

for (const status of [401, 403, 404]) {
  Deno.test(`DiscordChannel waits where somebody in front of Discord answers ${status}, and is not sent away by that`, async () => {
    await using bot = await TestBot.open();
    const { fake } = bot;
    const headers = { "Content-Type": "text/html" };
    fake.refuseWith({ status, raw: "<h1>Please wait</h1>", headers });
    assertInstanceOf(await errorOf(bot.send("Hello")), NotConnectedError);
    await bot.send("Hello");
    assertEquals(bot.texts(), ["Hello"]);
    assertEquals(bot.ended, undefined);
  });
}

import { assertEquals, assertInstanceOf } from "@std/assert";
import { NotConnectedError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import type { FakeCall } from "./testing/fake_api.ts";
import { tooMany } from "./testing/fake_answer.ts";
import { fastClock, TestBot } from "./testing/test_bot.ts";

const isCreate = ({ method, path }: FakeCall) => method === "POST" && path.endsWith("/messages");
const errorOf = (promise: Promise<unknown>) => promise.then(() => undefined, (error) => error);

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

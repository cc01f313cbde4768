import { assertEquals, assertMatch } from "@std/assert";
import { FakeDiscord } from "./testing/fake_discord.ts";
import { fastClock, TestBot, until } from "./testing/test_bot.ts";

/** A Discord and a folder that outlive bots. */
async function setting(): Promise<AsyncDisposable & { fake: FakeDiscord; stateDir: string }> {
  const fake = await FakeDiscord.open();
  const stateDir = await Deno.realPath(await Deno.makeTempDir());
  return {
    fake,
    stateDir,
    async [Symbol.asyncDispose]() {
      await fake.close();
      await Deno.remove(stateDir, { recursive: true });
    },
  };
}

const contents = (bot: TestBot) => bot.host.published.map(({ content }) => content);

Deno.test("DiscordChannel resumes its session after a restart, and answers what was written meanwhile once", async () => {
  await using place = await setting();
  const { fake } = place;
  {
    await using bot = await TestBot.open(place);
    fake.write("before");
    await bot.published(1);
  }
  fake.write("meanwhile");
  fake.write("talk of others", { plain: true });
  await using bot = await TestBot.open(place);
  await bot.published(1);
  fake.write("behind");
  await bot.published(2);
  assertEquals(contents(bot), ["meanwhile", "behind"]);
  assertEquals(fake.gateway.said.filter(({ op }) => op === 2).length, 1);
});

Deno.test("DiscordChannel looks into known channels after a long pause, a page at a time, each message once", async () => {
  await using place = await setting();
  const { fake, fake: { world } } = place;
  {
    await using bot = await TestBot.open(place);
    fake.write("before");
    fake.write("in private", { channelId: world.direct.id });
    await bot.published(2);
  }
  fake.gateway.forgetSessions();
  const quiet = world.addChannel(0);
  for (let index = 0; index < 150; index += 1) fake.write(`talk ${index}`, { plain: true });
  fake.write("on the server");
  fake.write("in private again", { channelId: world.direct.id });
  fake.write("where it was never heard", { channelId: quiet.id });
  await using bot = await TestBot.open({ ...place, clock: fastClock(10) });
  await bot.published(2);
  fake.write("behind");
  await bot.published(3);
  assertEquals(contents(bot).sort(), ["behind", "in private again", "on the server"]);
  const lists = fake.api.calls.filter(({ method, path }) =>
    method === "GET" && path.endsWith("/messages")
  );
  assertEquals(
    lists.every(({ query }) => query.get("limit") === "100" && query.has("after")),
    true,
  );
  assertEquals(lists.filter(({ path }) => path.includes(fake.chatId)).length, 2);
});

Deno.test("DiscordChannel begins with now on its first start", async () => {
  await using place = await setting();
  const { fake } = place;
  fake.write("long ago");
  await using bot = await TestBot.open(place);
  fake.write("now");
  await bot.published(1);
  assertEquals(contents(bot), ["now"]);
  assertEquals(fake.api.calls.some(({ path }) => path.endsWith("/messages")), false);
});

Deno.test("DiscordChannel obeys a rate limit while it looks for what was missed", async () => {
  await using place = await setting();
  const { fake } = place;
  {
    await using bot = await TestBot.open(place);
    fake.write("before");
    await bot.published(1);
  }
  fake.gateway.forgetSessions();
  fake.write("meanwhile");
  let refusals = 0;
  fake.api.intercept = ({ method, path }) =>
    method === "GET" && path.endsWith("/messages") && refusals++ < 1
      ? {
        status: 429,
        body: { retry_after: 2 },
        headers: { "Retry-After": "2", "X-RateLimit-Scope": "user" },
      }
      : undefined;
  await using bot = await TestBot.open({ ...place, clock: fastClock(20) });
  await bot.published(1);
  assertEquals(contents(bot), ["meanwhile"]);
  assertEquals(refusals, 2);
});

Deno.test("DiscordChannel forgets a channel that it may not read any more, and reads the others", async () => {
  await using place = await setting();
  const { fake, fake: { world } } = place;
  {
    await using bot = await TestBot.open(place);
    fake.write("before", { channelId: world.direct.id });
    fake.write("before");
    await bot.published(2);
  }
  fake.gateway.forgetSessions();
  fake.write("meanwhile", { channelId: world.direct.id });
  world.channels.delete(world.general.id);
  await using bot = await TestBot.open({ ...place, clock: fastClock(20) });
  await bot.published(1);
  assertEquals(contents(bot), ["meanwhile"]);
});

Deno.test("DiscordChannel keeps what the service has not taken over a restart (W1)", async () => {
  await using place = await setting();
  const { fake } = place;
  {
    await using bot = await TestBot.open(place);
    bot.host.failNext(new Error("the service is away"));
    fake.write("hello");
    await until(() => bot.host.offered.length === 1, "it is offered");
  }
  await using bot = await TestBot.open(place);
  await bot.published(1);
  assertEquals(contents(bot), ["hello"]);
});

Deno.test("DiscordChannel knows the messages of its former process as its own", async () => {
  await using place = await setting();
  const { fake } = place;
  {
    await using bot = await TestBot.open(place);
    await bot.send("an answer");
    // As if the process had ended before it heard of that.
    await bot.stop();
  }
  await using bot = await TestBot.open(place);
  fake.write("hello");
  await bot.published(1);
  assertMatch(bot.detail, /^connected as helper \(\d+\)$/);
});

Deno.test("DiscordChannel leaves a session alone that belongs to another token", async () => {
  await using place = await setting();
  const { fake } = place;
  {
    await using bot = await TestBot.open(place);
    fake.write("before");
    await bot.published(1);
  }
  fake.api.token = "another-token";
  await using _bot = await TestBot.open(place);
  assertEquals(fake.gateway.said.filter(({ op }) => op === 6).length, 0);
  assertEquals(fake.gateway.said.filter(({ op }) => op === 2).length, 2);
});

Deno.test("DiscordChannel looks again into a channel that Discord gave no answer of, and loses nothing of it", async () => {
  await using place = await setting();
  const { fake } = place;
  {
    await using bot = await TestBot.open(place);
    fake.write("before");
    await bot.published(1);
  }
  fake.gateway.forgetSessions();
  fake.write("meanwhile");
  let refusals = 0;
  fake.api.intercept = ({ method, path }) =>
    method === "GET" && path.endsWith("/messages") && refusals++ < 4 ? { status: 500 } : undefined;
  await using bot = await TestBot.open({ ...place, clock: fastClock(500) });
  fake.write("behind");
  await until(() => contents(bot).includes("behind"), "what is said now");
  await until(() => contents(bot).includes("meanwhile"), "what was said before");
  assertEquals(refusals, 5);
});

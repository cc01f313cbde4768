import { assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import { FakeDiscord } from "../testing/fake_discord.ts";
import { fastClock, TestBot, until } from "../testing/test_bot.ts";

const identifies = (fake: FakeDiscord) => fake.gateway.said.filter(({ op }) => op === 2).length;
const resumes = (fake: FakeDiscord) => fake.gateway.said.filter(({ op }) => op === 6);

for (
  const [how, end] of [
    ["it is cut off", (fake: FakeDiscord) => fake.gateway.cut()],
    ["Discord wants that (op 7)", (fake: FakeDiscord) => fake.gateway.sayRaw('{"op":7,"d":null}')],
    ["Discord closes with 4000", (fake: FakeDiscord) => fake.gateway.close(4000)],
    ["Discord closes with 4009", (fake: FakeDiscord) => fake.gateway.close(4009)],
  ] as const
) {
  Deno.test(`Gateway resumes its session when ${how}, and hears what was said meanwhile`, async () => {
    await using bot = await TestBot.open({ clock: fastClock(10) });
    const { fake } = bot;
    fake.write("before");
    await bot.published(1);
    end(fake);
    fake.write("meanwhile");
    await bot.published(2);
    fake.write("behind");
    await bot.published(3);
    assertEquals(bot.host.published.map(({ content }) => content), [
      "before",
      "meanwhile",
      "behind",
    ]);
    assertEquals(identifies(fake), 1);
    assertEquals(resumes(fake).length, 1);
    await bot.connected();
  });
}

Deno.test("Gateway begins a new session when the old one is gone, and looks for what was missed, once", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  const { fake } = bot;
  fake.write("before");
  await bot.published(1);
  fake.gateway.forgetSessions();
  fake.gateway.cut();
  fake.write("meanwhile");
  await bot.published(2);
  fake.write("behind");
  await bot.published(3);
  assertEquals(bot.host.published.map(({ content }) => content), ["before", "meanwhile", "behind"]);
  assertEquals(identifies(fake), 2);
});

Deno.test("Gateway leaves a connection whose heartbeats are not answered", async () => {
  const fake = await FakeDiscord.open();
  fake.gateway.heartbeatMs = 300;
  await using bot = await TestBot.open({ fake, clock: fastClock(10) });
  await fake.gateway.hears(1);
  fake.gateway.answersHeartbeats = false;
  await until(() => resumes(fake).length > 0, "a resume");
  fake.gateway.answersHeartbeats = true;
  fake.write("behind");
  await bot.published(1);
  assertEquals(identifies(fake), 1);
  await bot.stop();
  await fake.close();
});

Deno.test("Gateway ends with one clear state when the intent is refused (4014)", async () => {
  const fake = await FakeDiscord.open();
  fake.gateway.allowsContent = false;
  await using bot = await TestBot.open({ fake, connects: false });
  const error = await bot.over();
  assertInstanceOf(error, LoginRefusedError);
  assertMatch(error.message, /Message Content Intent/);
  assertEquals(identifies(fake), 1);
  await fake.close();
});

Deno.test("Gateway ends with one clear state when the token is wrong, and does not try again", async () => {
  const fake = await FakeDiscord.open();
  await using bot = await TestBot.open({
    fake,
    connects: false,
    section: { token: "wrong-token-1" },
  });
  const error = await bot.over();
  assertInstanceOf(error, LoginRefusedError);
  assertMatch(error.message, /Reset Token/);
  assertEquals(error.message.includes("wrong-token-1"), false);
  assertEquals(fake.api.calls.length, 1);
  assertEquals(fake.gateway.said.length, 0);
  await fake.close();
});

Deno.test("Gateway ends with one clear state when the token is revoked while it runs (4004)", async () => {
  await using bot = await TestBot.open({ clock: fastClock(10) });
  const { fake } = bot;
  fake.api.token = "another-token";
  fake.gateway.close(4004);
  assertInstanceOf(await bot.over(), LoginRefusedError);
  assertEquals(bot.channel.isRunning, false);
  assertEquals(identifies(fake), 1);
});

Deno.test("DiscordChannel ends when a message is refused because the token was revoked", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  fake.api.token = "another-token";
  const error = await bot.send("too late").then(() => undefined, (error) => error);
  assertInstanceOf(error, LoginRefusedError);
  assertInstanceOf(await bot.over(), LoginRefusedError);
});

Deno.test("Gateway says when it may log in again while Discord allows no more logins", async () => {
  const fake = await FakeDiscord.open();
  fake.gateway.remaining = 0;
  fake.gateway.resetAfterMs = 400;
  await using bot = await TestBot.open({ fake, connects: false, clock: fastClock(10) });
  await until(() => bot.detail.includes("no more logins"), "the state");
  assertMatch(bot.detail, /until \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  assertEquals(identifies(fake), 0);
  fake.gateway.remaining = 1;
  await bot.connected();
  await bot.stop();
  await fake.close();
});

Deno.test("Gateway waits between tries while Discord is away, and connects when it is back", async () => {
  const fake = await FakeDiscord.open();
  await fake.goDown();
  await using bot = await TestBot.open({ fake, connects: false, clock: fastClock(20) });
  await until(() => bot.host.details.filter((one) => one.includes("again in")).length > 2, "tries");
  assertMatch(bot.detail, /^not connected: .*; again in \d+ s$/);
  await fake.comeBack();
  await bot.connected();
  await bot.stop();
  await fake.close();
});

Deno.test("Gateway resumes its session behind an outage of many tries, and hears what was said in a channel that it did not know", async () => {
  await using bot = await TestBot.open({ clock: fastClock(200) });
  const { fake } = bot;
  const quiet = fake.world.addChannel(0);
  await fake.goDown();
  await until(() => bot.host.details.filter((one) => one.includes("again in")).length > 7, "tries");
  fake.write("meanwhile", { channelId: quiet.id });
  await fake.comeBack();
  await bot.published(1);
  assertEquals(bot.host.published[0]!.content, "meanwhile");
  assertEquals(identifies(fake), 1);
});

Deno.test("Gateway leaves the address of a session where nobody answers, and resumes at that of all", async () => {
  await using bot = await TestBot.open({ clock: fastClock(100) });
  const { fake } = bot;
  fake.gateway.refusesAt = "/resume";
  fake.gateway.cut();
  fake.write("meanwhile");
  await bot.published(1);
  assertEquals(identifies(fake), 1);
});

Deno.test("Gateway begins another session where the one that it has can be resumed nowhere", async () => {
  await using bot = await TestBot.open({ clock: fastClock(200) });
  const { fake } = bot;
  fake.write("before");
  await bot.published(1);
  fake.gateway.ignoresResumes = true;
  fake.gateway.cut();
  fake.write("meanwhile");
  await bot.published(2);
  assertEquals(identifies(fake), 2);
});

for (const interval of [0, -5, 365 * 86_400_000, "x", undefined]) {
  Deno.test(`Gateway leaves a connection whose heartbeats are to come every ${interval} ms`, async () => {
    const fake = await FakeDiscord.open();
    fake.gateway.heartbeatMs = interval as number;
    await using bot = await TestBot.open({ fake, connects: false, clock: fastClock(20) });
    await until(() => bot.detail.includes("no event"), "it is left");
    assertEquals(fake.gateway.said, []);
    fake.gateway.heartbeatMs = 41_250;
    await bot.connected();
    await bot.stop();
    await fake.close();
  });
}

Deno.test("Gateway leaves a connection that says hello again, and resumes", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  bot.fake.gateway.sayRaw('{"op":10,"d":{"heartbeat_interval":41250}}');
  await until(() => resumes(bot.fake).length === 1, "a resume");
  await bot.connected();
});

Deno.test("Gateway says so, and tries again, when it is told of a login that has no session", async () => {
  const fake = await FakeDiscord.open();
  fake.gateway.readyWithout = "session_id";
  await using bot = await TestBot.open({ fake, connects: false, clock: fastClock(100) });
  await until(() => /not connected.*again in/.test(bot.detail), "the state");
  fake.gateway.readyWithout = "";
  await bot.connected();
  fake.write("hello");
  await bot.published(1);
  await bot.stop();
  await fake.close();
});

Deno.test("Gateway hears of servers, and leaves them at their numbers however many they are", async () => {
  await using bot = await TestBot.open({ clock: fastClock(20) });
  const { fake } = bot;
  const guild = { id: fake.world.guildId, channels: Array(50).fill({ name: "x".repeat(50) }) };
  for (let at = 0; at < 4_000; at += 1) fake.gateway.dispatch("GUILD_CREATE", guild);
  fake.write("hello");
  await bot.published(1);
  assertEquals(resumes(fake).length, 0);
  assertEquals(
    (fake.gateway.said.find(({ op }) => op === 2)!.d as { intents: number }).intents & 1,
    1,
  );
});

import { assertEquals, assertMatch } from "@std/assert";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import { refused } from "./testing/fake_answer.ts";
import type { FakeMessage } from "./testing/fake_world.ts";
import { FakeDiscord } from "./testing/fake_discord.ts";
import { fastClock, TestBot, until } from "./testing/test_bot.ts";

const DIGEST = "0123456789abcdef".repeat(4);

const approval = (more: Record<string, unknown> = {}): Partial<OutboundMessage> => ({
  event: { type: "approval", id: "apr_1", digest: DIGEST, expiresAt: Date.now() + 60_000, ...more },
});

/** The message with the buttons, and what they carry. */
function asked(fake: FakeDiscord): { message: FakeMessage; approve: string; deny: string } {
  const message = fake.world.messages.find(({ components }) => (components ?? []).length > 0)!;
  const [row] = message.components as { components: { custom_id: string; label: string }[] }[];
  const [approve, deny] = row!.components;
  return { message, approve: approve!.custom_id, deny: deny!.custom_id };
}

Deno.test("DiscordChannel registers its slash command once", async () => {
  const fake = await FakeDiscord.open();
  const section = { language: "de" };
  {
    await using _bot = await TestBot.open({ fake, section });
    await until(() => fake.api.commands.length === 1, "the command");
  }
  assertEquals(fake.api.commands[0]!.name, "ask");
  assertEquals(fake.api.commands[0]!.description, "Den Agenten fragen");
  fake.gateway.forgetSessions();
  {
    await using _bot = await TestBot.open({ fake, section });
    await until(
      () => fake.api.calls.filter(({ path }) => path.endsWith("/commands")).length === 3,
      "it looks for it",
    );
  }
  assertEquals(fake.api.commands.length, 1);
  await fake.close();
});

Deno.test("DiscordChannel takes its slash command away when it has another name, and names what fails", async () => {
  const fake = await FakeDiscord.open();
  const stateDir = await Deno.realPath(await Deno.makeTempDir());
  for (const slashCommand of ["ask", "frage", ""]) {
    await using bot = await TestBot.open({
      fake,
      stateDir,
      section: { slashCommand },
      clock: fastClock(20),
    });
    const names = slashCommand === "" ? [] : [slashCommand];
    await until(
      () => fake.api.commands.map(({ name }) => name).join() === names.join(),
      `the command ${slashCommand}`,
    );
    await bot.stop();
    fake.gateway.forgetSessions();
  }
  fake.api.intercept = ({ path }) =>
    path.includes("/commands") ? refused(403, 50001, "Missing Access") : undefined;
  const section = { slashServers: [fake.world.guildId] };
  await using bot = await TestBot.open({ fake, stateDir, section, clock: fastClock(20) });
  await until(
    () => bot.host.lines.some(({ message }) => message.includes("slash command")),
    "it is said",
  );
  await bot.stop();
  await Deno.remove(stateDir, { recursive: true });
  await fake.close();
});

Deno.test("DiscordChannel answers a slash command where it was asked, and later as a message", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const interaction = fake.ask("What is it?");
  const [heard] = await bot.published(1);
  assertEquals(heard!.content, "What is it?");
  assertEquals(heard!.messageId, interaction.id);
  await until(() => interaction.answers.length === 1, "it is acknowledged");
  assertEquals(interaction.answers[0]!.type, 5);
  const { metadata = {} } = heard!;
  await bot.send("That is it.", { metadata });
  assertEquals(interaction.original!.content, "That is it.");
  await bot.send("And more.", { metadata });
  assertEquals(interaction.original!.content, "That is it.");
  assertEquals(bot.texts(), ["That is it.", "And more."]);
  // After 15 minutes there is nothing to answer into.
  const late = fake.ask("Again?");
  const [, second] = await bot.published(2);
  const { interaction: ref } = second!.metadata as { interaction: { at: number } };
  await bot.send("Too late.", {
    metadata: { interaction: { ...ref, at: Date.now() - 16 * 60_000 } },
  });
  assertEquals(late.original?.content ?? "", "");
  assertEquals(bot.texts().at(-1), "Too late.");
});

Deno.test("DiscordChannel streams into the answer of a slash command", async () => {
  await using bot = await TestBot.open({ clock: fastClock(50) });
  const { fake } = bot;
  const interaction = fake.ask("What is it?");
  const [heard] = await bot.published(1);
  const piece = { chatId: fake.chatId, metadata: heard!.metadata!, streamId: "s", resuming: false };
  await until(() => interaction.original !== undefined, "it is acknowledged");
  await bot.channel.sendDelta({ ...piece, delta: "That ", streamEnd: false });
  await bot.channel.sendDelta({ ...piece, delta: "is it.", streamEnd: true });
  assertEquals(interaction.original!.content, "That is it.");
  assertEquals(bot.texts(), ["That is it."]);
});

Deno.test("DiscordChannel says to whoever is not allowed, in private, how to be", async () => {
  const fake = await FakeDiscord.open();
  await using bot = await TestBot.open({ fake, section: { allowFrom: [fake.world.bob.id] } });
  const interaction = fake.ask("What is it?");
  await until(() => interaction.answers.length === 1, "an answer");
  const [{ type, data }] = interaction.answers as [typeof interaction.answers[0]];
  assertEquals(type, 4);
  assertEquals(data!.flags, 64);
  assertMatch(String(data!.content), new RegExp(fake.world.alice.id));
  const empty = fake.ask("  ", { senderId: fake.world.bob.id });
  await until(() => empty.answers.length === 1, "an answer");
  assertEquals(empty.answers[0]!.type, 4);
  fake.write("behind", { senderId: fake.world.bob.id });
  await bot.published(1);
  assertEquals(bot.host.published.length, 1);
  await bot.stop();
  await fake.close();
});

Deno.test("DiscordChannel asks for an approval by buttons, and gives a click on as the command of who clicked", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  await bot.send("May it write `x`?", approval());
  const { message, approve, deny } = asked(fake);
  assertEquals(message.content, "May it write `x`?");
  assertEquals([approve, deny].every((id) => id.length <= 100), true);
  const click = fake.press(message, approve, fake.world.bob.id);
  const [heard] = await bot.published(1);
  assertEquals(heard!.content, `/approve apr_1 ${DIGEST.slice(0, 8)}`);
  assertEquals(heard!.senderId, fake.world.bob.id);
  assertEquals(heard!.messageId, `click:${click.id}`);
  assertEquals(heard!.chatId, fake.chatId);
  await until(() => click.answers.length === 1, "it is acknowledged");
  assertEquals(click.answers[0], { type: 6 });
  await bot.event(
    { type: "approval_resolved", id: "apr_1", outcome: "approved" },
    "**Approved** by bob",
  );
  assertEquals(message.content, "May it write `x`?\n\n**Approved** by bob");
  assertEquals(message.components, []);
  // Told twice, it stands there once.
  await bot.event(
    { type: "approval_resolved", id: "apr_1", outcome: "approved" },
    "**Approved** by bob",
  );
  assertEquals(message.content, "May it write `x`?\n\n**Approved** by bob");
});

Deno.test("DiscordChannel takes one click of a person, and says so to a second and a late one", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  await bot.send("May it?", approval());
  const { message, approve, deny } = asked(fake);
  fake.press(message, deny);
  const second = fake.press(message, deny);
  const other = fake.press(message, approve, fake.world.bob.id);
  await bot.published(2);
  assertEquals(bot.host.published.map(({ content }) => content), [
    "/deny apr_1",
    `/approve apr_1 ${DIGEST.slice(0, 8)}`,
  ]);
  await until(() => second.answers.length === 1 && other.answers.length === 1, "answers");
  assertEquals(second.answers[0]!.type, 4);
  assertEquals(second.answers[0]!.data!.content, "This was answered already.");
  await bot.event({ type: "approval_resolved", id: "apr_1", outcome: "denied" }, "Denied");
  const late = fake.press(message, approve, fake.world.bob.id);
  await until(() => late.answers.length === 1, "answers");
  assertEquals(late.answers[0]!.data!.content, "This was answered already.");
  fake.write("behind");
  await bot.published(3);
  assertEquals(bot.host.published.length, 3);
});

Deno.test("DiscordChannel takes no click of an approval whose time is over", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  await bot.send("May it?", approval({ expiresAt: Date.now() - 1 }));
  const { message, approve } = asked(fake);
  const late = fake.press(message, approve);
  await until(() => late.answers.length === 1, "an answer");
  assertMatch(String(late.answers[0]!.data!.content), /too late/);
});

Deno.test("DiscordChannel takes clicks of buttons that stood there before it was started", async () => {
  const fake = await FakeDiscord.open();
  const stateDir = await Deno.realPath(await Deno.makeTempDir());
  {
    await using bot = await TestBot.open({ fake, stateDir });
    await bot.send("May it?", approval());
  }
  const { message, approve } = asked(fake);
  // Pressed while nobody listens: told when the session is resumed.
  fake.press(message, approve);
  {
    await using bot = await TestBot.open({ fake, stateDir });
    const [heard] = await bot.published(1);
    assertEquals(heard!.content, `/approve apr_1 ${DIGEST.slice(0, 8)}`);
    await bot.event({ type: "approval_resolved", id: "apr_1", outcome: "approved" }, "Approved");
    assertEquals(message.content, "May it?\n\nApproved");
    assertEquals(message.components, []);
  }
  await Deno.remove(stateDir, { recursive: true });
  await fake.close();
});

Deno.test("DiscordChannel takes a click on buttons that it was killed behind before it had noted them", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  await bot.send("May it?", approval());
  const { message, approve } = asked(fake);
  const unknown = approve.replace("apr_1", "apr_2");
  fake.press(message, unknown);
  const [heard] = await bot.published(1);
  assertEquals(heard!.content, `/approve apr_2 ${DIGEST.slice(0, 8)}`);
});

Deno.test("DiscordChannel says how an approval came out whose message somebody deleted", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  await bot.send("May it?", approval());
  fake.world.messages.splice(fake.world.messages.indexOf(asked(fake).message), 1);
  await bot.event({ type: "approval_resolved", id: "apr_1", outcome: "void" }, "Void");
  await bot.event(
    { type: "approval_resolved", id: "apr_9", outcome: "expired" },
    "Nobody answered.",
  );
  assertEquals(bot.texts(), ["Void", "Nobody answered."]);
});

Deno.test("DiscordChannel lets nobody click who is not allowed", async () => {
  const fake = await FakeDiscord.open();
  await using bot = await TestBot.open({ fake, section: { allowFrom: [fake.world.bob.id] } });
  await bot.send("May it?", approval());
  const { message, approve } = asked(fake);
  const click = fake.press(message, approve);
  await until(() => click.answers.length === 1, "an answer");
  assertEquals(click.answers[0]!.data!.flags, 64);
  fake.press(message, approve, fake.world.bob.id);
  await bot.published(1);
  assertEquals(bot.host.published.map(({ senderId }) => senderId), [fake.world.bob.id]);
  await bot.stop();
  await fake.close();
});

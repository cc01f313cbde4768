import { assertEquals, assertMatch } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { fastClock, TestBot, until } from "./testing/test_bot.ts";

const bytes = (size: number) => new Uint8Array(size).fill(120);

Deno.test("DiscordChannel gives the files of a message to the service, and keeps none", async () => {
  await using bot = await TestBot.open();
  const { fake, host } = bot;
  const seen: [string, string][] = [];
  const publish = host.publish.bind(host);
  host.publish = async (message) => {
    for (const path of message.media ?? []) {
      seen.push([path.slice(path.lastIndexOf("/") + 1), await Deno.readTextFile(path)]);
    }
    return await publish(message);
  };
  const attachments = [
    fake.attach("notes.txt", new TextEncoder().encode("some notes")),
    fake.attach("../../b\u0000ad na/me.PDF", new TextEncoder().encode("pdf")),
  ];
  fake.write("look", { more: { attachments } });
  await bot.published(1);
  assertEquals(seen, [["notes.txt", "some notes"], ["_.._b_ad na_me.PDF", "pdf"]]);
  const dir = `${host.stateDir}/media`;
  await until(() => [...Deno.readDirSync(dir)].length === 0, "the folder is empty");
});

Deno.test("DiscordChannel says in the chat which files were too large, and does not fetch them", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const large = { ...fake.attach("film.mp4", bytes(10)), size: 9 * 1024 * 1024 };
  const liar = fake.attach("liar.bin", bytes(8 * 1024 * 1024 + 1));
  const small = fake.attach("small.txt", bytes(3));
  fake.write("look", { more: { attachments: [large, { ...liar, size: 5 }, small] } });
  const [heard] = await bot.published(1);
  assertEquals(heard!.media!.length, 1);
  assertMatch(
    heard!.content,
    /^look\n\n\[file\]\n\(The file film\.mp4 was not read: .*\)\n\n\(The file liar\.bin was not read/,
  );
  await until(() => bot.texts().length === 1, "the note");
  assertMatch(bot.texts()[0]!, /film\.mp4 was not read.*\n.*liar\.bin was not read/);
});

Deno.test("DiscordChannel asks for the address of a file anew, and says so where it is gone", async () => {
  await using bot = await TestBot.open({ clock: fastClock(50) });
  const { fake } = bot;
  const good = fake.attach("good.txt", bytes(3));
  const message = fake.world.add(fake.chatId, fake.world.alice, `<@${fake.world.bot.id}> look`, {
    attachments: [good, { ...good, filename: "gone.txt", url: `${fake.api.url}/files/1/x` }],
  });
  fake.gateway.dispatch("MESSAGE_CREATE", {
    ...message,
    attachments: message.attachments.map((file) => ({
      ...file,
      url: `${fake.api.url}/files/2/expired`,
    })),
  });
  const [heard] = await bot.published(1);
  assertEquals(heard!.media!.length, 1);
  assertMatch(heard!.content, /The file gone\.txt could not be read/);
});

Deno.test("DiscordChannel hears a voice message", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const voice = fake.attach("voice-message.ogg", bytes(20), "audio/ogg");
  bot.host.onTranscribe = () => Promise.resolve("what was said");
  fake.write("", { channelId: fake.world.direct.id, more: { flags: 8192, attachments: [voice] } });
  const [heard] = await bot.published(1);
  assertEquals(heard!.content, "Voice message: what was said");
  assertEquals(heard!.media, undefined);
  bot.host.onTranscribe = () => Promise.resolve("/approve apr_1 01234567");
  fake.write("", { channelId: fake.world.direct.id, more: { flags: 8192, attachments: [voice] } });
  assertEquals((await bot.published(2))[1]!.content, "Voice message: /approve apr_1 01234567");
});

Deno.test("DiscordChannel gives a voice message as a file where nobody transcribes", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const voice = fake.attach("voice-message.ogg", bytes(20), "audio/ogg");
  bot.host.onTranscribe = () =>
    Promise.reject(new ServiceError("not_enabled", "Transcription is off"));
  fake.write("", { channelId: fake.world.direct.id, more: { flags: 8192, attachments: [voice] } });
  const [heard] = await bot.published(1);
  assertMatch(heard!.content, /transcription is not switched on/);
  assertEquals(heard!.media!.length, 1);
});

Deno.test("DiscordChannel sends files with the last message of an answer, and names those that are too large", async () => {
  await using bot = await TestBot.open();
  const { fake } = bot;
  const dir = bot.host.stateDir;
  const paths: string[] = [];
  for (let at = 0; at < 11; at += 1) {
    paths.push(`${dir}/file${at}.txt`);
    await Deno.writeTextFile(paths.at(-1)!, `content ${at}`);
  }
  await Deno.writeFile(`${dir}/large.bin`, bytes(10 * 1024 * 1024 + 1));
  await bot.send("The files", { media: [...paths, `${dir}/large.bin`] });
  const sent = fake.sent();
  assertEquals(sent.map(({ files }) => files!.length), [10, 1]);
  assertMatch(sent[0]!.text, /^The files\n\nThe file `large\.bin` could not be attached/);
  assertEquals(sent[1]!.files, ["file10.txt"]);
});

Deno.test("DiscordChannel answers in a thread of its own, in which it hears everything", async () => {
  await using bot = await TestBot.open({ section: { threads: "on" } });
  const { fake, fake: { world } } = bot;
  const { id } = fake.write("What is it? ".repeat(20));
  const [heard] = await bot.published(1);
  assertEquals(heard!.chatId, id);
  assertEquals(world.channels.get(id)!.parent_id, fake.chatId);
  assertMatch(world.channels.get(id)!.name!, /^What is it\? What.{0,75}…$/);
  await bot.send("That is it.", { chatId: id, metadata: heard!.metadata! });
  assertEquals(fake.sent()[0]!.chatId, id);
  fake.write("And then?", { channelId: id, plain: true });
  const [, second] = await bot.published(2);
  assertEquals(second!.chatId, id);
  // Given once more, it has the same thread.
  await fake.redeliver();
  fake.write("in private", { channelId: world.direct.id });
  await until(() => bot.host.published.some(({ chatId }) => chatId === world.direct.id), "private");
});

Deno.test("DiscordChannel answers in the channel where it may open no thread", async () => {
  await using bot = await TestBot.open({ section: { threads: "on" } });
  const { fake } = bot;
  fake.api.intercept = ({ path }) =>
    path.endsWith("/threads") ? { status: 403, body: { code: 50013, message: "No" } } : undefined;
  fake.write("What is it?");
  const [heard] = await bot.published(1);
  assertEquals(heard!.chatId, fake.chatId);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestBot } from "./testing/test_bot.ts";
import { ALBUM_MS } from "./inbound/albums.ts";
import { MAX_INBOUND_FILE_BYTES } from "../../lib/channel/platform/mod.ts";

Deno.test("telegram fetches files, and gives them with the words beside them", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  let seen: string[] = [];
  const publish = host.publish.bind(host);
  host.publish = async (message) => {
    seen = await Promise.all((message.media ?? []).map((path) => Deno.readTextFile(path)));
    return await publish(message);
  };
  const id = telegram.say("", {
    caption: "What is this?",
    document: { ...telegram.addFile("f1", "documents/file 1.txt", "inside"), file_name: "a/b.txt" },
  });
  const { content, media } = await bot.heard(id);
  assertEquals([content, seen], ["What is this?", ["inside"]]);
  assertEquals(media?.map((path) => path.split("/").at(-1)), ["a_b.txt"]);
  // The service has its own copy by now.
  await bot.until(() => [...Deno.readDirSync(`${host.stateDir}/media`)].length === 0);
});

Deno.test("telegram says in the chat which file is too large, and loads none of it", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  const file = (id: string, size: number) => ({
    document: { ...telegram.addFile(id, `documents/${id}`, "x", size), file_name: `${id}.iso` },
  });
  const alone = telegram.say("", file("alone", MAX_INBOUND_FILE_BYTES + 1));
  await bot.until(() => telegram.shown.length === 1);
  assertEquals(
    telegram.shown[0]!.text,
    "The file alone.iso was not read: it has 9 MB, and at most 8 MB are read.",
  );
  assertEquals(telegram.shown[0]!.replyTo, alone);
  const { content, media } = await bot.heard(
    telegram.say("", { caption: "read it", ...file("big", 30 * 1024 * 1024) }),
  );
  assertEquals(
    content,
    "read it\n\n[file]\n(The file big.iso was not read: it has 30 MB, and at most 8 MB are read.)",
  );
  assertEquals(media, undefined);
  await bot.until(() => telegram.shown.length === 2);
  assertEquals(bot.turns.length, 1);
  assertEquals(telegram.callsOf("getFile"), []);
});

Deno.test("telegram says which files are too many or too large together", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  const bytes = new Uint8Array(MAX_INBOUND_FILE_BYTES);
  const ids = ["a", "b", "c", "d", "e"].map((name) =>
    telegram.say("", {
      media_group_id: "g",
      document: { ...telegram.addFile(name, `documents/${name}`, bytes), file_name: `${name}.bin` },
    })
  );
  await bot.until(() => telegram.api.queue.acknowledged.length === 5);
  await bot.ticking(bot.heard(`album:g:${ids[0]}`), 100);
  const { content, media } = host.published[0]!;
  assertEquals(media?.length, 3);
  assertEquals(content.split("\n\n"), [
    "[file]\n(The file d.bin was not read: the files of a message may have 24 MB together.)",
    "(The file e.bin was not read: the files of a message may have 24 MB together.)",
  ]);
});

Deno.test("telegram stops loading a file that is larger than Telegram said", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  telegram.addFile("liar", "documents/liar", new Uint8Array(MAX_INBOUND_FILE_BYTES + 1));
  telegram.say("", { document: { file_id: "liar", file_unique_id: "l", file_name: "liar" } });
  await bot.until(() => telegram.shown.length === 1);
  assertStringIncludes(telegram.shown[0]!.text, "liar was not read: it has 9 MB");
});

Deno.test("telegram tries again to load a file while Telegram has trouble", async () => {
  await using bot = await TestBot.connect();
  const { telegram, host } = bot;
  telegram.fail(/^getFile$/, 502, "Bad Gateway");
  const id = telegram.say("", { document: telegram.addFile("f", "documents/f", "x") });
  await bot.until(() => host.lines.some(({ level }) => level === "warning"));
  host.clock.tick(1_000);
  assertEquals((await bot.heard(id)).media?.length, 1);
});

Deno.test("telegram holds up no chat for ever by a file that cannot be had", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  telegram.fail(/^getFile$/, 500, "Internal Server Error", { times: 100 });
  const file = telegram.addFile("f", "documents/f", "x");
  telegram.say("", { caption: "read", document: { ...file, file_name: "f.txt" } });
  const id = telegram.say("behind");
  await bot.ticking(bot.heard(id), 2_000);
  assertEquals(bot.turns.map(({ content }) => content), [
    "read\n\n[file]\n(The file f.txt could not be read.)",
    "behind",
  ]);
});

Deno.test("telegram waits for no file that stops coming", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  telegram.stallFiles = true;
  const file = telegram.addFile("f", "documents/f", "x");
  telegram.say("", { caption: "read", document: { ...file, file_name: "f.txt" } });
  const id = telegram.say("behind");
  await bot.ticking(bot.heard(id), 1_000);
  assertEquals(bot.turns.map(({ content }) => content), [
    "read\n\n[file]\n(The file f.txt could not be read.)",
    "behind",
  ]);
});

Deno.test("telegram takes a message whose file is gone without it", async () => {
  await using bot = await TestBot.connect();
  const { telegram } = bot;
  const file = telegram.addFile("f", "documents/f", "x");
  telegram.api.files.delete("f");
  telegram.say("", { document: { ...file, file_name: "f.txt" } });
  await bot.until(() => telegram.shown.length === 1);
  assertEquals(telegram.shown[0]!.text, "The file f.txt could not be read.");
});

Deno.test("telegram writes down what is said in a voice message", async () => {
  await using bot = await TestBot.connect();
  bot.host.onTranscribe = (path) => Promise.resolve(path.endsWith(".ogg") ? "/stop please" : "");
  const voice = bot.telegram.addFile("v", "voice/file_1.oga", "sound");
  const { content, media } = await bot.heard(bot.telegram.say("", { voice }));
  // No command: nobody knows what a transcription makes of a sound.
  assertEquals([content, media], ["Voice message: /stop please", undefined]);
});

Deno.test("telegram gives a voice message as a file where transcription is off", async () => {
  await using bot = await TestBot.connect();
  bot.host.onTranscribe = () =>
    Promise.reject(Object.assign(new Error("Transcription is off"), { code: "not_enabled" }));
  const voice = bot.telegram.addFile("v", "voice/file_1.oga", "sound");
  const { content, media } = await bot.heard(bot.telegram.say("", { voice }));
  assertStringIncludes(content, "transcription is not switched on");
  assert(media?.[0]?.endsWith(".ogg"));
});

Deno.test("telegram gives an album as one message, also behind a restart in its middle", async () => {
  await using first = await TestBot.connect();
  const { telegram, host } = first;
  const picture = (name: string) => ({
    media_group_id: "g1",
    photo: [telegram.addFile(name, `photos/${name}.jpg`, name)],
  });
  const id = telegram.say("", { ...picture("p1"), caption: "both" });
  await first.until(() => telegram.api.queue.acknowledged.length === 1);
  await first.until(() => host.clock.timers() > 0);
  await first.stop();
  const second = await TestBot.connect({ telegram, host });
  telegram.say("", picture("p2"));
  await second.until(() => telegram.api.queue.acknowledged.length === 2);
  telegram.say("behind", { senderId: "1002" });
  await second.until(() => host.published.length === 1);
  host.clock.tick(ALBUM_MS);
  const { content, media } = await second.heard(`album:g1:${id}`);
  assertEquals([content, media?.length], ["both", 2]);
  // Telegram gives one of them once more.
  await telegram.redeliver();
  host.clock.tick(ALBUM_MS);
  await second.heard(telegram.say("marker"));
  await second.stop();
  assertEquals(second.turns.length, 3);
});

import { assertEquals, assertMatch } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { TestChannel } from "./testing/test_channel.ts";

/** Somebody sends a file that lies in the server's media. */
function sendFile(
  server: FakeHomeserver,
  { name, text = "", type = "m.file", size, more = {} }: {
    name: string;
    text?: string;
    type?: string;
    size?: number;
    more?: Record<string, unknown>;
  },
) {
  const id = `in${server.api.files.size}`;
  server.api.files.set(id, {
    bytes: new TextEncoder().encode(`in ${name}`),
    type: "text/plain",
    name,
  });
  server.say(text === "" ? name : text, {
    msgtype: type,
    mentions: [server.me],
    content: {
      filename: name,
      url: `mxc://example.org/${id}`,
      info: { mimetype: "text/plain", size: size ?? 10 },
      ...more,
    },
  });
}

Deno.test("MatrixChannel takes files with their words, by the newer and the older way to media", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const { publish } = host;
  const read: string[] = [];
  host.publish = async (message) => {
    for (const path of message.media ?? []) read.push(await Deno.readTextFile(path));
    return await publish.call(host, message);
  };
  sendFile(server, { name: "plan.txt", text: "what do you make of it?" });
  const first = await test.heard("what do you make");
  assertMatch(first.media![0]!, /\/plan\.txt$/);
  server.api.hasNewMedia = false;
  sendFile(server, { name: "../..//etc/pass wd", type: "m.image" });
  await test.until(() => read.length === 2);
  assertEquals(read, ["in plan.txt", "in ../..//etc/pass wd"]);
  const second = host.published.at(-1)!;
  assertMatch(second.media![0]!, /\/media\/[\w-]+\/1\/_\.\.__etc_pass wd$/);
  await test.settled();
  // Nothing stays on the disk that was handed on.
  assertEquals([...Deno.readDirSync(`${host.stateDir}/media`)], []);
});

Deno.test("MatrixChannel says of a file that is too large or gone that it is, and loses no word", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  sendFile(server, { name: "film.mov", text: "look at this", size: 9 * 1024 * 1024 });
  const { content, media } = await test.heard("look at this");
  assertEquals([content, media], [
    "look at this\n\n[file]\n(The file film.mov was not read: it has 9 MB, and at most 8 MB are read.)",
    undefined,
  ]);
  assertEquals(test.calls("GET", /\/download\//), []);
  // Whoever sent it is told so, whatever becomes of the answer.
  await test.until(() => server.sent().length === 1);
  const told = server.shownEvents()[0]!.content;
  assertEquals([told.msgtype, told.body, told["m.mentions"]], [
    "m.notice",
    "The file film.mov was not read: it has 9 MB, and at most 8 MB are read.",
    {},
  ]);
  const last = () => server.sent().at(-1)!.text;
  // One that says less than it is.
  sendFile(server, { name: "liar.bin" });
  const liar = [...server.api.files.keys()].at(-1)!;
  server.api.files.set(liar, { bytes: new Uint8Array(9 * 1024 * 1024), type: "x/y", name: "x" });
  await test.until(() => /^The file liar\.bin was not read: it has 9 MB/.test(last()));
  server.fail("GET", /\/download\//, {
    status: 404,
    body: { errcode: "M_NOT_FOUND", error: "gone" },
  });
  sendFile(server, { name: "lost.txt" });
  await test.until(() => last() === "The file lost.txt was not read: M_NOT_FOUND: gone.");
  // A server that is away is asked again.
  server.fail("GET", /\/download\//, { status: 502, raw: "" });
  sendFile(server, { name: "later.txt" });
  await test.until(() => host.lines.some(({ message }) => /is tried again/.test(message)));
  await test.tickUntil(() => host.published.at(-1)?.media?.[0]?.endsWith("later.txt") === true);
});

Deno.test("MatrixChannel hears voice messages where transcription is on, and gives them as files where it is not", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const voice = { "org.matrix.msc3245.voice": {}, info: { mimetype: "audio/ogg", size: 9 } };
  host.onTranscribe = (path) => Promise.resolve(`said in ${path.split("/").at(-1)}`);
  sendFile(server, { name: "voice.ogg", type: "m.audio", more: voice });
  const heard = await test.heard("said in voice.ogg");
  assertEquals(heard.media, undefined);
  host.onTranscribe = () => Promise.reject(new ServiceError("not_enabled", "Transcription is off"));
  sendFile(server, { name: "voice2.ogg", type: "m.audio", more: voice });
  const file = await test.heard("A voice message; transcription is not switched on");
  assertMatch(file.media![0]!, /voice2\.ogg$/);
  // Music is no speech.
  sendFile(server, { name: "song.mp3", type: "m.audio" });
  await test.until(() => host.published.at(-1)?.media?.[0]?.endsWith("song.mp3") === true);
});

Deno.test("MatrixChannel sends files as what they are, and names one that the server does not take", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const write = async (name: string, bytes: Uint8Array) => {
    await Deno.writeFile(`${host.stateDir}/${name}`, bytes);
    return `${host.stateDir}/${name}`;
  };
  const png = new Uint8Array(40);
  png.set([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]);
  png.set([0, 0, 1, 0x40, 0, 0, 0, 0xF0], 16);
  const media = [
    await write("picture.png", png),
    await write("song.mp3", new Uint8Array(3)),
    await write("film.mp4", new Uint8Array(4)),
    await write("large.bin", new Uint8Array(1024 * 1024 + 1)),
    await write("notes.txt", new Uint8Array(5)),
  ];
  await test.send("", { media });
  const contents = server.shownEvents().map(({ content }) => content);
  assertEquals(contents[1], {
    "org.matrix.msc1767.automated": true,
    msgtype: "m.image",
    body: "picture.png",
    filename: "picture.png",
    url: "mxc://example.org/media1",
    info: { mimetype: "image/png", size: 40, w: 320, h: 240 },
    "m.mentions": {},
  });
  assertEquals(server.api.files.get("media1"), {
    bytes: png,
    type: "image/png",
    name: "picture.png",
  });
  assertEquals(contents.map(({ msgtype }) => msgtype), [
    "m.text",
    "m.image",
    "m.audio",
    "m.video",
    "m.file",
  ]);
  assertEquals(contents[0]!.body, "The file `large.bin` could not be attached: 2 MB > 1 MB.");
  // A proxy in front of it that takes less.
  server.fail("POST", /\/upload$/, { status: 413, raw: "Request Entity Too Large" });
  await test.send("", { media: [media[4]!] });
  assertMatch(
    server.sent().at(-1)!.text,
    /notes\.txt.* could not be attached: .*that is too large/,
  );
  await test.send("", { media: ["/nowhere/at-all.txt"] });
  assertMatch(
    server.sent().at(-1)!.text,
    /at-all\.txt.* could not be attached: it is empty or gone/,
  );
});

Deno.test("MatrixChannel goes on without a file that its server never gives, and says so", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  server.fail("GET", /\/download\//, {
    status: 502,
    body: { errcode: "M_UNKNOWN", error: "Failed to fetch remote media" },
  }, 1_000);
  sendFile(server, { name: "far.txt", text: "from afar" });
  server.say("helper: and this?");
  await test.tickUntil(() => test.texts.length === 2);
  assertEquals(test.texts, [
    "from afar\n\n[file]\n(The file far.txt could not be read.)",
    "and this?",
  ]);
});

Deno.test("MatrixChannel uploads a file once, also when its event is sent several times", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const path = await Deno.makeTempFile({ dir: host.stateDir, suffix: ".txt" });
  const message = test.message("", { media: [path] });
  server.refuse("temporary");
  server.limitNext("PUT", /\/send\//, 1_000);
  for (const name of ["Error", "RetryLaterError"]) {
    assertEquals((await test.channel.send(message).catch((error) => error)).name, name);
  }
  await test.channel.send(message);
  assertEquals([test.calls("POST", /\/upload$/).length, server.sent().length], [1, 1]);
});

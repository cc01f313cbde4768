import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { FakeMattermost } from "./testing/fake_mattermost.ts";
import { newId } from "./testing/fake_store.ts";
import { type TestChannel, withChannel } from "./testing/test_channel.ts";

const MEGABYTE = 1024 * 1024;

function file({ store }: FakeMattermost, name: string, size = 5, type = "text/plain") {
  return store.file(name, new Uint8Array(size).fill(65), type);
}

/** Keeps what the files hold, for as long as the message is being taken. */
function keepFiles({ host }: TestChannel): Record<string, number> {
  const sizes: Record<string, number> = {};
  const publish = host.publish.bind(host);
  host.publish = (message) => {
    for (const path of message.media ?? []) {
      sizes[path.slice(host.stateDir.length)] = Deno.statSync(path).size;
    }
    return publish(message);
  };
  return sizes;
}

Deno.test("mattermost: files come with their message, and leave nothing behind", async () => {
  await withChannel({}, async (mattermost, server) => {
    const sizes = keepFiles(mattermost);
    const files = [file(server, "a.txt"), file(server, "../../b\0 c.txt", 7)];
    const ids = files.map(({ id }) => id);
    server.write(server.store.alice.id, "look", { file_ids: ids });
    const { media } = await mattermost.heard("look");
    assertEquals(media!.length, 2);
    assertEquals(
      Object.entries(sizes).map(([path, size]) => [path.split("/").slice(3).join("/"), size]),
      [["1/a.txt", 5], ["2/_.._b_ c.txt", 7]],
    );
    await mattermost.until(() => !exists(media![0]!));
  });
});

Deno.test("mattermost: a file that is too large, one too many or gone is named to whoever sent it", async () => {
  await withChannel({ language: "de" }, async (mattermost, server) => {
    const files = [
      file(server, "large.bin", 9 * MEGABYTE),
      ...[1, 2, 3, 4].map((at) => file(server, `${at}.txt`)),
      file(server, "five.txt"),
    ];
    const ids = files.map(({ id }) => id);
    server.write(server.store.alice.id, "look", { file_ids: [newId(), ...ids] });
    const { content, media } = await mattermost.heard("look");
    assertEquals(media!.length, 4);
    for (
      const words of [
        "konnte nicht gelesen werden",
        "large.bin wurde nicht gelesen: Sie hat 9 MB, und höchstens 8 MB",
        "five.txt wurde nicht gelesen: Höchstens 4 Dateien",
      ]
    ) {
      assertStringIncludes(content, words);
      await mattermost.until(() => server.sent().some(({ text }) => text.includes(words)));
    }
    assertEquals(server.sent().length, 1);
    // What is said to be too large is not fetched.
    assert(!server.api.requests.includes(`GET /files/${ids[0]}`));
  });
});

Deno.test("mattermost: a file that says less of its size than it has is fetched no further than it may be", async () => {
  await withChannel({}, async (mattermost, server) => {
    const large = file(server, "liar.bin", 9 * MEGABYTE);
    large.size = 10;
    server.write(server.store.alice.id, "look", { file_ids: [large.id] });
    const { content, media } = await mattermost.heard("look");
    assertEquals(media ?? [], []);
    assertStringIncludes(content, "liar.bin was not read");
  });
});

Deno.test("mattermost: all files of a message together are at most 24 MB", async () => {
  await withChannel({}, async (mattermost, server) => {
    const files = [1, 2, 3, 4].map((at) => file(server, `${at}.bin`, 7 * MEGABYTE));
    server.write(server.store.alice.id, "look", { file_ids: files.map(({ id }) => id) });
    const { content, media } = await mattermost.heard("look");
    assertEquals(media!.length, 3);
    assertStringIncludes(
      content,
      "4.bin was not read: the files of a message may have 24 MB together",
    );
  });
});

Deno.test("mattermost: a voice message is heard where transcription is on, and a file where it is not", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { host } = mattermost;
    host.onTranscribe = () => Promise.resolve("good morning");
    const voice = file(server, "voice.ogg", 100, "audio/ogg");
    server.write(server.store.alice.id, "", { file_ids: [voice.id] });
    const heard = await mattermost.heard("good morning");
    assertEquals([heard.content, heard.media ?? []], ["Voice message: good morning", []]);

    host.onTranscribe = () => Promise.reject(new ServiceError("not_enabled", "It is off"));
    server.write(server.store.alice.id, "off", { file_ids: [voice.id] });
    const off = await mattermost.heard("off");
    assertStringIncludes(off.content, "transcription is not switched on");
    assertEquals(off.media!.length, 1);

    host.onTranscribe = () => Promise.reject(new Error("broken"));
    server.write(server.store.alice.id, "broken", { file_ids: [voice.id] });
    const broken = await mattermost.heard("broken");
    assertStringIncludes(broken.content, "could not be transcribed");
    assertEquals(broken.media!.length, 1);
  });
});

Deno.test("mattermost: a file that cannot be had now is fetched later, and its message waits for it", async () => {
  await withChannel({}, async (mattermost, server) => {
    const one = file(server, "one.txt");
    server.api.failFiles = 1;
    server.write(server.store.alice.id, "look", { file_ids: [one.id] });
    await mattermost.until(() => mattermost.host.lines.some(({ level }) => level === "warning"));
    assertEquals(mattermost.host.offered.length, 0);
    mattermost.host.clock.tick(1_000);
    assertEquals((await mattermost.heard("look")).media!.length, 1);
  });
});

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

Deno.test("mattermost: a file that the server never gives holds up no chat, and is named", async () => {
  await withChannel({}, async (mattermost, server) => {
    server.api.failFiles = Infinity;
    const { id } = file(server, "lost.bin");
    server.write(server.store.alice.id, "look at this", { file_ids: [id] });
    server.write(server.store.alice.id, "and what now?");
    await mattermost.until(() => {
      mattermost.host.clock.tick(1_000);
      return mattermost.host.published.length === 2;
    });
    assertEquals(mattermost.host.published.map(({ content }) => content), [
      "look at this\n\n[file]\n(The file lost.bin could not be read.)",
      "and what now?",
    ]);
    await mattermost.until(() => server.sent().length === 1);
    assertEquals(server.sent()[0]!.text, "The file lost.bin could not be read.");
  });
});

Deno.test("mattermost: the name of a file calls nobody", async () => {
  await withChannel({}, async (mattermost, server) => {
    const { id } = file(server, "@channel look.bin", 9 * MEGABYTE);
    server.write(server.store.alice.id, "look", { file_ids: [id] });
    await mattermost.until(() => server.sent().length === 1);
    const { text } = server.sent()[0]!;
    assertStringIncludes(text, "channel look.bin was not read");
    assert(!text.includes("@channel"), text);
  });
});

Deno.test("mattermost: files are uploaded once, and an upload without a name is tried again", async () => {
  await withChannel({}, async (mattermost, server) => {
    const path = await Deno.makeTempFile({ dir: mattermost.host.stateDir, suffix: ".txt" });
    const send = () => mattermost.send("here", { id: "with-file", media: [path] });
    server.api.nonsense = '{"file_infos":[]}';
    const error = await send().catch((error) => error);
    assertStringIncludes(error.message, "names no file");
    server.api.refuseAfter(1, { status: 503, id: "api.busy", message: "Busy." });
    await send().catch(() => {});
    await send();
    assertEquals(server.sent().map(({ text, files }) => [text, files!.length]), [["here", 1]]);
    const uploads = server.api.requests.filter((request) => request.startsWith("POST /files"));
    assertEquals(uploads.length, 2);
  });
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { ServiceError } from "../../lib/base/errors.ts";
import { fakeClock } from "../../lib/agent/testing/fake_clock.ts";
import { FakeSlack, textOfMessage } from "./testing/fake_slack.ts";
import { ALICE, ALICE_DM, GENERAL } from "./testing/fake_workspace.ts";
import { fastClock } from "./testing/fast_clock.ts";
import { slackTest } from "./testing/slack_test_case.ts";
import { TestSlack } from "./testing/test_slack.ts";

/** A file that lies on Slack. */
function keep(slack: FakeSlack, name: string, text: string, more: object = {}) {
  const id = `F0IN${String(slack.workspace.files.size).padStart(6, "0")}`;
  slack.workspace.files.set(id, { name, bytes: new TextEncoder().encode(text) });
  return slack.workspace.fileObject(id, slack.baseUrl, more);
}

/** Reads files while they are there: they go when they were handed on. */
function readMedia(app: TestSlack): string[] {
  const read: string[] = [];
  const publish = app.host.publish.bind(app.host);
  app.host.publish = async (message) => {
    for (const path of message.media ?? []) read.push(await Deno.readTextFile(path));
    return await publish(message);
  };
  return read;
}

slackTest("slack hands files on, and gives its token to Slack alone", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const read = readMedia(app);
  const files = [
    keep(slack, "../../a b.txt", "inside"),
    keep(slack, "far.txt", "x", { url_private_download: "https://files.slack.com.evil.example/x" }),
    keep(slack, "link.txt", "x", { mode: "external", is_external: true }),
  ];
  await slack.say(ALICE_DM, { text: "look", files, subtype: "file_share" });
  const heard = await app.heard("look");
  assertEquals(read, ["inside"]);
  assertEquals(heard.media?.length, 1);
  assertStringIncludes(heard.content, "far.txt was not read: it does not lie on Slack");
  await app.until(() => app.written.length === 1);
  assertStringIncludes(textOfMessage(app.written[0]!.message), "link.txt was not read");
  assertEquals(slack.fileTokens.length, 1);
  await app.until(() => [...Deno.readDirSync(join(app.host.stateDir, "media"))].length === 0);
});

slackTest(
  "slack asks for files of other workspaces, and takes no page for a file",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    const read = readMedia(app);
    const away = { url_private: "", url_private_download: "", file_access: "check_file_info" };
    await slack.say(ALICE_DM, { text: "asked", files: [keep(slack, "far.txt", "far", away)] });
    await app.heard("asked");
    assertEquals(read, ["far"]);
    slack.answerNext(
      "files-pri",
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    );
    await slack.say(ALICE_DM, { text: "page", files: [keep(slack, "b.txt", "b")] });
    assertStringIncludes((await app.heard("page")).content, "files:read");
  },
);

slackTest("slack tries a file again, and not for ever", async (slack) => {
  await using app = await TestSlack.connected(slack, { clock: fastClock() });
  const read = readMedia(app);
  const away = () => new Response("away", { status: 502 });
  slack.answerNext("files-pri", away);
  await slack.say(ALICE_DM, { text: "again", files: [keep(slack, "a.txt", "a")] });
  await app.heard("again");
  assertEquals(read, ["a"]);
  // Where it lies is asked for again too, and a message of long ago is worth as much.
  slack.answerNext("files.info", away);
  slack.answerNext("files-pri", away);
  const ts = slack.workspace.nextTs(1).replace(
    /^\d+/,
    String(Math.floor(Date.now() / 1_000) - 3_601),
  );
  const far = { url_private: "", url_private_download: "", file_access: "check_file_info" };
  await slack.say(ALICE_DM, { text: "old", ts, files: [keep(slack, "b.txt", "b", far)] });
  await app.heard("old");
  assertEquals(read, ["a", "b"]);
});

slackTest("slack gives a message without its file where the file never comes", async (slack) => {
  const clock = fakeClock(Date.now());
  await using app = await TestSlack.connected(slack, { clock });
  for (let times = 0; times < 6; times += 1) {
    slack.answerNext("files-pri", () => new Response("away", { status: 502 }));
  }
  await slack.say(ALICE_DM, { text: "never", files: [keep(slack, "c.txt", "c")] });
  await app.until(() => {
    clock.tick(500);
    return app.turns("never") === 1;
  });
  assertStringIncludes((await app.heard("never")).content, "c.txt could not be read");
  assertEquals(slack.fileTokens.length, 6);
});

slackTest("slack says in the chat which files were too large or too many", async (slack) => {
  await using app = await TestSlack.connected(slack, { changes: { language: "es" } });
  const large = keep(slack, "large.bin", "x", { size: 9 * 1024 * 1024 });
  await slack.say(ALICE_DM, { text: "", files: [large], subtype: "file_share" });
  await app.until(() => app.written.length === 1);
  assertStringIncludes(textOfMessage(app.written[0]!.message), "large.bin no se leyó: tiene 9 MB");
  assertEquals(app.host.offered.length, 0);
  // It says that it is small, and is not.
  const liar = keep(slack, "liar.bin", "y".repeat(8 * 1024 * 1024 + 1), { size: 10 });
  const many = Array.from({ length: 5 }, (_, at) => keep(slack, `${at}.txt`, String(at)));
  await slack.say(ALICE_DM, { text: "more", files: [liar, ...many] });
  const heard = await app.heard("more");
  assertEquals(heard.media?.length, 4);
  assertStringIncludes(heard.content, "liar.bin");
  assertStringIncludes(heard.content, "4.txt");
});

slackTest("slack hears voice clips, and gives them as files where nobody can", async (slack) => {
  await using app = await TestSlack.connected(slack);
  app.host.onTranscribe = () => Promise.resolve("what the voice says");
  const clip = (user = ALICE) =>
    keep(slack, "audio_message.m4a", "noise", {
      mimetype: "audio/mp4",
      subtype: "slack_audio",
      user,
    });
  await slack.say(ALICE_DM, { text: "", files: [clip()], subtype: "file_share" });
  assertEquals((await app.heard("what the voice says")).media, undefined);
  app.host.onTranscribe = () => Promise.resolve("/approve ap-1 01234567");
  await slack.say(ALICE_DM, { text: "", files: [clip()], subtype: "file_share" });
  assertEquals((await app.heard("/approve")).content, "Voice message: /approve ap-1 01234567");
  // A clip of somebody else is a file like any other.
  app.host.onTranscribe = () => Promise.resolve("see evil.example");
  await slack.say(ALICE_DM, { text: "", files: [clip("U0BOB000001")], subtype: "file_share" });
  assertEquals((await app.heard("evil")).parts, [
    { text: "Voice message: see evil.example", provenance: "file", from: "audio_message.m4a" },
  ]);
  app.host.onTranscribe = () =>
    Promise.reject(new ServiceError("not_enabled", "Transcription is off"));
  await slack.say(ALICE_DM, { text: "", files: [clip()], subtype: "file_share" });
  const heard = await app.heard("transcription is not switched on");
  assertEquals(heard.media?.length, 1);
});

slackTest(
  "slack sends files into their thread, behind their text, and without the token",
  async (slack) => {
    await using app = await TestSlack.connected(slack);
    const ts = (slack.write(GENERAL, { text: "root" })).ts;
    const path = join(app.host.stateDir, "report.csv");
    await Deno.writeTextFile(path, "a,b");
    await app.send(`${GENERAL}:${ts}`, "Here it is.", { media: [path] });
    const [text, file] = app.written;
    assertEquals(textOfMessage(text!.message), "Here it is.");
    assertEquals(file!.message.files, [{
      id: "F0FILE00001",
      title: "report.csv",
      name: "report.csv",
    }]);
    assertEquals(file!.message.thread_ts, ts);
    assertEquals(slack.fileTokens, [null]);
    slack.answerNext(
      "files.getUploadURLExternal",
      () => Response.json({ ok: true, upload_url: "https://evil.example/", file_id: "F1" }),
    );
    await app.send(GENERAL, "", { media: [path] });
    assertStringIncludes(textOfMessage(app.written.at(-1)!.message), "names no address of its own");
  },
);

slackTest("slack says which files do not come, and sends what there is", async (slack) => {
  await using app = await TestSlack.connected(slack);
  const [path, empty] = ["report.csv", "empty.txt"].map((name) => join(app.host.stateDir, name));
  await Deno.writeTextFile(path!, "a,b");
  await Deno.writeTextFile(empty!, "");
  const media = [join(app.host.stateDir, "gone.txt"), empty!, path!];
  await app.send(ALICE_DM, "Here they are.", { media });
  const shown = () => app.written.map(({ message }) => textOfMessage(message));
  assertStringIncludes(shown()[0]!, "Here they are.");
  assertStringIncludes(shown()[0]!, "`gone.txt` could not be attached: it is empty or gone");
  assertStringIncludes(shown()[0]!, "`empty.txt` could not be attached");
  assertEquals(app.written.at(-1)!.message.files?.length, 1);
  slack.workspace.scopes.delete("files:write");
  await app.send(ALICE_DM, "One more.", { media: [path!] });
  assertStringIncludes(
    shown().at(-1)!,
    "One more.\n\nThe file `report.csv` could not be attached: Slack refused " +
      "files.getUploadURLExternal: the app lacks the scope files",
  );
});

slackTest(
  "slack says that a file does not get there, before the service waits no longer",
  async (slack) => {
    const clock = fakeClock(Date.now());
    await using app = await TestSlack.connected(slack, { clock });
    const path = join(app.host.stateDir, "large.bin");
    await Deno.writeTextFile(path, "x");
    slack.stallUploads = true;
    const sent = app.send(ALICE_DM, "", { media: [path] });
    await app.until(() => slack.fileTokens.length === 1);
    clock.tick(80_000);
    await sent;
    const said = textOfMessage(app.written[0]!.message);
    assert(!said.includes("/upload/"), said);
    assertStringIncludes(said, "`large.bin` could not be attached: it was not at Slack in time");
  },
);

/** What comes too late from a channel: listed once, over a crash too, and answered when somebody says so. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";

const DAY_MS = 24 * 3_600_000;

Deno.test("messages that are older than catchUpS are listed and not answered, until somebody wants that", async () => {
  await using project = await testProject();
  await using home = await makeHome(undefined, project.root);
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  await using talk = new LinePlatform();
  const happenings = happeningsOf(talk);
  await home.configure({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { talk: { ...talkSection(talk), catchUpS: 3_600 } },
  });
  const missed = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(["channels", "missed", "--json", ...args]);
    assertEquals(code, 0, stderr);
    return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  };
  const answers = () => textsOf(talk, "c").filter((text) => text.startsWith("re "));
  const old = { id: "m1", chat: "c", text: "last week", sentAt: Date.now() - 7 * DAY_MS };
  {
    await using gateway = await home.start(["gateway", "--json"]);
    talk.say(old);
    talk.say({ id: "m2", chat: "c", text: "just now", sentAt: Date.now() - 1_000 });
    await happenings.until(() => talk.acked === 2 && answers().length === 1);
    assertEquals(answers(), ["re just now"]);
    await gateway.kill();
  }
  await using gateway = await home.start(["gateway", "--json"]);
  talk.say({ ...old, text: "edited meanwhile" });
  talk.say({ id: "m3", chat: "c", text: "again", sentAt: Date.now() });
  await happenings.until(() => answers().length === 2);
  const [row, ...others] = await missed("talk");
  assertEquals([others, row.text, row.sent_at], [[], "last week", Math.floor(old.sentAt / 1_000)]);
  const { stdout } = await home.run(["channels", "status", "talk", "--json"]);
  assertEquals(JSON.parse(stdout).missed, 1);
  const table = await home.run(["channels", "missed"]);
  assertStringIncludes(table.stdout, "last week");

  assertEquals((await missed("--answer", String(row.id)))[0].kind, "turn");
  await happenings.until(() => answers().length === 3);
  assertEquals(answers().at(-1), "re last week");
  assertEquals(await missed(), []);
  const gone = await home.run(["channels", "missed", "--answer", "99"]);
  assert(gone.code !== 0);
  assertStringIncludes(gone.stderr, "There is no message 99 that came too late");
  assertEquals(await missed("--clear"), [{ cleared: 0 }]);
  assertEquals(await gateway.stop(), 0, gateway.log());
});

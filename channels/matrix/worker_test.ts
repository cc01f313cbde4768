import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { PackageWorker } from "../../lib/operations/channels/testing/package_worker.ts";
import type { InboundMessage } from "../../lib/contract/inbound_message.ts";
import { resolvedConfig } from "../../lib/channel/setup/resolved_config.ts";
import manifest from "./manifest.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";
import { FakePerson } from "./testing/fake_person.ts";

const folder = new URL("./", import.meta.url);

const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };

Deno.test("matrix works in a worker that reaches its homeserver alone: login, media, a restart", async () => {
  const server = await FakeHomeserver.open();
  const config = resolvedConfig(
    {
      enabled: true,
      allowFrom: ["*"],
      homeserver: server.url,
      user: "helper",
      password: "correct horse",
    },
    manifest,
    FLAGS,
  );
  await using worker = await PackageWorker.open({
    manifest,
    folder,
    config,
    secrets: ["correct horse"],
  });
  try {
    assertEquals(await worker.validate(config), []);
    // What it may not reach is as if it were not there.
    const [outside] = await worker.validate({
      ...config,
      homeserver: "http://127.0.0.1:9",
    });
    assertMatch(outside!.message, /no Matrix homeserver at http:\/\/127\.0\.0\.1:9/);
    for (const [start, text] of ["first", "second"].entries()) {
      const heard = Promise.withResolvers<InboundMessage>();
      const connected = Promise.withResolvers<void>();
      const channel = await worker.build((message) => void heard.resolve(message));
      channel.onChange = () => channel.detail?.startsWith("connected") && connected.resolve();
      const started = channel.start();
      await connected.promise;
      server.api.files.set("plan", {
        bytes: new TextEncoder().encode("the plan"),
        type: "text/plain",
        name: "plan.txt",
      });
      server.say(text, {
        msgtype: "m.file",
        mentions: [server.me],
        content: { filename: "plan.txt", url: "mxc://example.org/plan" },
      });
      const { content, chatId, metadata, media } = await heard.promise;
      assertEquals([content, media?.length], [text, 1]);
      const answer = { channel: "matrix", media: [], metadata: metadata ?? {}, chatId };
      await channel.send({ ...answer, id: text, content: `an answer to ${text}` });
      assertEquals(server.sent().length, start + 1);
      await channel.stop(5_000);
      await started;
    }
    const logins = server.calls.filter(({ method, path }) =>
      method === "POST" && path.endsWith("/login")
    );
    assertEquals(logins.length, 1);
    assertEquals([...Deno.readDirSync(join(worker.stateDir, "media"))], []);
  } finally {
    await server.close();
  }
});

Deno.test("matrix reads encrypted rooms in a worker that may read no package, and goes on after it was killed", async () => {
  const server = await FakeHomeserver.open();
  server.rooms.encrypt(server.chatId);
  using alice = await FakePerson.open(server);
  const { accessToken } = server.section;
  const section = { enabled: true, allowFrom: ["*"], homeserver: server.url, accessToken };
  const config = resolvedConfig(section, manifest, FLAGS);
  await using worker = await PackageWorker.open({ manifest, folder, config });
  const heard: InboundMessage[] = [];
  let waiting = { text: "", found: () => {} };
  const hears = (text: string) => new Promise<void>((found) => waiting = { text, found });
  const start = async () => {
    const channel = await worker.build((message) => {
      heard.push(message);
      if (message.content === waiting.text) waiting.found();
    });
    const states = new Set<() => void>();
    channel.onChange = () => states.forEach((look) => look());
    const ended = channel.start().catch(() => {});
    const says = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => pattern.test(channel.detail ?? "") && resolve();
        states.add(look);
        look();
      });
    await says(/connected as .*encrypted/);
    return { channel, ended, says };
  };
  try {
    const first = await start();
    const said = hears("the plan is blue");
    await alice.say("the plan is blue");
    await said;
    alice.holdsKeys = true;
    await alice.makeNewKeys();
    await alice.say("its key is late");
    await first.says(/1 message waits for a key/);
    await first.channel.stop(0);
    await first.ended;
    await alice.release();

    const late = hears("its key is late");
    const second = await start();
    await late;
    const answer = { id: "1", channel: "matrix", media: [], metadata: {}, chatId: server.chatId };
    await second.channel.send({ ...answer, content: "it was worth waiting for" });
    assertEquals((await alice.heard()).map(({ body }) => body), ["it was worth waiting for"]);
    // What was handed over as it was killed comes again, and the service knows it by its id.
    const once = new Map(heard.map(({ messageId, content }) => [messageId, content]));
    assertEquals([...once.values()], ["the plan is blue", "its key is late"]);
    await second.channel.stop(5_000);
    await second.ended;
  } finally {
    await server.close();
  }
});

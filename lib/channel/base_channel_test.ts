import { assertEquals } from "@std/assert";
import { BaseChannel, type PackageConfig } from "./base_channel.ts";
import { FakeHost } from "./testing/fake_host.ts";

class Talker extends BaseChannel {
  override isRunning = false;
  override start = () => Promise.resolve();
  override stop = () => Promise.resolve();
  override send = () => Promise.resolve();
  hear = (senderId: string) =>
    this.handleMessage({
      senderId,
      chatId: "c",
      content: "hi",
      media: [`${this.host.stateDir}/a.ogg`],
      metadata: { message_id: "1" },
      sessionKey: `${this.name}:thread`,
    });
  say = (path: string) => this.transcribeAudio(path);
}

class Streamer extends Talker {
  override sendDelta = () => Promise.resolve();
}

async function withHost(use: (host: FakeHost) => Promise<void>): Promise<void> {
  const host = await FakeHost.open({ name: "talk.work" });
  try {
    await use(host);
  } finally {
    await host.close();
  }
}

Deno.test("handleMessage() publishes everything of whoever may write, and nothing of anybody else (C31)", async () => {
  await withHost(async (host) => {
    const config = { allowFrom: ["ann"] };
    assertEquals(await new Talker(config, host).hear("ann2"), { kind: "denied" });
    for (const none of [{}, { allowFrom: [] }, new Map([["allowFrom", ["*"]]])]) {
      const denied = await new Talker(none as PackageConfig, host).hear("ann");
      assertEquals(denied, { kind: "denied" });
    }
    assertEquals(host.offered, []);
    const published = await new Talker(config, host).hear("ann");
    assertEquals(published.kind, "turn");
    assertEquals(host.published, [{
      senderId: "ann",
      chatId: "c",
      content: "hi",
      media: [`${host.stateDir}/a.ogg`],
      metadata: { message_id: "1" },
      sessionKey: "talk.work:thread",
      streaming: false,
    }]);
  });
});

Deno.test("a message says that its answer may stream where runtime and section both do", async () => {
  await withHost(async (host) => {
    for (const Runtime of [Talker, Streamer]) {
      for (const streaming of [undefined, false, true]) {
        await new Runtime({ allowFrom: ["*"], streaming }, host).hear("ann");
      }
    }
    assertEquals(host.published.map(({ streaming }) => streaming), [
      ...[false, false, false],
      ...[false, false, true],
    ]);
  });
});

Deno.test("a runtime is called by its instance's name, is logged in unless it says otherwise, and has audio heard", async () => {
  await withHost(async (host) => {
    const channel = new Talker({}, host);
    assertEquals([channel.name, await channel.login(), await channel.login(true)], [
      "talk.work",
      true,
      true,
    ]);
    assertEquals(await channel.say(`${host.stateDir}/a.ogg`), `said in ${host.stateDir}/a.ogg`);
    assertEquals(Talker.defaultConfig(), {});
    assertEquals(await Talker.refreshFeatureMetadata({}), undefined);
  });
});

import { assertEquals, assertMatch } from "@std/assert";
import { systemClock } from "../../lib/agent/clock.ts";
import { createChannelPlaces } from "../../lib/authority/channels/channel_places.ts";
import type { InboundMessage } from "../../lib/channel/inbound_message.ts";
import { fillPermissions } from "../../lib/channel/permission_fields.ts";
import { buildChannel } from "../../lib/channel/place/build_channel.ts";
import type { PlaceSource } from "../../lib/channel/place/place_source.ts";
import { resolvedConfig } from "../../lib/channel/setup/resolved_config.ts";
import type { Log } from "../../lib/log.ts";
import manifest from "./manifest.ts";
import { FakeDiscord } from "./testing/fake_discord.ts";
import { until } from "./testing/test_bot.ts";

const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };
const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };

Deno.test("discord works in a place that reaches its own hosts alone: files, threads, a resume", async () => {
  const fake = await FakeDiscord.open();
  const stateDir = await Deno.realPath(await Deno.makeTempDir());
  const section = { enabled: true, allowFrom: ["*"], threads: "on", ...fake.section };
  const config = resolvedConfig(section, manifest, FLAGS);
  const source = (kind: "runtime" | "validator"): PlaceSource => ({
    boot: {
      runtimeName: "discord",
      module:
        new URL(kind === "runtime" ? "./runtime.ts" : "./validation.ts", import.meta.url).href,
      exportName: kind === "runtime" ? "DiscordChannel" : "validate",
      kind,
      config,
      stateDir,
      secrets: [],
      allowLocalServiceAccess: true,
    },
    permissions: fillPermissions(manifest.permissions, config, "channels.discord"),
    dependencies: manifest.dependencies,
  });
  const places = createChannelPlaces({
    sourceOf: () => source("runtime"),
    packages: { ensure: () => Promise.resolve(), shutdown: () => Promise.resolve() },
    forbidden: [],
    scrub: (text) => text,
    clock: systemClock,
    log: silent,
  });
  assertEquals(await places.validate(source("validator"), config), []);
  const elsewhere = { ...config, apiUrl: "http://127.0.0.1:47999/api" };
  const [outside] = await places.validate(source("validator"), elsewhere);
  assertMatch(outside!.message, /not permitted/);

  const heard: InboundMessage[] = [];
  const channel = await buildChannel(places.open, {
    spec: { runtimeName: "discord", channel: "discord", senderVerified: true },
    inbound(_spec, message) {
      heard.push(message);
      return Promise.resolve({ kind: "turn", turnId: `t${heard.length}`, repeated: false });
    },
    transcribe: () => Promise.reject(new Error("Transcription is off")),
    stateDir,
    clock: systemClock,
    log: silent,
  });
  const started = channel.start();
  await fake.gateway.connected();
  const file = fake.attach("notes.txt", new TextEncoder().encode("some notes"));
  const { id } = fake.write("hello", { more: { attachments: [file] } });
  await until(() => heard.length === 1, "a message");
  assertEquals([heard[0]!.chatId, heard[0]!.media?.length], [id, 1]);
  await channel.send({
    id: "1",
    channel: "discord",
    chatId: id,
    content: "Hello",
    media: [],
    metadata: heard[0]!.metadata!,
  });
  assertEquals(fake.sent().map(({ text, chatId }) => [text, chatId]), [["Hello", id]]);
  fake.gateway.cut();
  fake.write("again", { channelId: id, plain: true });
  await until(() => heard.length === 2, "a message behind the cut");
  await channel.stop(5_000);
  await started;
  await places.shutdown();
  await fake.close();
  await Deno.remove(stateDir, { recursive: true });
});

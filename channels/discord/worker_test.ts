import { assertEquals, assertMatch } from "@std/assert";
import { PackageWorker } from "../../lib/operations/channels/testing/package_worker.ts";
import type { InboundMessage } from "../../lib/contract/inbound_message.ts";
import { resolvedConfig } from "../../lib/channel/setup/resolved_config.ts";
import manifest from "./manifest.ts";
import { FakeDiscord } from "./testing/fake_discord.ts";
import { until } from "./testing/test_bot.ts";

const folder = new URL("./", import.meta.url);

const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };

Deno.test("discord works in a worker that reaches its own hosts alone: files, threads, a resume", async () => {
  const fake = await FakeDiscord.open();
  const section = { enabled: true, allowFrom: ["*"], threads: "on", ...fake.section };
  const config = resolvedConfig(section, manifest, FLAGS);
  await using worker = await PackageWorker.open({ manifest, folder, config });
  assertEquals(await worker.validate(config), []);
  const elsewhere = { ...config, apiUrl: "http://127.0.0.1:47999/api" };
  const [outside] = await worker.validate(elsewhere);
  assertMatch(outside!.message, /not permitted/);

  const heard: InboundMessage[] = [];
  const channel = await worker.build((message) => void heard.push(message));
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
  await fake.close();
});

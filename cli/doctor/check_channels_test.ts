import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHANNELS } from "../../channels/mod.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import { openRegistry } from "../../lib/registry/open_registry.ts";
import { testChannel, testRegistry } from "../../lib/registry/testing/test_registry.ts";
import { testDescriptor } from "../../lib/channel/setup/testing/test_descriptor.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { checkChannels } from "./check_channels.ts";

const paths = { dataDir: "/home/data", configFile: "/home/config.json" };

function check(registry: ChannelRegistry, channels?: unknown) {
  return checkChannels({
    registry,
    ...channels !== undefined && { config: configSchema.parse({ channels }) },
    paths,
  });
}

const CHAT = testRegistry(
  [testChannel(testDescriptor())],
  [{ folder: "odd", problem: "Cannot use channels/odd/manifest.ts: it throws" }],
);

Deno.test("checkChannels() tells of each package and section that is broken, and what to do (C2)", () => {
  const [odd, chat, key, rest, ...others] = check(CHAT, {
    chat: { enabled: true, server: "a", colour: "red", nik: "b" },
    odd: { enabled: true },
  });
  assertEquals([odd!.status, odd!.detail], [
    "fail",
    "Cannot use channels/odd/manifest.ts: it throws",
  ]);
  assertEquals(chat!.status, "fail");
  assertStringIncludes(chat!.detail, "channels.chat: botToken, or tokenFile is not set");
  assertStringIncludes(chat!.fix!, "settings: service plugins info chat");
  assertStringIncludes(chat!.fix!, "service config set channels.chat.enabled false");
  assertEquals([key!.status, key!.detail], ["warn", "channels.chat.colour is no field"]);
  assertEquals([rest!.status, rest!.detail], [
    "warn",
    "channels.chat.nik is no field; did you mean channels.chat.nick?",
  ]);
  assertEquals(others.map(({ detail }) => detail), ["1 available; enabled: websocket"]);
});

Deno.test("checkChannels() is content with the channels that there are", async () => {
  const registry = await openRegistry(CHANNELS);
  const [finding, ...others] = check(registry, {});
  assertEquals([finding!.status, others], ["ok", []]);
  assertEquals(check(registry, { websocket: { enabled: false } })[0]!.status, "ok");
});

Deno.test("checkChannels() names a channel that is on and accepts messages from nobody", () => {
  const chat = { enabled: true, server: "chat.example", botToken: "t0ken" };
  const [, finding, rest] = check(CHAT, { chat });
  assertEquals([finding!.status, finding!.detail], [
    "warn",
    "chat accepts messages from nobody: its allowFrom is empty",
  ]);
  assertStringIncludes(finding!.fix!, "service config set channels.chat.allowFrom ID");
  assertEquals(rest!.detail, "1 available; enabled: websocket, chat");
  assertEquals(check(CHAT, { chat: { ...chat, allowFrom: ["ann"] } }).length, 2);
});

Deno.test("checkChannels() names a section that no package is for", () => {
  const [, finding] = check(CHAT, { chta: { enabled: true } });
  assertStringIncludes(finding!.detail, 'There is no channel "chta"');
});

Deno.test("checkChannels() says what it can without a configuration", () => {
  assertEquals(check(CHAT).map(({ status }) => status), ["fail", "ok"]);
});

Deno.test("checkChannels() calls none startable that no worker can be started with", () => {
  const chat = { enabled: true, server: "10.0.0.0/8", botToken: "t0ken" };
  const [, finding, rest] = check(CHAT, { chat });
  assertEquals(finding!.status, "fail");
  assertStringIncludes(finding!.detail, 'it asks for the host "10.0.0.0/8:6697"');
  assertEquals(rest!.detail, "1 available; enabled: websocket");
});

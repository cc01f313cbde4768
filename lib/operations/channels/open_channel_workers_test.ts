import { MemoryIntake } from "../../channel/testing/memory_intake.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { systemClock } from "../../base/clock.ts";
import { buildChannel } from "../../channel_worker/build_channel.ts";
import { channelStateDir } from "../../base/state_dir.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { testRegistry } from "../../registry/testing/test_registry.ts";
import { configSchema } from "../../config/schema.ts";
import { resolvePaths } from "../../config/paths.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { findOwnDenoDir } from "../../packages/deno_dir.ts";
import { channelPermissionTable } from "./channel_permission_table.ts";
import { openChannelWorkers } from "./open_channel_workers.ts";
import { told } from "./testing/worker_fixture.ts";

const PROBE = new URL("../../channel_worker/testing/probe_runtime.ts", import.meta.url).href;

const REGISTRY = testRegistry([{
  folder: "chat",
  descriptor: testDescriptor(),
  runtime: { module: PROBE, exportName: "ProbeRuntime" },
}]);

const GOOD = { enabled: true, server: "irc.example", botToken: "s3cret-token", allowFrom: ["a"] };

async function inHome(
  run: (home: {
    configure(section: Record<string, unknown>): void;
    build(): ReturnType<typeof buildChannel>;
    table(): ReturnType<typeof channelPermissionTable>;
    dataDir: string;
  }) => Promise<void>,
): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  const paths = resolvePaths({
    env: (name) => (name === "SERVICE_HOME" ? dir : undefined),
    homeDir: dir,
  });
  const log: Log = { debug() {}, info() {}, warning() {}, error() {} };
  let config = configSchema.parse({ channels: { chat: GOOD } });
  const configured = () => ({ registry: REGISTRY, config, dataDir: paths.dataDir });
  const workers = openChannelWorkers({
    configured,
    paths,
    denoDir: findOwnDenoDir((name) => Deno.env.get(name)),
    env: () => undefined,
    scrubber: { text: (text) => text },
    log,
  });
  try {
    await run({
      dataDir: paths.dataDir,
      configure: (section) => config = configSchema.parse({ channels: { chat: section } }),
      table: () => channelPermissionTable(configured()),
      build: () =>
        buildChannel(workers.open, {
          spec: { runtimeName: "chat", channel: "chat", senderVerified: false },
          inbound: () => Promise.resolve({ kind: "command" }),
          intake: new MemoryIntake(),
          onStranger: () => {},
          transcribe: () => Promise.resolve(""),
          stateDir: channelStateDir(paths.dataDir, "chat"),
          clock: systemClock,
          log,
        }),
    });
  } finally {
    await workers.shutdown();
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("openChannelWorkers() opens a worker for a channel as it is configured at that moment", async () => {
  await inHome(async ({ configure, build }) => {
    const first = await build();
    const seen = JSON.parse(await told(first, "config"));
    assertEquals([seen.server, seen.port, seen.botToken], [
      "irc.example",
      6_697,
      "[secret channels.chat]",
    ]);
    configure({ ...GOOD, server: "other.example" });
    const second = await build();
    assertEquals(JSON.parse(await told(second, "config")).server, "other.example");
    // The one before is as it was: it is replaced when the other one is there.
    assertEquals(JSON.parse(await told(first, "config")).server, "irc.example");
    await Promise.all([first.stop(1_000), second.stop(1_000)]);
  });
});

Deno.test("openChannelWorkers() opens none for a channel that is off or wrong, or reads the home (C8)", async () => {
  await inHome(async ({ configure, build, dataDir, table }) => {
    configure({ ...GOOD, enabled: false });
    await assertRejects(build, ServiceError, "switched off");
    assertEquals(table(), []);
    configure({ ...GOOD, server: "" });
    await assertRejects(build, ServiceError, "server is not set");
    assertEquals(table(), []);
    configure({ ...GOOD, server: "*" });
    await assertRejects(build, ServiceError, "Cannot use channels.chat.server: it holds a *");
    assertEquals(table(), []);
    configure({ ...GOOD, tokenFile: `${dataDir}/../keys/audit.key` });
    await assertRejects(build, ServiceError, "the service's own files");
  });
});

Deno.test("channelPermissionTable() lists what the worker of each channel has", async () => {
  await inHome(async ({ configure, build, table, dataDir }) => {
    configure({ ...GOOD, tokenFile: "/etc/chat.token" });
    const listed = table();
    assertEquals(
      listed.filter(({ value }) => !value.includes("/lib/")).map(({ kind, value, askedBy }) => [
        kind,
        value,
        askedBy,
      ]),
      [
        ["net", "irc.example:6697", "channels.chat"],
        ["net", "api.example", "channels.chat"],
        ["read", `${dataDir}/channels/chat`, "channels.chat"],
        ["read", "/etc/chat.token", "channels.chat"],
        ["write", `${dataDir}/channels/chat`, "channels.chat"],
        ["env", "CHAT_DEBUG", "channels.chat"],
      ],
    );
    const channel = await build();
    const named = { net: "host", read: "path", write: "path", env: "variable" } as const;
    for (const { kind, value } of listed) {
      const descriptor = { name: kind, [named[kind]]: value };
      assertEquals(await told(channel, "try query", { descriptor }), "allowed: granted", value);
    }
    for (const kind of ["net", "read", "write", "env", "run", "sys", "ffi", "import"]) {
      const state = await told(channel, "try query", { descriptor: { name: kind } });
      assertStringIncludes(state, "allowed: ");
      assertEquals(state.includes("granted"), false, kind);
    }
    await channel.stop(1_000);
  });
});

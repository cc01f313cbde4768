import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { examine } from "../settings/examine.ts";
import { secretsIn } from "../config/redact.ts";
import { configSchema } from "../config/schema.ts";
import { tempHome } from "../config/testing/temp_home.ts";
import { ServiceError } from "../base/errors.ts";
import { accountsAdapter } from "../channel/management/accounts_adapter.ts";
import type { Section } from "../channel/management.ts";
import { instanceViews } from "../channel/management/instance_views.ts";
import { switchSection, updateSection } from "../channel/management/update_section.ts";
import { testDescriptor } from "../channel/setup/testing/test_descriptor.ts";
import { channelSecrets } from "./channel_defaults.ts";
import { channelSpecs } from "./channel_specs.ts";
import type { ChannelRegistry } from "./channel_registry.ts";
import { openRegistry } from "./open_registry.ts";
import { type WorkerAsked, workerSourceOf } from "./worker_source_of.ts";
import { testChannel, testRegistry } from "./testing/test_registry.ts";

const CHAT = testDescriptor();
const MAIL = testDescriptor({
  name: "mail",
  displayName: "Mail",
  runtime: "channels/mail/runtime.ts:Mail",
  management: { multiInstance: true, adapter: "channels/mail/instances.ts:adapter" },
});
const WEB = testDescriptor({ name: "web", capabilities: ["in_service"] });
const BROKEN = { folder: "odd", problem: "Cannot use channels/odd/manifest.ts: name is wrong" };

const REGISTRY = testRegistry(
  [testChannel(CHAT), testChannel(MAIL, accountsAdapter(MAIL)), testChannel(WEB)],
  [BROKEN],
);
const GOOD = { enabled: true, server: "irc.example", botToken: "s3cret-token" };

function inputs(
  channels: Record<string, unknown>,
  { registry = REGISTRY, key = 1 }: { registry?: ChannelRegistry; key?: number } = {},
) {
  return {
    registry,
    config: configSchema.parse({ channels }),
    dataDir: "/home/data",
    fingerprintKey: new Uint8Array(32).fill(key),
  };
}

function source(channels: Record<string, unknown>, asked: WorkerAsked) {
  return workerSourceOf(inputs(channels), asked);
}

function errorOf(channels: Record<string, unknown>, asked: WorkerAsked): ServiceError {
  return assertThrows(() => source(channels, asked), ServiceError);
}

Deno.test("channelSpecs() has each instance with a worker of its own, and no secret", () => {
  const specs = channelSpecs(inputs({
    show_reasoning: false,
    sendToolHints: false,
    chat: { ...GOOD, sendToolHints: true, send_max_retries: 0 },
    mail: { ...GOOD, accounts: { work: { botToken: "an0ther-secret" } } },
  }));
  assertEquals(specs.map(({ runtimeName, enabled, problem }) => [runtimeName, enabled, problem]), [
    ["chat", true, undefined],
    ["mail", true, undefined],
    ["mail.work", true, undefined],
    ["odd", false, BROKEN.problem],
  ]);
  const { fingerprint, ...chat } = specs[0]!;
  assertEquals(chat, {
    runtimeName: "chat",
    channel: "chat",
    displayName: "Chat",
    enabled: true,
    capabilities: ["streaming"],
    senderVerified: true,
    flags: { sendProgress: true, sendToolHints: true, showReasoning: true },
    sendMaxRetries: 1,
    catchUpS: 86_400,
  });
  assertEquals(fingerprint.length, 64);
  assertEquals([specs[2]!.instanceId, specs[2]!.displayName, specs[2]!.sendMaxRetries], [
    "work",
    "Mail (work)",
    3,
  ]);
  assert(!/s3cret|an0ther/.test(JSON.stringify(specs)));
});

Deno.test("channelSpecs() takes flags from all channels where a section sets none (C29)", () => {
  const [spec] = channelSpecs(
    inputs({ showReasoning: false, chat: { ...GOOD, sendProgress: false } }),
  );
  assertEquals(spec!.flags, { sendProgress: false, sendToolHints: true, showReasoning: false });
});

Deno.test("channelSpecs() has what is wrong with a channel disable that one alone (C17)", () => {
  const problems = (channels: Record<string, unknown>) =>
    Object.fromEntries(
      channelSpecs(inputs(channels)).map(({ runtimeName, problem }) => [runtimeName, problem]),
    );
  const mail = problems({ chat: GOOD, mail: { enabled: true, accounts: [] } });
  assertEquals(mail.chat, undefined);
  assertStringIncludes(mail.mail!, "accounts is no object");
  const chat = problems({ chat: { ...GOOD, port: 0 }, mail: GOOD });
  assertStringIncludes(chat.chat!, "Cannot use channels.chat: port is 0: expected an integer");
  assertEquals(chat.mail, undefined);
  const missing = problems({ mail: { ...GOOD, accounts: { work: { server: "" } } } });
  assertStringIncludes(missing["mail.work"]!, "Cannot use channels.mail.work: server is not set");
  const off = problems({ chat: { enabled: false, port: 0 } });
  assertEquals(off.chat, undefined);
  const strange = problems({ chta: { enabled: true }, mial: {} });
  assertStringIncludes(strange.chta!, 'There is no channel "chta"');
  assertEquals("mial" in strange, false);
});

Deno.test("channelSpecs() has another fingerprint for everything that a worker is given", () => {
  const of = (section: object, more: object = {}, key?: number) =>
    channelSpecs(inputs({ chat: { ...GOOD, ...section }, ...more }, { key }))[0]!.fingerprint;
  const same = of({});
  assertEquals(of({}), same);
  assertEquals(of({ nick: "bot" }), same, "the default");
  for (
    const other of [
      of({ botToken: "s3cret-tokem" }),
      of({ nick: "b" }),
      of({ allowFrom: ["a"] }),
      of({ showReasoning: false }),
      of({}, { showReasoning: false }),
      of({}, { allowLocalServiceAccess: false }),
      of({}, {}, 2),
      of({ port: 0 }),
    ]
  ) assert(other !== same);
});

Deno.test("workerSourceOf() gives a worker what its section and its manifest say", () => {
  const { boot, permissions, dependencies } = source(
    { mail: { ...GOOD, accounts: { work: { bot_token: "an0ther-secret", tokenFile: "/t" } } } },
    { runtimeName: "mail.work" },
  );
  assertEquals(boot, {
    runtimeName: "mail.work",
    module: "test:/mail/runtime.ts",
    exportName: "Runtime",
    kind: "runtime",
    config: {
      catchUpS: 86_400,
      enabled: true,
      allowFrom: [],
      streaming: false,
      sendProgress: true,
      sendToolHints: true,
      showReasoning: true,
      server: "irc.example",
      port: 6697,
      tls: true,
      nick: "bot",
      botToken: "an0ther-secret",
      tokenFile: "/t",
      rooms: [],
    },
    stateDir: "/home/data/channels/mail.work",
    secrets: ["an0ther-secret"],
    allowLocalServiceAccess: true,
  });
  assertEquals(permissions, {
    hosts: ["irc.example:6697", "api.example"],
    paths: ["/t"],
    variables: ["CHAT_DEBUG"],
  });
  assertEquals(dependencies, []);
});

Deno.test("workerSourceOf() refuses what has no worker, and says why", () => {
  const off = { chat: { ...GOOD, enabled: false } };
  assertEquals(errorOf(off, { runtimeName: "chat" }).code, "not_enabled");
  assertEquals(source(off, { runtimeName: "chat", mayBeOff: true }).boot.runtimeName, "chat");
  assertEquals(
    errorOf({ chat: { enabled: true } }, { runtimeName: "chat" }).code,
    "config_invalid",
  );
  assertEquals(errorOf({}, { runtimeName: "odd" }).message, BROKEN.problem);
  for (const runtimeName of ["chta", "chat.work", "mail.nobody", "", "__proto__"]) {
    assertEquals(errorOf({ chat: GOOD, mail: GOOD }, { runtimeName }).code, "not_found");
  }
  const none = errorOf({ chat: GOOD }, { runtimeName: "chat", kind: "connector" });
  assertStringIncludes(none.message, "The channel chat has no connector");
});

Deno.test("workerSourceOf() gives a check what there is so far", () => {
  const channel = {
    ...testChannel(CHAT),
    validator: { module: "test:/chat/validation.ts", exportName: "validate" },
  };
  const { boot, permissions } = workerSourceOf(
    inputs({ chat: { server: "::1" } }, { registry: testRegistry([channel]) }),
    { runtimeName: "chat", kind: "validator" },
  );
  assertEquals([boot.module, boot.kind, boot.config.server, boot.secrets], [
    "test:/chat/validation.ts",
    "validator",
    "::1",
    [],
  ]);
  assertEquals(permissions.hosts, ["[::1]:6697", "api.example"]);
});

Deno.test("a channel is listed, configured and switched off while its runtime throws on import (C6)", async () => {
  const throwing = "data:text/javascript,throw new Error('imported')";
  await assertRejects(() => import(throwing), Error, "imported");
  const registry = await openRegistry([{
    folder: "chat",
    loadManifest: () => Promise.resolve({ default: CHAT }),
    modules: { "runtime.ts": throwing },
  }]);
  const channel = registry.usable.get("chat")!;
  const section = updateSection({
    channel,
    section: {},
    values: { server: "a", botToken: "t0ken" },
  });
  const on = switchSection({ channel, section, enabled: true });
  const [view] = instanceViews(channel, on, on);
  assertEquals([view!.enabled, view!.configured], [true, true]);
  const states = [on, switchSection({ channel, section: on, enabled: false })].map((chat) =>
    channelSpecs(inputs({ chat }, { registry })).map(({ enabled, problem }) => [enabled, problem])
  );
  assertEquals(states, [[[true, undefined]], [[false, undefined]]]);
});

Deno.test("a worker is given what references stand for, and nothing else is told of it", async () => {
  await using home = await tempHome({ CHAT_TOKEN: "from-the-environment", CHAT_PORT: "7001" });
  const chat = { ...GOOD, botToken: "${CHAT_TOKEN}", port: "${CHAT_PORT}" };
  const { config, canonical } = examine({ ...home, text: JSON.stringify({ channels: { chat } }) });
  const configured = { registry: REGISTRY, config: config!, dataDir: "/home/data" };
  const { boot, permissions } = workerSourceOf(configured, { runtimeName: "chat" });
  assertEquals([boot.config.port, boot.secrets], [7001, ["from-the-environment"]]);
  assertEquals(permissions.hosts[0], "irc.example:7001");
  assertEquals(secretsIn(config, configSchema, channelSecrets(REGISTRY)), [
    { name: "channels.chat.botToken", value: "from-the-environment" },
  ]);
  const specs = channelSpecs({ ...configured, fingerprintKey: new Uint8Array(32) });
  const { chat: written } = (canonical as { channels: Record<string, Section> }).channels;
  const views = instanceViews(
    REGISTRY.usable.get("chat")!,
    config!.channels.chat as Section,
    written!,
  );
  assertEquals(views[0]!.configValues.port, "${CHAT_PORT}");
  assert(!/from-the-environment|7001/.test(JSON.stringify([specs, views])));
});

Deno.test("channelSpecs() does not start an instance with the token of another, which goes on", () => {
  const problems = (accounts: Record<string, unknown>) =>
    channelSpecs(inputs({ mail: { ...GOOD, accounts } }))
      .filter(({ channel }) => channel === "mail").map(({ problem = "" }) => problem);
  const [first, second] = problems({ work: {} });
  assertEquals(first, "");
  assertStringIncludes(second!, "Cannot use mail.work: its botToken is that of mail");
  assert(!second!.includes(GOOD.botToken));
  assertEquals(problems({ work: { botToken: "an0ther-secret" } }), ["", ""]);
  assertEquals(problems({ work: { server: "irc.other" } }), ["", ""]);
  assertEquals(problems({ work: { enabled: false } }), ["", ""]);
  assertEquals(problems({ default: { enabled: false }, work: {} }), ["", ""]);
});

Deno.test("channelSpecs() does not start an instance with the account of another, where a field says which it is", () => {
  const management = { multiInstance: true, identity: "nick" };
  const mail = testDescriptor({ ...MAIL, management });
  const registry = testRegistry([testChannel(mail, accountsAdapter(mail))]);
  const problems = (work: Section) => {
    const section = {
      ...GOOD,
      nick: "ann",
      accounts: { work: { botToken: "0ther-token", ...work } },
    };
    const config = configSchema.parse({ channels: { mail: section } });
    return channelSpecs({
      registry,
      config,
      dataDir: "/home/data",
      fingerprintKey: new Uint8Array(32),
    })
      .map(({ problem = "" }) => problem);
  };
  assertStringIncludes(problems({})[1]!, "Cannot use mail.work: its nick is that of mail");
  assertEquals(problems({ nick: "ben" }), ["", ""]);
});

Deno.test("channelSpecs() has another fingerprint for an instance that was connected anew, and for it alone", () => {
  const fingerprints = (connections: ReadonlyMap<string, number>) =>
    channelSpecs({ ...inputs({ chat: GOOD, mail: GOOD }), connections })
      .map(({ runtimeName, fingerprint }) => `${runtimeName} ${fingerprint}`);
  const before = fingerprints(new Map());
  const after = fingerprints(new Map([["mail", 1]]));
  const changed = after.filter((each) => !before.includes(each));
  assertEquals(changed.map((each) => each.split(" ")[0]), ["mail"]);
  assertEquals(fingerprints(new Map([["mail", 1]])), after);
});

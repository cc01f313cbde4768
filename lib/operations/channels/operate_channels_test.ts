import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import type { ChannelListing } from "./channel_listing.ts";
import {
  type ChannelRequest,
  type SettingsFixture,
  settingsFixture,
  testChannels,
} from "./testing/settings_fixture.ts";
import type { SetupFinding } from "../../channel/descriptor.ts";

const TOKEN = "s3cret-token-of-chat";
const GOOD = { server: "irc.example", botToken: TOKEN };

/** What a request is refused with, and that the file's bytes are as they were. */
async function refused(
  fixture: SettingsFixture,
  request: ChannelRequest,
): Promise<[code: string, param: string | undefined, message: string]> {
  const read = () => fixture.home.read().catch(() => undefined);
  const before = await read();
  const error = await assertRejects(() => fixture.answer(request), ServiceError);
  assertEquals(await read(), before);
  assertFalse(error.message.includes(TOKEN), error.message);
  return [error.code, error.details.param, error.message];
}

const set = (values: Record<string, unknown>, more: object = {}): ChannelRequest => ({
  op: "channels.set",
  name: "chat",
  values,
  ...more,
});

async function findings(
  fixture: SettingsFixture,
  request: ChannelRequest,
): Promise<SetupFinding[]> {
  return (await fixture.answer(request) as { findings: SetupFinding[] }).findings;
}

Deno.test("set writes values, keeps comments, and shows no secret (C11)", async () => {
  await using fixture = await settingsFixture({
    config: '{\n  // mine\n  "agent": { "maxSteps": 7 }\n}\n',
  });
  const { home } = fixture;
  const channel = await fixture.set({ ...GOOD, rooms: "a, b,,c", tls: "no", port: "7000" });
  assertEquals(channel.configured, true);
  assertEquals(channel.configValues.rooms, ["a", "b", "c"]);
  assertFalse(JSON.stringify(channel).includes(TOKEN));
  assert(channel.configuredFields.includes("botToken"));
  const text = await home.read();
  assertStringIncludes(text, "// mine");
  assertEquals(JSON.parse(text.replace("// mine", "")).channels.chat, {
    server: "irc.example",
    botToken: TOKEN,
    rooms: ["a", "b", "c"],
    tls: false,
    port: 7000,
  });
  assertEquals(fixture.reloads, 1);
  // A blank keeps the secret, null takes it out.
  await fixture.set({ botToken: "", nick: "me" });
  assertStringIncludes(await home.read(), TOKEN);
  const cleared = await fixture.set({ botToken: null });
  assertFalse((await home.read()).includes(TOKEN));
  assertEquals(cleared.missing, ["botToken, or tokenFile"]);
});

Deno.test("set puts each change on record by its keys, and no value", async () => {
  await using fixture = await settingsFixture();
  await fixture.set(GOOD);
  const records = await fixture.records();
  const change = records.find(({ kind }) => kind === "settings.change")!;
  assertEquals(change.data.by, "token:test");
  assertEquals(change.data.keys, ["channels.chat.server", "channels.chat.botToken"]);
  assertEquals(records.filter(({ kind }) => kind.startsWith("settings.")).length, 1);
  assertFalse(JSON.stringify(records).includes(TOKEN));
  assertFalse(fixture.logged.join().includes(TOKEN));
  const count = records.length;
  await fixture.set(GOOD);
  // The same again is no change.
  assertEquals((await fixture.records()).length, count);
});

Deno.test("set refuses what is no field, or no value of it, and writes nothing (C10, C12)", async () => {
  await using fixture = await settingsFixture({ config: { channels: { chat: GOOD } } });
  assertEquals((await refused(fixture, set({ sever: "x" }))).slice(0, 2), [
    "invalid_request",
    "sever",
  ]);
  const [code, param, message] = await refused(fixture, set({ mode: "loud" }));
  assertEquals([code, param], ["invalid_request", "mode"]);
  assertStringIncludes(message, '"all", "mention"');
  assertEquals((await refused(fixture, set({ port: 0 })))[1], "port");
  assertEquals((await refused(fixture, set({ botToken: { a: TOKEN } })))[1], "botToken");
  assertEquals((await refused(fixture, set({ nick: "${HOME}" })))[1], "nick");
  assertEquals((await refused(fixture, set({ enabled: true })))[1], "enabled");
  assertEquals((await refused(fixture, set({}, { instanceId: "x" })))[0], "not_found");
  const [unknown, , words] = await refused(fixture, set({}, { name: "chatt" }));
  assertEquals(unknown, "not_found");
  assertStringIncludes(
    words,
    'There is no channel "chatt" (did you mean chat?); there are chat, team',
  );
  assertEquals(fixture.asked, []);
});

Deno.test("set leaves a configuration alone that is broken, or would be", async () => {
  await using fixture = await settingsFixture({ config: '{ "api": { "port": 99999 } }' });
  const [code, param, message] = await refused(fixture, set(GOOD));
  assertEquals([code, param], ["invalid_request", "api.port"]);
  assertStringIncludes(message, "which is broken");
  await fixture.home.write({ channels: { chat: "on" } });
  assertEquals((await refused(fixture, set(GOOD)))[1], "channels.chat");
});

Deno.test("set is refused for what the package's own check finds, and asks it before it writes", async () => {
  await using fixture = await settingsFixture({
    validate: ({ server, botToken }, { boot }) => {
      assertEquals(boot.allowLocalServiceAccess, false);
      return [
        server === "bad.example"
          ? { level: "error", field: "server", message: `no ${botToken} there` }
          : { level: "warning", message: "not reached" },
      ];
    },
    config: { channels: { allowLocalServiceAccess: false } },
  });
  const bad = { ...GOOD, server: "bad.example" };
  const [code, param, message] = await refused(fixture, set(bad));
  assertEquals([code, param], ["invalid_request", "server"]);
  assertStringIncludes(message, "[secret of the channel]");
  assertEquals(await findings(fixture, set(GOOD)), [{ level: "warning", message: "not reached" }]);
  assertStringIncludes(await fixture.home.read(), "irc.example");
  // What is not whole is not asked about.
  fixture.asked.length = 0;
  assertEquals(await findings(fixture, set({ botToken: null })), [{
    level: "warning",
    field: "botToken",
    message: "botToken, or tokenFile is not set",
  }]);
  assertEquals(fixture.asked, []);
});

Deno.test("set refuses what no worker can be started with, and asks the package nothing", async () => {
  await using fixture = await settingsFixture({ config: { channels: { chat: GOOD } } });
  for (
    const [values, words] of [
      [{ server: "0.0.0.0/0", botToken: TOKEN }, 'the host "0.0.0.0/0:6697"'],
      [{ server: "a.example,b.example", botToken: TOKEN }, 'the host "a.example,b.example:6697"'],
      [{ server: "*", botToken: TOKEN }, "channels.chat.server: it holds a *"],
      [{ server: "*.example.com", botToken: TOKEN }, "channels.chat.server: it holds a *"],
      [{ tokenFile: "../irc/token" }, 'the path "../irc/token"'],
      [
        { tokenFile: `${fixture.home.paths.dataDir}/channels/irc/token` },
        "the service's own files",
      ],
      [{ tokenFile: "/" }, "the service's own files"],
    ] as const
  ) {
    const [code, , message] = await refused(fixture, set(values));
    assertEquals(code, "invalid_request");
    assertStringIncludes(message, words);
    const [finding] = await findings(fixture, {
      op: "channels.validate",
      name: "chat",
      values,
    });
    assertEquals(finding?.level, "error");
  }
  assertEquals(fixture.asked, []);
});

Deno.test("validate finds everything, writes nothing, and names each alternative (C13, C14)", async () => {
  await using fixture = await settingsFixture({
    validate: () => [{ level: "warning", message: "irc.example is not reached" }],
  });
  const validate = (values: Record<string, unknown>) =>
    findings(fixture, { op: "channels.validate", name: "chat", values });
  assertEquals(await validate({ mode: "loud", port: "x", nick: "n" }), [
    { level: "error", field: "mode", message: 'mode is "loud": expected one of "all", "mention"' },
    { level: "error", field: "port", message: 'port is "x": expected an integer from 1 to 65535' },
    { level: "error", field: "server", message: "server is not set" },
    { level: "error", field: "botToken", message: "botToken, or tokenFile is not set" },
  ]);
  assertEquals(fixture.asked, []);
  assertEquals(await validate(GOOD), [{ level: "warning", message: "irc.example is not reached" }]);
  assertEquals(fixture.asked, ["validate chat"]);
  assertEquals(
    (await refused(fixture, { op: "channels.validate", name: "chat", values: { x: 1 } }))[1],
    "x",
  );
  await assertRejects(() => fixture.home.read(), Deno.errors.NotFound);
  assertEquals(await fixture.records(), []);
});

Deno.test("set and validate send no stored secret to another place", async () => {
  const stored = { server: "a.example", botToken: TOKEN };
  await using fixture = await settingsFixture({
    config: { channels: { chat: stored, team: { ...stored, accounts: { w: { nick: "w" } } } } },
  });
  const moved = { server: "evil.example" };
  for (const op of ["channels.set", "channels.validate"] as const) {
    assertEquals((await refused(fixture, { op, name: "chat", values: moved })).slice(0, 2), [
      "refused",
      "server",
    ]);
    const account = { op, name: "team", values: moved, instanceId: "evil" };
    assertEquals((await refused(fixture, account))[0], "refused");
  }
  assertEquals(fixture.asked, []);
  // Whoever gives it anew knows it.
  assertEquals(
    (await fixture.set({ ...moved, botToken: TOKEN })).configValues.server,
    moved.server,
  );
});

Deno.test("set gives no secret to an account that waits at another address for one", async () => {
  await using fixture = await settingsFixture({
    config: {
      channels: {
        team: { server: "a.example", accounts: { evil: { server: "evil.example" }, near: {} } },
      },
    },
  });
  const shared = set({ botToken: TOKEN }, { name: "team" });
  const [code, param, message] = await refused(fixture, shared);
  assertEquals([code, param], ["refused", "server"]);
  assertStringIncludes(message, "team.evil would take the secret over");
  // With one of its own it takes over none, and what has the same address may.
  await fixture.set({ botToken: "another-token" }, "evil", "team");
  const { instances } = await fixture.set({ botToken: TOKEN }, undefined, "team");
  assertEquals(instances.map(({ configured }) => configured), [true, true, true]);
});

Deno.test("enable is refused while something is missing, and names it", async () => {
  await using fixture = await settingsFixture({ config: { channels: { chat: { server: "a" } } } });
  const enable: ChannelRequest = { op: "channels.enable", name: "chat" };
  const [code, param, message] = await refused(fixture, enable);
  assertEquals([code, param], ["invalid_request", "botToken"]);
  assertStringIncludes(message, "Cannot enable chat: botToken, or tokenFile is not set");
  await fixture.set({ botToken: TOKEN });
  const { channel } = await fixture.answer(enable) as { channel: ChannelListing };
  assertEquals([channel.enabled, channel.instances[0]!.enabled], [true, true]);
  // What runs keeps what it needs.
  assertEquals((await refused(fixture, set({ botToken: null })))[1], "botToken");
  await fixture.answer({ op: "channels.disable", name: "chat" });
  assertEquals((await fixture.listing()).enabled, false);
  await fixture.set({ botToken: null });
});

Deno.test("disable of one instance leaves the bytes of its siblings (C18)", async () => {
  const before = `{
  "channels": {
    "team": {
      "enabled": true,
      "server": "a.example", "botToken": "${TOKEN}",
      "accounts": {
        "work":   { "nick":   "w" }, // as it is
        "home": { "nick": "h" }
      }
    }
  }
}
`;
  await using fixture = await settingsFixture({ config: before });
  assertEquals((await fixture.listing("team")).instances.map((one) => one.runtimeName), [
    "team",
    "team.work",
    "team.home",
  ]);
  await fixture.answer({ op: "channels.disable", name: "team", instanceId: "home" });
  const after = await fixture.home.read();
  assertStringIncludes(after, '"work":   { "nick":   "w" }, // as it is');
  assertEquals(after.slice(0, after.indexOf('"home"')), before.slice(0, before.indexOf('"home"')));
  const { instances } = await fixture.listing("team");
  assertEquals(instances.map(({ enabled }) => enabled), [true, true, false]);
  assertEquals(
    (await refused(fixture, { op: "channels.disable", name: "team", instanceId: "none" }))[0],
    "not_found",
  );
});

Deno.test("a malformed instance makes changes fail, and the channel can still be disabled (C20)", async () => {
  await using fixture = await settingsFixture({
    config: { channels: { team: { enabled: true, ...GOOD, accounts: { "a b": {} } } } },
  });
  const request = set({ nick: "x" }, { name: "team", instanceId: "work" });
  const [code, param, message] = await refused(fixture, request);
  assertEquals([code, param], ["invalid_request", "channels.team"]);
  assertStringIncludes(message, "a b");
  const listing = await fixture.listing("team");
  assertEquals([listing.configured, listing.enabled], [false, true]);
  assertStringIncludes(listing.problem!, "a b");
  await fixture.answer({ op: "channels.disable", name: "team" });
  assertEquals((await fixture.listing("team")).enabled, false);
});

Deno.test("channels that are broken or gone are listed with why, and can be switched off (C2)", async () => {
  await using fixture = await settingsFixture({
    broken: [{ folder: "bad", problem: "channels/bad/manifest.ts throws: oh" }],
    config: { channels: { bad: { enabled: true }, gone: { enabled: true } } },
  });
  const channels = await fixture.operator.list();
  assertEquals(channels.map(({ name, enabled, problem }) => [name, enabled, problem]), [
    ["chat", false, undefined],
    ["team", false, undefined],
    ["bad", true, "channels/bad/manifest.ts throws: oh"],
    ["gone", true, 'There is no channel "gone"; remove channels.gone'],
  ]);
  assertEquals(
    (await refused(fixture, { op: "channels.enable", name: "bad" }))[0],
    "invalid_request",
  );
  assertEquals((await refused(fixture, set({}, { name: "gone" })))[0], "not_found");
  for (const name of ["bad", "gone"]) await fixture.answer({ op: "channels.disable", name });
  assertEquals(JSON.parse(await fixture.home.read()).channels, {
    bad: { enabled: false },
    gone: { enabled: false },
  });
  assertEquals(fixture.asked, []);
});

Deno.test("list asks no worker, and names are asked for once after set or enable", async () => {
  let fails = true;
  await using fixture = await settingsFixture({
    refresh: () =>
      fails
        ? Promise.reject(new Error("no answer"))
        : Promise.resolve({ displayName: "My bot", avatarUrl: "javascript:alert(1)" }),
  });
  await fixture.set(GOOD);
  // It is off, so its runtime is not loaded (C8).
  assertEquals(fixture.asked, ["validate chat"]);
  await fixture.answer({ op: "channels.enable", name: "chat" });
  assertEquals(fixture.asked, ["validate chat", "refresh chat"]);
  await fixture.listing();
  await fixture.operator.shutdown();
  assertStringIncludes(fixture.logged.join(), "no answer");
  fails = false;
  await fixture.set({ nick: "b" });
  await fixture.operator.shutdown();
  assertEquals(fixture.asked.slice(2), ["validate chat", "refresh chat"]);
  const [instance] = (await fixture.listing()).instances;
  assertEquals([instance!.displayName, instance!.avatarUrl], ["My bot", undefined]);
});

Deno.test("names are asked for one after the other, and once for changes that come meanwhile", async () => {
  const answers: PromiseWithResolvers<undefined>[] = [];
  await using fixture = await settingsFixture({
    config: { channels: { team: { ...GOOD, enabled: true, accounts: { a: {}, b: {} } } } },
    refresh: () => {
      answers.push(Promise.withResolvers());
      return answers.at(-1)!.promise;
    },
  });
  for (const nick of ["1", "2", "3"]) await fixture.set({ nick }, undefined, "team");
  await fixture.set({ nick: "4" }, "b", "team");
  assertEquals(fixture.asked, ["refresh team"]);
  // What waits is asked in turn, and each name once.
  while (fixture.asked.length < 4) {
    answers[fixture.asked.length - 1]!.resolve(undefined);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  answers[3]!.resolve(undefined);
  await fixture.operator.shutdown();
  assertEquals(fixture.asked, ["refresh team", "refresh team.a", "refresh team.b", "refresh team"]);
});

Deno.test("changes of a channel at once are written whole, in the order in which they came", async () => {
  await using fixture = await settingsFixture({
    config: { channels: { chat: GOOD } },
  });
  const results = await Promise.allSettled(
    Array.from(
      { length: 16 },
      (_, at) => fixture.set({ [at % 2 ? "nick" : "tokenFile"]: `/v${at}` }),
    ),
  );
  assertEquals(results.filter(({ status }) => status === "rejected"), []);
  const { nick, tokenFile } = JSON.parse(await fixture.home.read()).channels.chat;
  assertEquals([nick, tokenFile], ["/v15", "/v14"]);
  // Each was checked once: none had to be begun anew.
  assertEquals(fixture.asked.length, 16);
  const [more] = await Promise.allSettled(
    Array.from({ length: 17 }, () => fixture.set({ nick: "x" })).toReversed(),
  );
  assertEquals(more!.status === "rejected" && more!.reason.code, "overloaded");
});

Deno.test("the port changes of the WebSocket channel no more than its settings", async () => {
  const { default: manifest } = await import("../../../channels/websocket/manifest.ts");
  const websocket = {
    folder: "websocket",
    descriptor: manifest,
    runtime: { module: "test:/websocket/runtime.ts", exportName: "WebsocketChannel" },
  };
  await using fixture = await settingsFixture({ channels: [...testChannels(), websocket] });
  const name = "websocket";
  for (const values of [{ allowFrom: ["*"], token: TOKEN }, { websocketRequiresToken: false }]) {
    assertEquals((await refused(fixture, set(values, { name })))[0], "refused");
  }
  assertEquals((await refused(fixture, { op: "channels.disable", name }))[0], "refused");
  assertEquals(
    (await fixture.set({ streaming: false }, undefined, name)).configValues.streaming,
    false,
  );
  assertEquals(fixture.asked, []);
});

Deno.test("values that are too large are refused without being repeated", async () => {
  await using fixture = await settingsFixture();
  const wrong = [
    set({ nick: "x".repeat(300_000) }),
    set(Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`f${at}`, 1]))),
  ];
  for (const request of wrong) {
    assertEquals((await refused(fixture, request))[0], "too_large");
  }
});

Deno.test("set takes both spellings of a field, and keeps an edit that came while it was checked", async () => {
  const edits: string[] = [];
  await using fixture = await settingsFixture({
    config: { channels: { chat: { bot_token: "an-older-token" } } },
    validate() {
      const text = edits.shift();
      if (text !== undefined) Deno.writeTextFileSync(fixture.home.paths.configFile, text);
      return [];
    },
  });
  edits.push(JSON.stringify({ agent: { maxSteps: 9 }, channels: { chat: { nick: "other" } } }));
  const channel = await fixture.set({ server: "a.example", bot_token: TOKEN });
  assertEquals(channel.configValues.nick, "other");
  assertEquals(JSON.parse(await fixture.home.read()), {
    agent: { maxSteps: 9 },
    channels: { chat: { nick: "other", server: "a.example", botToken: TOKEN } },
  });
  // What was checked is what is written: the edit made another section of it.
  assertEquals(fixture.asked, ["validate chat", "validate chat"]);
});

Deno.test("set is no way to other keys of the configuration", async () => {
  await using fixture = await settingsFixture({ config: { channels: { chat: GOOD } } });
  for (const key of ["__proto__", "constructor", "accounts", "../team", "channels.team.server"]) {
    const values = JSON.parse(`{ ${JSON.stringify(key)}: { "enabled": true } }`);
    assertEquals((await refused(fixture, set(values)))[0], "invalid_request", key);
  }
  for (const name of ["__proto__", "constructor", "sendProgress", "", "chat.x", "allowFrom"]) {
    for (const op of ["channels.enable", "channels.disable"] as const) {
      assertEquals((await refused(fixture, { op, name }))[0], "not_found", name);
    }
    assertEquals((await refused(fixture, set({}, { name })))[0], "not_found", name);
  }
});

Deno.test("list shows what loaded last while the file is broken", async () => {
  await using fixture = await settingsFixture({ config: { channels: { chat: GOOD } } });
  const { home: { paths } } = fixture;
  await Deno.copyFile(paths.configFile, paths.lastGoodFile);
  await fixture.home.write("{ not json");
  assertEquals((await fixture.listing()).configValues.server, "irc.example");
  await Deno.remove(paths.lastGoodFile);
  assertEquals((await fixture.listing()).configValues.server, "");
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { withValue } from "../config/edit.ts";
import { examine } from "../settings/examine.ts";
import { loadConfig } from "../settings/load.ts";
import { saveConfig } from "../config/save.ts";
import { configSchema } from "../config/schema.ts";
import { tempHome } from "../config/testing/temp_home.ts";
import { ServiceError } from "../base/errors.ts";
import type { OperationResult } from "./operations.ts";
import { type UpkeepFixture, upkeepFixture } from "../authority/testing/upkeep_fixture.ts";
import type { SettingChange } from "../settings/setting_change.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const KEY = "sk-hunter2-hunter2";

const LOCAL = { type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" };

async function change(
  home: UpkeepFixture,
  changes: Record<string, unknown>,
): Promise<OperationResult<"settings.change">> {
  const list: SettingChange[] = Object.entries(changes).map(([path, value]) => ({ path, value }));
  return await home.ask({ op: "settings.change", changes: list as never });
}

async function get(home: UpkeepFixture): Promise<OperationResult<"settings.get">> {
  return await home.ask({ op: "settings.get" }, ["read"]);
}

async function fails(promise: Promise<unknown>, code: string): Promise<ServiceError> {
  const error = await assertRejects(() => promise, ServiceError);
  assertEquals([error.code, error.message.includes("hunter2")], [code, false], error.message);
  return error;
}

Deno.test("settings.get says of each key what stands there, where it comes from and what a change takes", async () => {
  await using home = await upkeepFixture({
    env: { WORDS: "be brief", OPENAI_API_KEY: KEY },
    config: {
      agent: { instructions: "${WORDS}", max_steps: 7 },
      providers: { a: { ...LOCAL, apiKey: KEY, headers: { "X-Team": KEY } } },
      channels: { telegram: { botPassage: KEY } },
    },
  });
  const view = await get(home);
  assertEquals([view.problems, view.waiting], [[], []]);
  assertEquals(JSON.stringify(view).includes("hunter2"), false);
  const byPath = new Map(view.settings.map((each) => [each.path, each]));
  const steps = byPath.get("agent.maxSteps")!;
  assertEquals([steps.value, steps.default, steps.takes, steps.source, steps.is_set], [
    7,
    50,
    "live",
    "file",
    true,
  ]);
  assertEquals(steps.description, "Model calls in one turn.");
  const words = byPath.get("agent.instructions")!;
  assertEquals([words.value, words.source], ["${WORDS}", "environment"]);
  const key = byPath.get("providers.a.apiKey")!;
  assertEquals([key.value, key.secret, key.is_set, key.default, key.editable], [
    "********",
    true,
    true,
    "",
    true,
  ]);
  assertEquals(byPath.get("providers.a.headers.X-Team")!.value, "********");
  const taken = byPath.get("providers.openai.apiKey")!;
  assertEquals([taken.value, taken.source], ["${OPENAI_API_KEY}", "environment"]);
  const websocket = byPath.get("channels.websocket.token")!;
  assertEquals([websocket.value, websocket.is_set, websocket.editable], ["", false, false]);
  const foreign = byPath.get("channels.telegram")!;
  assertEquals([foreign.value, foreign.secret, foreign.editable], ["********", true, false]);
  assertEquals(byPath.get("api.port")!.takes, "restart");
  assertEquals(byPath.get("agent.temperature")!.is_set, false);
});

Deno.test("settings.change writes all of it, keeps comments, and says what is in force", async () => {
  await using home = await upkeepFixture({
    config:
      '{\n  // mine\n  "agent": { "max_steps": 7 }, // steps\n  "odd": 1,\n  "log": { "level": "info" }\n}\n',
  });
  const answer = await change(home, {
    "agent.maxSteps": 8,
    "agent.instructions": "be brief",
    "log.level": "debug",
  });
  assertEquals(answer, {
    written: true,
    live: ["agent.maxSteps", "agent.instructions"],
    restart_required: { keys: ["log.level"], permissions: { added: [], removed: [] } },
  });
  assertEquals(
    await home.home.read(),
    '{\n  // mine\n  "agent": { "maxSteps": 8, "instructions": "be brief" }, // steps\n  "odd": 1,\n' +
      '  "log": { "level": "debug" }\n}\n',
  );
  assertEquals([home.running.agent.maxSteps, home.running.agent.instructions], [8, "be brief"]);
  assertEquals((await get(home)).waiting, ["log.level"]);
  assertEquals(await change(home, { "agent.max_steps": 8 }), {
    written: false,
    live: [],
    restart_required: null,
  });
  const cleared = await change(home, { "agent.maxSteps": null, "log.level": null });
  assertEquals(cleared.live.toSorted(), ["agent.maxSteps", "log.level"]);
  assertEquals(home.running.agent.maxSteps, 50);

  const records = await home.records("settings.");
  assertEquals(records.map(({ kind }) => kind), [
    "settings.change",
    "settings.change",
  ]);
  const [start] = records;
  assert(/^token:tok_/.test(String(start!.data.by)));
  assertEquals(start!.data.keys, ["agent.maxSteps", "agent.instructions", "log.level"]);
  assertEquals(JSON.stringify(records).includes("be brief"), false);
});

Deno.test("settings.change answers restart_required with the hosts that a provider would need", async () => {
  await using home = await upkeepFixture({
    config: { providers: { a: { ...LOCAL, model: "m" } }, agent: { model: "a/m" } },
  });
  const live = await change(home, { "agent.model": "a/other", "agent.temperature": 0.5 });
  assertEquals(live, {
    written: true,
    live: ["agent.model", "agent.temperature"],
    restart_required: null,
  });
  assertEquals(home.running.agent.model, "a/other");

  const answer = await change(home, {
    "providers.b": { ...LOCAL, baseUrl: "https://b.example/v1", apiKey: KEY },
    "agent.model": "b/m",
  });
  assertEquals([answer.written, answer.live], [true, []]);
  const { keys, permissions } = answer.restart_required!;
  assert(keys.includes("agent.model") && keys.includes("providers.b.baseUrl"), keys.join());
  assertEquals(permissions, {
    added: [{ kind: "net", value: "b.example:443", asked_by: "providers.b" }],
    removed: [],
  });
  assertEquals(home.running.agent.model, "a/other", "a host that it may not reach is not used");
  assertEquals(JSON.stringify([answer, home.logged, await home.records()]).includes(KEY), false);
  // Back again, nothing waits.
  const back = await change(home, { "agent.model": "a/other", "providers.b": null });
  assertEquals(back.restart_required, null);
});

Deno.test("settings.change keeps a secret that is sent blank, and null clears it (C11)", async () => {
  await using home = await upkeepFixture({
    config: { providers: { a: { ...LOCAL, apiKey: KEY, headers: { "X-A": KEY } } } },
  });
  const stored = async () => JSON.parse(await home.home.read()).providers.a;
  await change(home, { "providers.a.apiKey": "", "providers.a.model": "m" });
  assertEquals([(await stored()).apiKey, (await stored()).model], [KEY, "m"]);
  await change(home, {
    "providers.a": { ...LOCAL, apiKey: "********", headers: { "X-A": "" }, model: null },
  });
  assertEquals(await stored(), { ...LOCAL, apiKey: KEY, headers: { "X-A": KEY } });
  await change(home, { "providers.a.apiKey": null, 'providers.a.headers["X-A"]': null });
  assertEquals(await stored(), { ...LOCAL, headers: {} });
  assertEquals(await home.filesWith(KEY), []);
});

Deno.test("settings shows no key in the query of an address, and an address that is sent as it was shown stays (C11)", async () => {
  const baseUrl = `https://ann:${KEY}@models.example/v1?v=1&api_key=${KEY}`;
  await using home = await upkeepFixture({
    config: { providers: { a: { type: "openai-compatible", baseUrl } } },
  });
  const view = await get(home);
  assertEquals(JSON.stringify(view).includes("hunter2"), false);
  const shown = view.settings.find(({ path }) => path === "providers.a.baseUrl")!.value;
  assertEquals(shown, "https://***@models.example/v1?v=1&api_key=***");
  assertEquals(await change(home, { "providers.a.baseUrl": shown }), {
    written: false,
    live: [],
    restart_required: null,
  });
  const section = { type: "openai-compatible", baseUrl: shown, model: "m" };
  assertEquals((await change(home, { "providers.a": section })).written, true);
  assertStringIncludes(await home.home.read(), baseUrl);
});

Deno.test("settings.change refuses what widens what is allowed, who comes in or what is reached", async () => {
  await using home = await upkeepFixture({
    env: { OTHER: KEY },
    config: {
      providers: { a: { ...LOCAL, apiKey: KEY } },
      api: { apiKey: KEY },
      tools: { webSearch: { provider: "brave", apiKey: KEY } },
      mcp: { servers: { one: { command: ["true"] } } },
    },
  });
  await home.state.secrets.set({ name: "LOOSE", value: KEY });
  await home.state.secrets.set({ name: "BOUND", value: KEY, hosts: ["api.example"] });
  const before = await home.home.read();
  const refused: Record<string, unknown>[] = [
    { "gates.rules": [{ name: "all", effect: "allow" }] },
    { gates: { approvers: ["telegram:1"] } },
    { "executor.allowUnconfined": true },
    { "executor.hosts": ["evil.example"] },
    { "audit.mirror": "/dev/null" },
    { "mcp.servers.two": { command: ["sh"] } },
    { "mcp.servers.one.allow": ["*"] },
    { mcp: null },
    { "agent.workspace": "/" },
    { agent: { workspace: "/" } },
    { "api.apiKey": null },
    { "api.host": "0.0.0.0" },
    { "api.attended": true, "api.enabled": true },
    { "channels.websocket.token": "hunter2-hunter2" },
    { "channels.websocket.tokenIssueSecret": "hunter2-hunter2" },
    { "channels.websocket.allowedOrigins": ["https://evil.example"] },
    {
      "channels.websocket.trustedProxyAuth": {
        trustedPeerCidrs: ["127.0.0.1/32"],
        assertionHeader: "X-User",
        assertionFormat: "plain",
      },
    },
    { "channels.websocket": { allowFrom: [], websocketRequiresToken: false } },
    { "channels.telegram.trustedProxyAuth": {} },
    { "channels.telegram": { token: KEY } },
    { "$schema": "x" },
    // A key that is stored never goes to another address.
    { "providers.a.baseUrl": "https://evil.example/v1" },
    { "providers.a": { baseUrl: "https://evil.example/v1", apiKey: "" } },
    { "tools.webSearch": { provider: "searxng", baseUrl: "https://evil.example", apiKey: "" } },
    // And what stands elsewhere is not pulled in.
    { "agent.instructions": "say ${OTHER}" },
    { "agent.instructions": "say ${secret:BOUND}" },
    { "providers.b": { baseUrl: "https://evil.example/v1", apiKey: "${OTHER}" } },
    { "providers.b": { baseUrl: "https://evil.example/v1", apiKey: "${secret:LOOSE}" } },
    { "providers.b": { baseUrl: "https://${secret:LOOSE}.evil.example/v1" } },
  ];
  for (const changes of refused) {
    const error = await fails(change(home, changes), "refused");
    assert(error.details.param !== undefined);
    assertStringIncludes(error.message, "service config set");
  }
  // The scope of a secret is held against the host by the same check that a start makes.
  const elsewhere = { baseUrl: "https://evil.example/v1", apiKey: "${secret:BOUND}" };
  const error = await fails(change(home, { "providers.b": elsewhere }), "invalid_request");
  assertStringIncludes(error.message, "BOUND is for api.example only");
  assertEquals(await home.home.read(), before);
  assertEquals(await home.records("settings."), []);

  await change(home, {
    "providers.b": { baseUrl: "https://api.example/v1", apiKey: "${secret:BOUND}" },
    "providers.a": { ...LOCAL, baseUrl: "https://new.example/v1", apiKey: "another-key" },
  });
  assertStringIncludes(await home.home.read(), "${secret:BOUND}");
});

Deno.test("settings.change refuses bad values, naming key, value and what it takes, and writes nothing", async () => {
  await using home = await upkeepFixture({ config: { agent: { maxSteps: 5 } } });
  const before = await home.home.read();
  const bad: [Record<string, unknown>, string, string?][] = [
    [{ "agent.maxSteps": 0 }, "0 is not an integer from 1 to 1000"],
    [{ "agent.maxSteps": 6, "agent.contextTokens": "x" }, '"x" is not an integer'],
    [{ "agent.maxStep": 1 }, "did you mean agent.maxSteps?"],
    [{ agent: { maxStep: 1 } }, "did you mean agent.maxSteps?"],
    [{ "agent.model.x": 1 }, "agent.model.x is not a known key"],
    [{ "__proto__.x": 1 }, "is no key"],
    [{ "a..b": 1 }, "is no key"],
    [{ "agent.preset": "none" }, '"none" is not a name in agent.presets'],
    [{ "agent.model": "openai/gpt" }, "there are no providers", "agent.model"],
    [{ "agent.model": "gone/gpt" }, 'names the provider "gone"'],
    [{ "agent.fallbacks": ["openai/x"] }, "there are no providers", "agent.fallbacks[0]"],
    [{ "agent": { maxSteps: 3 }, "agent.maxSteps": 4 }, "changes of the same key"],
    [{ "agent.fallbacks[0]": "offline" }, "Cannot set agent.fallbacks[0]"],
    [{ "agent": 5 }, "agent"],
    [{ "providers": [] }, "providers"],
    [{ "providers.My": {} }, "the name is not a provider's name"],
    [{ "providers.a.apiKey": [KEY] }, "providers.a.apiKey"],
  ];
  for (const [changes, message, param] of bad) {
    const error = await fails(change(home, changes), "invalid_request");
    assertStringIncludes(error.message, message);
    if (param !== undefined) assertEquals(error.details.param, param);
  }
  assertEquals(await home.home.read(), before);
  assertEquals([home.running.agent.maxSteps, await home.records("settings.")], [5, []]);
});

Deno.test("settings.change loses no update of the command line that comes between, nor the other way round", async () => {
  await using home = await upkeepFixture({ config: { agent: { maxSteps: 1 } } });
  const { paths, env } = home.home;
  /** What `service config set` does, again until it gets through. */
  const set = async (key: string, value: unknown) => {
    while (true) {
      const before = await home.home.read();
      const { canonical } = examine({ text: before, paths, env });
      try {
        return await saveConfig({
          paths,
          before,
          value: withValue(canonical, ["agent", "presets", key], value) as Record<string, unknown>,
        });
      } catch (error) {
        // Who waits for the file for too long is told so, too.
        if ((error as ServiceError).code === "overloaded") continue;
        assertStringIncludes(String(error), "changed by somebody else");
      }
    }
  };
  const names = Array.from({ length: 5 }, (_, at) => `p${at}`);
  await Promise.all([
    ...names.map((name) => set(name, { model: "offline" })),
    ...names.slice(0, 3).map(async (name, at) => {
      while (true) {
        try {
          return await change(home, { [`agent.presets.web-${name}`]: { model: "offline" } });
        } catch (error) {
          assertEquals((error as ServiceError).code, "overloaded", `${at}`);
        }
      }
    }),
  ]);
  const { agent } = JSON.parse(await home.home.read());
  assertEquals(
    Object.keys(agent.presets).toSorted(),
    [...names, ...names.slice(0, 3).map((name) => `web-${name}`)].toSorted(),
  );
  // One record of each change, and of each that somebody else was faster than.
  const kinds = (await home.records("settings.")).map(({ kind }) => kind);
  const failed = kinds.filter((kind) => kind === "settings.failed").length;
  assertEquals(kinds.length - 2 * failed, 3);
});

Deno.test("settings of a file that broke on the disk: what loaded last is shown, and nothing is written over it", async () => {
  await using home = await upkeepFixture({
    env: { WORDS: "hunter2" },
    config: { agent: { maxSteps: 7, instructions: "${WORDS}" } },
  });
  for (
    const broken of [
      '{ "agent": { "maxSteps": 8 ',
      '{ "agent": { "maxSteps": 1, "max_steps": 2 } }',
      '{ "agent": { "maxSteps": "many" } }',
      '{ "providers": { "a": { "apiKey": "${GONE}" } } }',
      "[]",
      "\ufeff{}{}",
      "",
    ]
  ) {
    await home.home.write(broken);
    const view = await get(home);
    assert(view.problems.length > 0, broken);
    const shown = (path: string) => view.settings.find((each) => each.path === path)!.value;
    assertEquals([shown("agent.maxSteps"), shown("agent.instructions")], [7, "${WORDS}"]);
    await fails(change(home, { "agent.maxSteps": 9 }), "invalid_request");
    assertEquals(await home.home.read(), broken);
  }
  await Deno.writeFile(home.home.paths.configFile, new Uint8Array([0xff, 0xfe]));
  assert((await get(home)).problems.length > 0);
  await fails(change(home, { "agent.maxSteps": 9 }), "invalid_request");
  await Deno.remove(home.home.paths.configFile);
  assertEquals((await change(home, { "agent.maxSteps": 9 })).live, ["agent.maxSteps"]);
});

Deno.test("settings.change is on record after kill -9 as soon as the file is written", async () => {
  await using home = await tempHome();
  await home.write({ agent: { maxSteps: 5 } });
  const script =
    new URL("../authority/testing/change_settings_process.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--cached-only", ...lockedFlags(), "--no-check", script, home.root, "6"],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assertEquals(new TextDecoder().decode(value).trim(), "written");
  child.kill("SIGKILL");
  await reader.cancel();
  await child.status;

  await using after = await upkeepFixture({ home });
  assertEquals([JSON.parse(await home.read()), after.running.agent.maxSteps], [
    { agent: { maxSteps: 6 } },
    6,
  ]);
  const records = await after.records("settings.");
  assertEquals(records.map(({ kind, data }) => [kind, data.keys]), [
    ["settings.change", ["agent.maxSteps"]],
  ]);
  assertEquals((await after.ask({ op: "audit.verify" })).ok, true);
  // No lock is left, and no half of a file.
  assertEquals((await change(after, { "agent.maxSteps": 7 })).live, ["agent.maxSteps"]);
  const files = [...Deno.readDirSync(home.paths.home)].map(({ name }) => name);
  assertEquals(files.filter((name) => name.endsWith(".tmp")), []);
});

Deno.test("settings.change writes nothing when that cannot be on record", async () => {
  await using home = await upkeepFixture({
    config: { agent: { maxSteps: 5 } },
    deps: () => ({
      audit: {
        append: () => Promise.reject(new ServiceError("audit_unavailable", "the disk is full")),
        digest: () => "0",
      },
    }),
  });
  const before = await home.home.read();
  await fails(change(home, { "agent.maxSteps": 6 }), "audit_unavailable");
  assertEquals(await home.home.read(), before);
});

Deno.test("settings.change without a watching service says that all of it waits for a start", async () => {
  await using home = await upkeepFixture({ config: {}, watch: false });
  const answer = await change(home, { "agent.maxSteps": 6 });
  assertEquals([answer.live, answer.restart_required!.keys], [[], ["agent.maxSteps"]]);
});

Deno.test("W11 a key of yesterday in the file stops neither a start nor a change of another", async () => {
  await using home = await upkeepFixture({
    config: { agent: { maxSteps: 5, turboMode: true }, telemetry: { on: false } },
  });
  await change(home, { "agent.maxSteps": 6 });
  const file = JSON.parse(await home.home.read());
  assertEquals(file, { agent: { maxSteps: 6, turboMode: true }, telemetry: { on: false } });
  const { config, warnings } = await loadConfig(home.home);
  assertEquals([config.agent.maxSteps, warnings.length], [6, 2]);
  const view = await get(home);
  assertEquals(view.problems, []);
  assertEquals(view.settings.find(({ path }) => path === "telemetry")!.editable, false);
  assertEquals(configSchema.parse(file).agent.maxSteps, 6);
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { loadConfig } from "./load.ts";
import { configSchema } from "../config/schema.ts";
import { type TempHome, tempHome } from "../config/testing/temp_home.ts";

async function message(home: TempHome, options = {}): Promise<string> {
  const error = await assertRejects(() => loadConfig({ ...home, ...options }), ServiceError);
  assertEquals(error.code, "config_invalid");
  return error.message;
}

Deno.test("loadConfig() gives the defaults when there is no file, and writes nothing", async () => {
  await using home = await tempHome();
  const loaded = await loadConfig(home);
  const defaults = configSchema.parse({});
  defaults.agent.workspace = home.paths.workspace;
  assertEquals(loaded.config, defaults);
  assertEquals([loaded.source, loaded.warnings], ["defaults", []]);
  assertEquals([...Deno.readDirSync(home.paths.home)], []);
});

Deno.test("loadConfig() wants a file that --config or SERVICE_CONFIG names", async () => {
  await using flag = await tempHome({}, "nowhere.json");
  assertStringIncludes(await message(flag), "nowhere.json, which --config names");
  await using variable = await tempHome({ SERVICE_CONFIG: "/nowhere.json" });
  assertStringIncludes(await message(variable), "/nowhere.json, which SERVICE_CONFIG names");
});

Deno.test("loadConfig() reads camelCase, snake_case and comments, and leaves names alone", async () => {
  await using home = await tempHome();
  await home.write(`{
    // both spellings, one file
    "agent": { "max_steps": 7, "turnTimeoutS": 60, "presets": { "fast_one": {
      "model": "my_server/a_b", "max_output_tokens": 5 } } },
    "providers": { "my_server": { "base_url": "http://127.0.0.1:1/v1",
      "headers": { "x_a": "1" } } },
    "mcp": { "servers": { "a-b": { "command": ["x"], "timeout_s": 5, "env": { "x_a": "1" } } } },
  }`);
  const { config, warnings, source } = await loadConfig(home);
  assertEquals([warnings, source], [[], "file"]);
  assertEquals([config.agent.maxSteps, config.agent.turnTimeoutS], [7, 60]);
  assertEquals(config.agent.presets, {
    fast_one: { model: "my_server/a_b", maxOutputTokens: 5 },
  });
  assertEquals(config.providers.my_server!.baseUrl, "http://127.0.0.1:1/v1");
  assertEquals(config.providers.my_server!.headers, { x_a: "1" });
  assertEquals(config.mcp.servers["a-b"]!.timeoutS, 5);
  assertEquals(config.mcp.servers["a-b"]!.env, { x_a: "1" });
});

Deno.test("loadConfig() refuses both spellings of one key, naming both", async () => {
  await using home = await tempHome();
  await home.write({ agent: { maxSteps: 1, max_steps: 2 } });
  assertStringIncludes(
    await message(home),
    'agent.maxSteps (line 3): stands there twice, as "maxSteps" and as "max_steps"',
  );
});

Deno.test("loadConfig() takes message targets, and refuses an entry that is none, naming it", async () => {
  await using home = await tempHome({ CHAT: "12345", BAD: "not a target" });
  const good = ["telegram:${CHAT}", "telegram.work:*", "matrix:!a:example.org", "irc:#ops"];
  await home.write({ gates: { message_targets: good } });
  assertEquals((await loadConfig(home)).config.gates.messageTargets, [
    "telegram:12345",
    ...good.slice(1),
  ]);
  const wanted = "is not <channel>:<chat_id> or <channel>:*, such as telegram:12345";
  for (
    const bad of [
      "",
      "telegram",
      "telegram:",
      ":12345",
      "*:*",
      "*",
      "google-chat:1",
      "Télégram:1",
      "telegram:a\nb",
      "telegram:\u202e1",
      "${BAD}",
    ]
  ) {
    await home.write({ gates: { messageTargets: ["telegram:1", bad] } });
    const text = await message(home);
    assertStringIncludes(text, `gates.messageTargets[1]`);
    assertStringIncludes(text, `: ${JSON.stringify(bad)} ${wanted}`);
    assertEquals(text.includes("not a target"), false);
  }
  await home.write({ gates: { messageTargets: ["telegram:1", 12345] } });
  assertStringIncludes(await message(home), "gates.messageTargets[1] (line 5): 12345 is not text");
  await home.write({ gates: { messageTargets: "telegram:1" } });
  assertStringIncludes(await message(home), "the text that is there is not a list of texts");
});

Deno.test("loadConfig() names every problem at once, each with path, line, value and range", async () => {
  await using home = await tempHome();
  await home.write(`{
  "agent": { "maxSteps": 0, "temperature": "hot", "fallbacks": ["offline", "x/y"] },
  "api": { "port": 70000, "enabled": "yes", "timeoutS": null },
  "gates": { "approvalTimeout": 5 },
  "log": { "level": "loud" },
  "providers": { "Mine": {}, "p": { "baseUrl": "ftp://x" } },
  "executor": []
}`);
  const text = await message(home);
  assertEquals(text.split("\n  "), [
    `Cannot load ${home.paths.configFile}: 10 problems`,
    "agent.maxSteps (line 2): 0 is not an integer from 1 to 1000",
    'agent.temperature (line 2): "hot" is not a number from 0 to 2',
    "api.port (line 3): 70000 is not an integer from 0 to 65535",
    'api.enabled (line 3): "yes" is not true or false',
    "api.timeoutS (line 3): null is not a number from 1 to 86400",
    "gates.approvalTimeout (line 4): is not a known key; did you mean gates.approvalTimeoutS?",
    'log.level (line 5): "loud" is not one of "debug", "info", "warning", "error"',
    "providers.Mine (line 6): the name is not a provider's name: a-z, 0-9, _ and -",
    'providers.p.baseUrl (line 6): "ftp://x" is not an address that begins with http:// or https://',
    "executor (line 7): a list is not an object in braces",
  ]);
});

Deno.test("loadConfig() says line and column of a syntax error", async () => {
  await using home = await tempHome();
  await home.write('{\n  "agent": {\n  "model" "x" }\n}');
  assertEquals(
    await message(home),
    `Cannot load ${home.paths.configFile}: line 3: column 11: ` +
      'expected ":" after "model", found "\\""',
  );
  await home.write("[]");
  assertStringIncludes(await message(home), "the file does not hold an object in braces");
});

Deno.test("loadConfig() shows no secret in a message, wherever it was put", async () => {
  await using home = await tempHome({ KEY: "sk-env-secret", URL: "sk-env-url" });
  await home.write({
    api: { apiKey: ["sk-list-secret"] },
    providers: {
      openai: "sk-section-secret",
      b: { headers: "sk-headers-secret" },
      c: { baseUrl: "${URL}", headers: { a: 4711 } },
      d: { baseUrl: "ldap://me:sk-user-secret@host" },
      e: { type: "${KEY}" },
    },
    agent: { presets: ["sk-preset-secret"] },
    gates: "sk-gates-secret",
  });
  const text = await message(home);
  assertEquals(text.match(/sk-[a-z-]*/g), null, text);
  assertEquals(text.includes("4711"), false);
  assertStringIncludes(text, 'providers.c.baseUrl (line 13): "${URL}" is not an address');
  assertStringIncludes(text, '"ldap://***@host"');
});

Deno.test("loadConfig() replaces references", async () => {
  await using home = await tempHome({ KEY: "sk-1", HOST: "localhost", EMPTY: "" });
  await home.write({
    providers: { a: { apiKey: "${KEY}", baseUrl: "http://${HOST}:1/v1", model: "${EMPTY}m" } },
    agent: { instructions: "Costs $5, $${KEY} and $HOME stay" },
    channels: { other: { list: ["${KEY}"] } },
  });
  const { config } = await loadConfig(home);
  assertEquals(config.providers.a, {
    apiKey: "sk-1",
    baseUrl: "http://localhost:1/v1",
    model: "m",
    headers: {},
  });
  assertEquals(config.agent.instructions, "Costs $5, ${KEY} and $HOME stay");
  assertEquals(config.channels["other"], { list: ["sk-1"] });
});

Deno.test("loadConfig() names the key and the variable of a reference that cannot be replaced", async () => {
  await using home = await tempHome({ EMPTY: "" });
  await home.write({
    providers: { a: { apiKey: "${MISSING}", baseUrl: "${ALSO_MISSING}" } },
    api: { apiKey: "${EMPTY}", allowedHosts: ["${ oops }"] },
  });
  assertEquals((await message(home)).split("\n  ").slice(1), [
    "providers.a.apiKey (line 4): the environment variable MISSING is not set",
    "providers.a.baseUrl (line 5): the environment variable ALSO_MISSING is not set",
    "api.apiKey (line 9): the environment variable EMPTY is empty",
    'api.allowedHosts[0] (line 11): "${" begins no reference such as ${NAME} or ${secret:NAME}; ' +
    "for the characters, write $${",
  ]);
});

Deno.test("loadConfig() warns of unknown keys with the nearest known one, and keeps them", async () => {
  await using home = await tempHome();
  await home.write({
    agnet: {},
    agent: { maxStep: 3, zzz: 1 },
    channels: { sendProgres: true, telegram: { token: "x" }, websocket: { port: 1 } },
  });
  const { warnings, config } = await loadConfig(home);
  assertEquals(warnings, [
    "agnet (line 2): is not a known key; did you mean agent?",
    "agent.maxStep (line 4): is not a known key; did you mean agent.maxSteps?",
    "agent.zzz (line 5): is not a known key",
    "channels.sendProgres (line 8): is not a known key; did you mean channels.sendProgress?",
  ]);
  assertEquals(config.channels["telegram"], { token: "x" });
});

for (
  const config of [
    { gates: { x: 1 } },
    { executor: { allow_unconfined: true, x: 1 } },
    { channels: { websocket: { trustedProxyAuth: { x: 1 } } } },
    { channels: { websocket: { trusted_proxy_auth: { x: 1 } } } },
  ]
) {
  Deno.test(`loadConfig() refuses an unknown key in ${JSON.stringify(config)}`, async () => {
    await using home = await tempHome();
    await home.write(config);
    assertStringIncludes(await message(home), "x (line");
  });
}

Deno.test("loadConfig() keeps a copy of what loaded, references unresolved, mode 0600", async () => {
  await using home = await tempHome({ KEY: "sk-1" });
  const text = '{ "api": { "apiKey": "${KEY}" } } // mine\n';
  await home.write(text);
  await loadConfig(home);
  const { lastGoodFile } = home.paths;
  assertEquals(await Deno.readTextFile(lastGoodFile), text);
  assertEquals((await Deno.stat(lastGoodFile)).mode! & 0o777, 0o600);

  const { ino } = await Deno.stat(lastGoodFile);
  await loadConfig(home);
  assertEquals((await Deno.stat(lastGoodFile)).ino, ino, "the same text is not written again");

  await home.write({ api: { port: -1 } });
  assertStringIncludes(await message(home), "add --last-good");
  assertEquals(await Deno.readTextFile(lastGoodFile), text, "a broken file is not kept");

  const kept = await loadConfig({ ...home, lastGood: true });
  assertEquals([kept.config.api.apiKey, kept.source], ["sk-1", "last-good"]);

  await home.write({ api: { port: 1 } });
  await loadConfig({ ...home, keepLastGood: false });
  assertEquals(await Deno.readTextFile(lastGoodFile), text);
});

Deno.test("loadConfig() says that nothing was kept yet when --last-good finds nothing", async () => {
  await using home = await tempHome();
  assertStringIncludes(await message(home, { lastGood: true }), "no configuration has loaded yet");
});

Deno.test("loadConfig() loads and warns when the copy cannot be written", async () => {
  await using home = await tempHome();
  await home.write({});
  await Deno.mkdir(home.paths.lastGoodFile);
  const { warnings } = await loadConfig(home);
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0]!, "Cannot keep a copy of the configuration");
});

Deno.test("loadConfig() warns of a secret in a file that others can read", async () => {
  await using home = await tempHome({ KEY: "k" });
  await home.write({ api: { apiKey: "sk-literal" } });
  assertEquals((await loadConfig(home)).warnings, []);
  await Deno.chmod(home.paths.configFile, 0o644);
  const [warning] = (await loadConfig(home)).warnings;
  assertStringIncludes(warning!, "holds a secret and can be read by others (mode 644)");
  await home.write({ api: { apiKey: "${KEY}" } });
  assertEquals((await loadConfig(home)).warnings, []);
});

Deno.test("loadConfig() refuses a folder, bytes that are no UTF-8, and a file without end", async () => {
  await using home = await tempHome();
  await Deno.mkdir(home.paths.configFile);
  assertStringIncludes(await message(home), `Cannot read ${home.paths.configFile}: `);
  await Deno.remove(home.paths.configFile);
  await Deno.writeFile(home.paths.configFile, new Uint8Array([0x7b, 0xff, 0x7d]));
  assertStringIncludes(await message(home), "it is no UTF-8 text");
  const endless = await tempHome({ SERVICE_CONFIG: "/dev/zero" });
  await using _ = endless;
  assertStringIncludes(await message(endless), "it has more than 1000000 bytes");
});

Deno.test("loadConfig() has the providers of the environment behind those of the file", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-2" });
  await home.write({ providers: { local: { baseUrl: "http://127.0.0.1:1" } } });
  const { config } = await loadConfig(home);
  assertEquals(Object.keys(config.providers), ["local", "openai", "anthropic"]);
  assert(!(await home.read()).includes("sk-1"));
});

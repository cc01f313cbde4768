import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { testChannel, testRegistry } from "../../lib/registry/testing/test_registry.ts";
import { testDescriptor } from "../../lib/channel/setup/testing/test_descriptor.ts";
import { loadConfig } from "../../lib/settings/load.ts";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT } from "../command.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import command, { runConfig } from "./config.ts";

/** Runs a command line in a home. */
async function run(home: TempHome, line: string[], stdin = "") {
  const { out, stdout, stderr } = memoryOutput();
  const parsed = parseCommand("config", command, parseHead(["config", ...line]));
  const exit = await runConfig({ ...parsed, out }, {
    paths: home.paths,
    env: home.env,
    lastGood: parsed.globals.lastGood,
    channels: () => Promise.resolve(testRegistry([testChannel(testDescriptor())])),
    stdin: { readable: new Blob([stdin]).stream(), isTerminal: () => false },
  });
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

function fails(home: TempHome, line: string[], code: string): Promise<string> {
  return assertRejects(() => run(home, line), ServiceError).then((error) => {
    assertEquals(error.code, code);
    return error.message;
  });
}

Deno.test("config get prints what is in force, without secrets", async () => {
  await using home = await tempHome({ KEY: "sk-1" });
  await home.write({
    api: { apiKey: "${KEY}" },
    agent: { model: "a/b" },
    providers: { a: { apiKey: "sk-literal", baseUrl: "${NOT_SET_HERE}" } },
  });
  assertEquals((await run(home, ["get", "agent.model"])).stdout, "a/b\n");
  assertEquals((await run(home, ["get", "agent.max_steps"])).stdout, "50\n");
  assertEquals((await run(home, ["get", "api.apiKey"])).stdout, "${KEY}\n");
  assertEquals((await run(home, ["get", "providers.a.apiKey"])).stdout, "********\n");
  const whole = (await run(home, ["get"])).stdout;
  assertEquals(/sk-/.test(whole), false);
  assertEquals(JSON.parse(whole), JSON.parse((await run(home, ["--json"])).stdout));
});

Deno.test("config get says what is not set, and suggests for an unknown key", async () => {
  await using home = await tempHome();
  const unset = await run(home, ["get", "agent.temperature"]);
  assertEquals([unset.exit, unset.stdout, unset.stderr], [
    EXIT.done,
    "",
    "agent.temperature is not set\n",
  ]);
  assertEquals((await run(home, ["get", "agent.temperature", "--json"])).stdout, "null\n");
  assertStringIncludes(
    await fails(home, ["get", "api.prot"], "usage"),
    "api.prot is not a known key; did you mean api.port?",
  );
  assertStringIncludes(await fails(home, ["get", "a..b"], "usage"), '"a..b" is no key');
});

Deno.test("config get reads an unknown key that the file has, and the last good copy", async () => {
  await using home = await tempHome();
  await home.write({ mine: { x: [1] } });
  assertEquals((await run(home, ["get", "mine.x[0]"])).stdout, "1\n");
  await loadConfig(home);
  await home.write({ api: { port: "x" } });
  await fails(home, ["get"], "config_invalid");
  assertEquals((await run(home, ["get", "mine", "--json", "--last-good"])).stdout, '{"x":[1]}\n');
});

Deno.test("config set writes a text as it is, and anything else as JSON", async () => {
  await using home = await tempHome();
  await run(home, ["set", "agent.instructions", "123"]);
  await run(home, ["set", "api.port", "8901"]);
  await run(home, ["set", "agent.fallbacks", '["offline"]']);
  await run(home, ["set", "providers.mine.base_url", "http://127.0.0.1:1/v1"]);
  await run(home, ["set", "log.level", "debug"]);
  await run(home, ["set", 'providers.mine.headers["X-A.B"]', "1"]);
  assertEquals(JSON.parse(await home.read()), {
    agent: { instructions: "123", fallbacks: ["offline"] },
    api: { port: 8901 },
    providers: { mine: { baseUrl: "http://127.0.0.1:1/v1", headers: { "X-A.B": "1" } } },
    log: { level: "debug" },
  });
  assertEquals((await Deno.stat(home.paths.configFile)).mode! & 0o777, 0o600);
});

Deno.test("config set leaves comments, unknown keys and references as they are", async () => {
  await using home = await tempHome({ KEY: "sk-1" });
  await home.write(
    '{\n  // mine\n  "later": 1,\n  "api": { "api_key": "${KEY}" }, // key\n' +
      '  "agent": { "max_steps": 5 }\n}\n',
  );
  const { stderr } = await run(home, ["set", "agent.maxSteps", "6"]);
  assertEquals(
    await home.read(),
    '{\n  // mine\n  "later": 1,\n  "api": { "apiKey": "${KEY}" }, // key\n' +
      '  "agent": { "maxSteps": 6 }\n}\n',
  );
  assertEquals(stderr, `agent.maxSteps is set in ${home.paths.configFile}\n`);
});

Deno.test("config set writes nothing when the whole would be bad", async () => {
  await using home = await tempHome();
  await home.write({ api: { host: "::", apiKey: "k" } });
  const before = await home.read();
  for (
    const [key, value, reason] of [
      ["api.port", "70000", "70000 is not an integer from 0 to 65535"],
      ["api.port", "many", '"many" is not an integer from 0 to 65535'],
      ["api.enabled", "null", "null is not true or false"],
      ["api.apiKey", "", '"::" can be reached from other machines'],
      ["agent.preset", "none", '"none" is not a name in agent.presets'],
      ["agent.workspace", "~", "contains the service's data folder"],
      ["api.apiKey", "${NOT_SET}", "the environment variable NOT_SET is not set"],
      ["providers.My", "{}", "the name is not a provider's name"],
    ] as const
  ) {
    const message = await fails(home, ["set", key, value], "config_invalid");
    assertStringIncludes(message, reason);
    assertStringIncludes(message, "Nothing was written");
  }
  assertEquals(await home.read(), before);
});

Deno.test("config set refuses an unknown key, on the way and inside of a section", async () => {
  await using home = await tempHome();
  for (
    const [key, value, reason] of [
      ["agent.maxStep", "3", "agent.maxStep is not a known key; did you mean agent.maxSteps?"],
      ["agnet.model", "a/b", "agnet is not a known key; did you mean agent?"],
      ["agent", '{"modle":"offline"}', "agent.modle is not a known key; did you mean agent.model?"],
      ["channels.sendProgres", "true", "did you mean channels.sendProgress?"],
      ["agent.model.x", "1", "agent.model.x is not a known key"],
      ["__proto__.x", "1", "is no key"],
    ] as const
  ) {
    assertStringIncludes(await fails(home, ["set", key, value], "usage"), reason);
  }
  assertEquals([...Deno.readDirSync(home.paths.home)], []);
  await run(home, ["set", "channels.telegram.token", "text"]);
  assertEquals(JSON.parse(await home.read()), { channels: { telegram: { token: "text" } } });
});

Deno.test("config set --unset takes a key out, known or not", async () => {
  await using home = await tempHome();
  await home.write({ agent: { temperature: 1, model: "offline" }, odd: 1 });
  await run(home, ["set", "--unset", "agent.temperature"]);
  const { stderr } = await run(home, ["set", "odd", "--unset"]);
  assertEquals(JSON.parse(await home.read()), { agent: { model: "offline" } });
  assertStringIncludes(stderr, "odd is no longer set");
  assertStringIncludes(await fails(home, ["set", "a", "b", "--unset"], "usage"), "no value");
  assertStringIncludes(await fails(home, ["set", "agent.model"], "usage"), "needs a value");
});

Deno.test("config set reads a secret from standard input, and warns of one that is typed", async () => {
  await using home = await tempHome({ KEY: "sk-1" });
  const piped = await run(home, ["set", "api.apiKey", "-"], "sk-piped\n");
  assertEquals(JSON.parse(await home.read()).api.apiKey, "sk-piped");
  const typed = await run(home, ["set", "api.apiKey", "sk-typed", "--json"]);
  const referred = await run(home, ["set", "api.apiKey", "${KEY}"]);
  assertEquals(JSON.parse(await home.read()).api.apiKey, "${KEY}");
  assertStringIncludes(typed.stderr, "Shells keep what is typed in their history");
  for (const { stderr, stdout } of [piped, typed, referred]) {
    assert(!(stderr + stdout).includes("sk-"));
    assert(stderr === typed.stderr || !stderr.includes("history"));
  }
  assertEquals(JSON.parse(typed.stdout), {
    key: "api.apiKey",
    file: home.paths.configFile,
    written: true,
    changes: [{ path: "api.apiKey", takes: "restart" }],
  });
});

Deno.test("config set repairs a bad value, but not a file that cannot be read safely", async () => {
  await using home = await tempHome();
  await home.write({ api: { port: "x" } });
  await run(home, ["set", "api.port", "1"]);
  assertEquals(JSON.parse(await home.read()), { api: { port: 1 } });
  await home.write({ agent: { maxSteps: 1, max_steps: 2 } });
  assertStringIncludes(
    await fails(home, ["set", "api.port", "2"], "config_invalid"),
    "stands there twice",
  );
  await home.write("{");
  await fails(home, ["set", "api.port", "2"], "config_invalid");
  assertEquals(await home.read(), "{");
});

Deno.test("config set is not held up by a variable that is not set in this shell", async () => {
  await using home = await tempHome();
  await home.write({ providers: { a: { apiKey: "${ELSEWHERE}" } } });
  const { stderr } = await run(home, ["set", "agent.maxSteps", "3"]);
  assertStringIncludes(stderr, "the environment variable ELSEWHERE is not set");
  assertEquals(JSON.parse(await home.read()).agent, { maxSteps: 3 });
});

Deno.test("config check reports problems, warnings, and what changes take", async () => {
  await using home = await tempHome();
  await home.write({ agent: { maxSteps: 3 } });
  await loadConfig(home);
  await home.write({ agent: { maxSteps: 4 }, api: { port: 1 }, odd: 1 });
  const good = await run(home, ["check"]);
  assertEquals(good.exit, EXIT.done);
  assertEquals(good.stdout.split("\n"), [
    "warning  odd (line 8): is not a known key",
    "changed  agent.maxSteps: applies from the next turn",
    "changed  api.port: needs a restart",
    `${home.paths.configFile}: no problems, 1 warning`,
    "",
  ]);
  await home.write({ api: { port: "x", enabled: 1 } });
  const bad = await run(home, ["check"]);
  assertEquals(bad.exit, EXIT.config);
  assertStringIncludes(bad.stdout, 'problem  api.port (line 3): "x" is not an integer');
  assertStringIncludes(bad.stdout, "2 problems, no warnings");
  const { exit, stdout } = await run(home, ["check", "--json"]);
  const json = JSON.parse(stdout);
  assertEquals([exit, json.ok, json.changes], [EXIT.config, false, []]);
  assertEquals(json.problems[0], {
    path: "api.port",
    kind: "value",
    message: '"x" is not an integer from 0 to 65535',
    line: 3,
  });
});

Deno.test("config check is content with no file, and names a syntax error", async () => {
  await using home = await tempHome();
  assertStringIncludes((await run(home, ["check"])).stdout, "using the defaults: no problems");
  await home.write("{\n  oops }");
  const { exit, stdout } = await run(home, ["check"]);
  assertEquals(exit, EXIT.config);
  assertStringIncludes(stdout, "problem  line 2: column 3: expected a key in double quotes");
});

Deno.test("config path prints where the file is, whether it is there or not", async () => {
  await using home = await tempHome({ SERVICE_CONFIG: "c.json" });
  const { configFile: file, lastGoodFile } = home.paths;
  assertEquals((await run(home, ["path"])).stdout, `${file}\n`);
  assertEquals(JSON.parse((await run(home, ["path", "--json"])).stdout), {
    file,
    from: "SERVICE_CONFIG",
    exists: false,
    lastGoodFile,
    home: home.paths.home,
  });
});

Deno.test("config schema prints what stands in config.schema.json", async () => {
  await using home = await tempHome();
  const file = await Deno.readTextFile(new URL("../../config.schema.json", import.meta.url));
  assertEquals((await run(home, ["schema"])).stdout, file);
  assertEquals(JSON.parse((await run(home, ["schema", "--json"])).stdout), JSON.parse(file));
});

Deno.test("config set knows the fields of channels, in both spellings (C10, C12)", async () => {
  await using home = await tempHome();
  await home.write({ channels: { chat: { bot_token: "old-token-1", nick: "a" } } });
  const set = async (key: string, value: string) => await run(home, ["set", key, value]);
  await set("channels.chat.botToken", "12345678");
  await set("channels.chat.allow_from", "alice, bob");
  await set("channels.chat.rooms", '["#a"]');
  await set("channels.chat.port", "7000");
  await set("channels.chat.enabled", "true");
  assertEquals(JSON.parse(await home.read()).channels.chat, {
    botToken: "12345678",
    nick: "a",
    allowFrom: ["alice", "bob"],
    rooms: ["#a"],
    port: 7000,
    enabled: true,
  });
  const before = await home.read();
  const unknown = await assertRejects(() => set("channels.chat.nik", "b"), ServiceError);
  assertEquals(unknown.code, "usage");
  assertStringIncludes(unknown.message, "did you mean channels.chat.nick?");
  await assertRejects(() => set("channels.chat.enabled", "maybe"), ServiceError, "true or false");
  assertEquals(await home.read(), before);
});

Deno.test("config get hides the secrets of channels, and shows what only sounds like one (C11)", async () => {
  await using home = await tempHome();
  await home.write({ channels: { chat: { bot_token: "a-secret-token", tokenFile: "/run/t" } } });
  const { stdout } = await run(home, ["get", "channels.chat"]);
  assertEquals(JSON.parse(stdout), { bot_token: "********", tokenFile: "/run/t" });
});

Deno.test("config check warns of what keeps a channel from starting, and of that channel alone", async () => {
  await using home = await tempHome();
  await home.write({ channels: { chat: { enabled: true, port: 0, colour: "red" } } });
  const { exit, stdout } = await run(home, ["check"]);
  assertEquals(exit, EXIT.done);
  assertStringIncludes(stdout, "channels.chat: port is 0: expected an integer from 1 to 65535");
  assertStringIncludes(stdout, "server is not set");
  assertStringIncludes(stdout, "channels.chat.colour is no field");
});

Deno.test("config unset removes a key, and knows a misspelt one", async () => {
  await using home = await tempHome();
  await home.write({ agent: { maxSteps: 6, temperature: 1 }, mine: 1 });
  const { stderr } = await run(home, ["unset", "agent.temperature"]);
  assertStringIncludes(stderr, "agent.temperature is no longer set");
  await run(home, ["unset", "mine"]);
  assertEquals(JSON.parse(await home.read()), { agent: { maxSteps: 6 } });
  const again = await run(home, ["unset", "agent.temperature"]);
  assertEquals([again.exit, again.stderr], [
    EXIT.done,
    "agent.temperature isn't set; nothing was written\n",
  ]);
  assertStringIncludes(
    await fails(home, ["unset", "agent.temprature"], "usage"),
    "did you mean agent.temperature?",
  );
  await fails(home, ["check", "--unset"], "usage");
});

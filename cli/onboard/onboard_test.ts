import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import type { ChannelDefaults } from "./add_channels.ts";
import { createDialogue, DialogueEndedError } from "./dialogue.ts";
import { onboard } from "./onboard.ts";
import { printOnboarded } from "./print.ts";

/** A network on which only these addresses answer, each with models. */
function network(servers: Record<string, string[]> = {}): typeof fetch {
  return (input) => {
    const { origin } = new URL(String(input));
    const models = servers[origin];
    return models === undefined
      ? Promise.reject(new TypeError("connection refused"))
      : Promise.resolve(Response.json({ data: models.map((id) => ({ id })) }));
  };
}

const OLLAMA = "http://127.0.0.1:11434";

interface Run {
  servers?: Record<string, string[]>;
  /** Lines that the person types; without them it is --yes. */
  lines?: string[];
  force?: boolean;
  channels?: ChannelDefaults;
}

async function run(home: TempHome, { servers, lines, force = false, channels = {} }: Run = {}) {
  const { out, stdout, stderr } = memoryOutput();
  const readLine = () => Promise.resolve(lines!.shift());
  const dialogue = lines && createDialogue(out, { isTerminal: true, readLine });
  const failure = await onboard({ ...home, fetch: network(servers), force, dialogue, channels })
    .then(
      (done) => {
        printOnboarded(out, done, false);
        return undefined;
      },
      (error) => error,
    );
  if (lines !== undefined && failure === undefined) assertEquals(lines, [], "unread answers");
  return { failure, stdout: stdout.text, stderr: stderr.text };
}

async function ok(home: TempHome, options: Run = {}) {
  const { failure, stdout, stderr } = await run(home, options);
  if (failure !== undefined) throw failure;
  return { stdout, stderr, config: JSON.parse(await home.read()) };
}

Deno.test("onboard() --yes takes a key of the environment as a reference", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-2" });
  const { config, stdout } = await ok(home, { servers: { [OLLAMA]: ["qwen3"] } });
  assertEquals(config.providers, { openai: { apiKey: "${OPENAI_API_KEY}" } });
  assert(config.agent.model.startsWith("openai/"));
  assertStringIncludes(stdout, `Wrote ${home.paths.configFile}\n`);
  assertEquals((await Deno.stat(home.paths.configFile)).mode! & 0o777, 0o600);
});

Deno.test("onboard() --yes takes a model server of this machine when there is no key", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "" });
  const { config } = await ok(home, {
    servers: { "http://127.0.0.1:1234": [], [OLLAMA]: ["qwen3", "gemma"] },
  });
  assertEquals(config, {
    agent: { model: "ollama/qwen3" },
    providers: { ollama: { type: "openai-compatible", baseUrl: `${OLLAMA}/v1` } },
  });
});

Deno.test("onboard() --yes asks OPENAI_BASE_URL for its models", async () => {
  const variables = { OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: "http://gpu.example:8000/v1/" };
  await using home = await tempHome(variables);
  const { config } = await ok(home, { servers: { "http://gpu.example:8000": ["m"] } });
  assertEquals(config, {
    agent: { model: "openai/m" },
    providers: {
      openai: {
        type: "openai-compatible",
        baseUrl: "${OPENAI_BASE_URL}",
        apiKey: "${OPENAI_API_KEY}",
      },
    },
  });
  await using silent = await tempHome(variables);
  assertEquals((await ok(silent)).config, { agent: { model: "" } });
});

Deno.test("onboard() --yes falls back to the offline model, and says how to get another", async () => {
  await using home = await tempHome();
  const { config, stdout } = await ok(home);
  assertEquals(config, { agent: { model: "" } });
  assertStringIncludes(stdout, "Model: offline\n");
  assertStringIncludes(stdout, "For a real model, set OPENAI_API_KEY");
});

Deno.test("onboard() makes the workspace with a first AGENTS.md, once", async () => {
  await using home = await tempHome();
  const first = await ok(home);
  const file = `${home.paths.workspace}/AGENTS.md`;
  assertStringIncludes(first.stdout, `Workspace: ${home.paths.workspace} (new)\n`);
  assertStringIncludes(await Deno.readTextFile(file), "# About this folder");
  await Deno.remove(file);
  const second = await ok(home);
  assertStringIncludes(second.stdout, `Workspace: ${home.paths.workspace}\n`);
  await assertRejects(() => Deno.stat(file), Deno.errors.NotFound);
});

Deno.test("onboard() --yes keeps a configuration that is there, byte for byte", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "sk-1" });
  const text = '{ "agent": { "model": "offline" } } // mine\n';
  await home.write(text);
  const { stdout } = await run(home);
  assertEquals(await home.read(), text);
  assertStringIncludes(stdout, `Kept ${home.paths.configFile}; it has everything\n`);
});

Deno.test("onboard() --yes adds what a configuration lacks, and says so", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "sk-1" });
  await home.write(
    '{\n  // mine\n  "api": { "port": 1 },\n  "providers": { "openai": { "model": "m" } }\n}\n',
  );
  const { stdout } = await run(home);
  const text = await home.read();
  assertStringIncludes(text, '// mine\n  "api": { "port": 1 },\n');
  assertStringIncludes(
    text,
    '"providers": { "openai": { "model": "m", "apiKey": "${OPENAI_API_KEY}" } }',
  );
  assertStringIncludes(stdout, "and added providers.openai.apiKey, agent.model\n");
});

Deno.test("onboard() --yes leaves a broken configuration alone", async () => {
  await using home = await tempHome();
  await home.write({ api: { port: "x" } });
  const before = await home.read();
  const { failure } = await run(home);
  assert(failure instanceof ServiceError);
  assertEquals(failure.code, "config_invalid");
  assertStringIncludes(failure.message, 'api.port (line 3): "x" is not an integer');
  assertEquals(await home.read(), before);
});

Deno.test("onboard() --force replaces even a broken one, and keeps a copy", async () => {
  await using home = await tempHome();
  await home.write("{ broken");
  const { config, stdout } = await ok(home, { force: true });
  assertEquals(config, { agent: { model: "" } });
  const backup = `${home.paths.configFile}.bak`;
  assertEquals(await Deno.readTextFile(backup), "{ broken");
  assertEquals((await Deno.stat(backup)).mode! & 0o777, 0o600);
  assertStringIncludes(stdout, `the old one is ${backup}`);
});

Deno.test("onboard() lets a person choose a server, its model and the folder", async () => {
  await using home = await tempHome({ ANTHROPIC_API_KEY: "sk-2" });
  const { config, stderr } = await ok(home, {
    servers: { [OLLAMA]: ["qwen3", "gemma"] },
    lines: ["2", "2", "~/work"],
  });
  assertEquals(config, {
    agent: { model: "ollama/gemma", workspace: "~/work" },
    providers: { ollama: { type: "openai-compatible", baseUrl: `${OLLAMA}/v1` } },
  });
  assertStringIncludes(stderr, "  1  Anthropic, with the key in ANTHROPIC_API_KEY\n  2  Ollama on");
  assert((await Deno.stat(`${home.root}/work`)).isDirectory);
});

Deno.test("onboard() takes Enter for every question", async () => {
  await using home = await tempHome({ ANTHROPIC_API_KEY: "sk-2" });
  const { config } = await ok(home, { lines: ["", "", ""] });
  assertEquals(Object.keys(config.providers), ["anthropic"]);
  await using bare = await tempHome();
  assertEquals((await ok(bare, { lines: ["", ""] })).config, { agent: { model: "" } });
});

Deno.test("onboard() asks again until an answer does, and never repeats what may be a key", async () => {
  await using home = await tempHome({ GPU_KEY: "sk-3" });
  const { config, stderr } = await ok(home, {
    servers: { "http://gpu.example": [] },
    lines: [
      "9",
      "two",
      "2",
      "gpu.example",
      "http://gpu.example/v1",
      "sk-typed-key",
      "OTHER_KEY",
      "GPU_KEY",
      "",
      "mine/model",
      "work",
      "~",
      "~/work",
    ],
  });
  assertEquals(config, {
    agent: { model: "server/mine/model", workspace: "~/work" },
    providers: {
      server: { type: "openai-compatible", baseUrl: "http://gpu.example/v1", apiKey: "${GPU_KEY}" },
    },
  });
  for (
    const said of [
      "A number from 1 to 2, please",
      "An address that begins with http:// or https://, please",
      "The name of a variable, please",
      "That variable is not set here",
      "It does not say which models it has",
      'agent.workspace: "work" is no absolute path',
      "contains the service's data folder",
    ]
  ) assertStringIncludes(stderr, said);
  assertEquals(stderr.includes("sk-typed"), false);
});

Deno.test("onboard() asks before it replaces, and shows what is wrong with the old one", async () => {
  await using home = await tempHome();
  await home.write({ api: { port: "x" } });
  const { config, stderr } = await ok(home, { lines: ["yes", "", ""] });
  assertStringIncludes(stderr, 'problem  api.port (line 3): "x" is not an integer');
  assertEquals(config, { agent: { model: "" } });

  await home.write('{ "agent": { "model": "offline" } } // mine\n');
  const kept = await run(home, { lines: ["no"] });
  assertEquals(await home.read(), '{ "agent": { "model": "offline" } } // mine\n');
  assertStringIncludes(kept.stdout, "it has everything");
});

Deno.test("onboard() writes nothing when the person leaves", async () => {
  for (const lines of [[], ["2"], ["2", "http://x/v1", "", "m"]]) {
    await using home = await tempHome();
    const { failure } = await run(home, { lines: [...lines] });
    assert(failure instanceof DialogueEndedError);
    assertEquals([...Deno.readDirSync(home.paths.home)], []);
  }
});

Deno.test("onboard() says when the workspace cannot be made", async () => {
  await using home = await tempHome();
  await home.write({ agent: { model: "offline", workspace: "~/file" } });
  await Deno.writeTextFile(`${home.root}/file`, "");
  const { failure } = await run(home);
  assert(failure instanceof ServiceError);
  assertStringIncludes(failure.message, "it is no folder");
});

Deno.test("printOnboarded() prints JSON of what was done", async () => {
  await using home = await tempHome();
  const done = await onboard({ ...home, fetch: network(), force: false, channels: {} });
  const { out, stdout } = memoryOutput();
  printOnboarded(out, done, true);
  assertEquals(JSON.parse(stdout.text), {
    configFile: home.paths.configFile,
    outcome: "written",
    added: [],
    model: "",
    hasProvider: false,
    workspace: home.paths.workspace,
    workspaceIsNew: true,
  });
});

Deno.test("onboard() adds every channel's defaults, and keeps comments and what is there (C15)", async () => {
  await using home = await tempHome();
  const channels = {
    chat: { enabled: false, botToken: "", allowFrom: [] },
    mail: { enabled: false, host: "" },
  };
  const first = await ok(home, { channels });
  assertEquals(first.config.channels, channels);
  await home.write(`{
  "agent": { "model": "offline" },
  "channels": {
    // Of the house.
    "chat": { "bot_token": "kept" } // not shown
  }
}
`);
  const { stdout } = await run(home, { channels });
  assertEquals(
    await home.read(),
    `{
  "agent": { "model": "offline" },
  "channels": {
    // Of the house.
    "chat": { "bot_token": "kept", "enabled": false, "allowFrom": [] }, // not shown
    "mail": {
      "enabled": false,
      "host": ""
    }
  }
}
`,
  );
  assertStringIncludes(
    stdout,
    "and added 2 settings of channels.chat, channels.mail\n",
  );
  const next = stdout.slice(stdout.indexOf("Next:"));
  assertStringIncludes(next, "service plugins list");
  for (const line of next.split("\n")) assert(line.length <= 80, line);
  assertStringIncludes((await run(home, { channels })).stdout, "it has everything");
});

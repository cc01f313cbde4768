import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { type ModelServer, startModelServer } from "../../tests/fakes/model_server.ts";
import { AUDIT_FILE } from "../../lib/audit/log.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import type { ChannelDefaults } from "./add_channels.ts";
import { createDialogue, DialogueEndedError } from "./dialogue.ts";
import { ModelTestError, onboard, type Onboarded, type OnboardOptions } from "./onboard.ts";
import { printOnboarded } from "./print.ts";
import { offerOf } from "../../lib/model/offers.ts";

/** Keys that every server of a {@linkcode network} takes; without one they ask for none. */
interface Network {
  /** Ids of models by origin; only these addresses answer. */
  servers?: Record<string, string[]>;
  keys?: string[];
}

/** A network whose servers are one real one that speaks each wire. */
function network({ servers = {}, keys }: Network, model: ModelServer): typeof fetch {
  return async (input, init) => {
    const { origin, pathname } = new URL(input instanceof Request ? input.url : String(input));
    const models = servers[origin];
    if (models === undefined) throw new TypeError("connection refused");
    const headers = new Headers(init?.headers);
    const key = headers.get("x-api-key") ?? headers.get("authorization")?.replace("Bearer ", "");
    if (keys !== undefined && !keys.includes(key ?? "")) {
      return Response.json({ error: { message: "wrong key" } }, { status: 401 });
    }
    if (pathname.endsWith("/models")) {
      return Response.json({ data: models.map((id) => ({ id })) });
    }
    const { model: id } = JSON.parse(String(init!.body));
    if (!models.includes(id)) {
      return Response.json({ error: { message: "no such model" } }, { status: 404 });
    }
    const path = pathname.replace(/^.*\/v1/, "");
    return await fetch(`${model.baseUrl}${path}`, init);
  };
}

const OLLAMA = "http://127.0.0.1:11434";
const OPENAI = "https://api.openai.com";
const ANTHROPIC = "https://api.anthropic.com";
const HOSTED = { [OPENAI]: ["gpt-6.1-terra"], [ANTHROPIC]: ["claude-sonnet-5-5"] };

interface Run extends Network {
  /** Lines that the person types, what is unseen too; without them it is --yes. */
  lines?: string[];
  force?: boolean;
  test?: boolean;
  given?: OnboardOptions["given"];
  channels?: ChannelDefaults;
}

async function run(
  home: TempHome,
  { lines, force = false, test = true, given, channels = {}, ...net }: Run = {},
) {
  await using model = startModelServer({ script: { text: "OK" } });
  const { out, stdout, stderr } = memoryOutput();
  const readLine = () => Promise.resolve(lines!.shift());
  const readHidden = (prompt: string) => {
    out.note(prompt);
    return readLine();
  };
  const dialogue = lines && createDialogue(out, { isTerminal: true, readLine, readHidden });
  const confirm = () => Promise.reject(new Error("nothing is confirmed"));
  const operator = { ...home, now: Date.now, confirm: confirm as never };
  const { paths, env } = home;
  const failure = await onboard({
    paths,
    env,
    fetch: network(net, model),
    out,
    operator,
    given,
    force,
    test,
    dialogue,
    channels,
  }).then(
    (done) => {
      printOnboarded(out, done, false);
      return undefined;
    },
    (error) => error,
  );
  if (lines !== undefined && failure === undefined) assertEquals(lines, [], "unread answers");
  const asked = model.requests.map(({ body }) => body);
  return { failure, stdout: stdout.text, stderr: stderr.text, asked };
}

async function ok(home: TempHome, options: Run = {}) {
  const { failure, ...said } = await run(home, options);
  if (failure !== undefined) throw failure;
  return { ...said, config: JSON.parse(await home.read()) };
}

/** The secrets of a home. */
async function secretsOf({ paths: { operatorDir: dir, keysDir } }: TempHome) {
  const state = await openOperatorState({ dir, keysDir });
  try {
    return state.secrets.revealAll().map(({ name, value, hosts }) => ({ name, value, hosts }));
  } finally {
    await state.close();
  }
}

const KEY = "sk-0123456789";

Deno.test("onboard() --yes keeps the key of the environment as a secret, after one short test", async () => {
  const variables = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: "sk-ant-123456" };
  await using home = await tempHome(variables);
  const { config, stdout, asked } = await ok(home, { servers: HOSTED, keys: [KEY] });
  assertEquals(config, {
    agent: { model: "openai/gpt-6.1-terra" },
    providers: { openai: { apiKey: "${secret:OPENAI_API_KEY}" } },
  });
  assertEquals(await secretsOf(home), [
    { name: "OPENAI_API_KEY", value: KEY, hosts: ["api.openai.com"] },
  ]);
  assertEquals(asked.length, 1);
  assertEquals(asked[0].max_output_tokens, 16);
  assertStringIncludes(stdout, `Wrote ${home.paths.configFile}\n`);
  assertStringIncludes(stdout, "Model: openai/gpt-6.1-terra (answered in ");
  assertStringIncludes(stdout, "Key: kept encrypted as the secret OPENAI_API_KEY\n");
  assertEquals((await Deno.stat(home.paths.configFile)).mode! & 0o777, 0o600);
  const { auditDir } = home.paths;
  const records = (await Deno.readTextFile(`${auditDir}/${AUDIT_FILE}`)).trim().split("\n")
    .map((line) => JSON.parse(line)).filter(({ kind }) => kind === "settings.change");
  assertEquals(records.map(({ data }) => data.keys), [["agent.model", "providers.openai.apiKey"]]);
});

Deno.test("onboard() --yes takes a model server of this machine when there is no key", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "" });
  const { config } = await ok(home, {
    servers: { "http://127.0.0.1:1234": [], [OLLAMA]: ["qwen3", "gemma"] },
  });
  assertEquals(config, {
    agent: { model: "ollama/qwen3" },
    providers: { ollama: { baseUrl: `${OLLAMA}/v1` } },
  });
});

Deno.test("onboard() --yes asks OPENAI_BASE_URL for its models, and writes the address", async () => {
  const variables = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://gpu.example:8000/v1" };
  await using home = await tempHome(variables);
  const { config } = await ok(home, { servers: { "http://gpu.example:8000": ["m"] } });
  assertEquals(config, {
    agent: { model: "openai/m" },
    providers: {
      openai: {
        type: "openai-compatible",
        baseUrl: "http://gpu.example:8000/v1",
        apiKey: "${secret:OPENAI_API_KEY}",
      },
    },
  });
  assertEquals((await secretsOf(home))[0]!.hosts, ["gpu.example:8000"]);
  await using silent = await tempHome(variables);
  const { failure } = await run(silent);
  assert(failure instanceof ModelTestError);
  assertStringIncludes(failure.message, "Can't reach gpu.example:8000: the connection was refused");
  assertEquals([...Deno.readDirSync(silent.paths.home)], []);
});

Deno.test("onboard() --yes falls back to the offline model, and says how to get another", async () => {
  await using home = await tempHome();
  const { config, stdout } = await ok(home);
  assertEquals(config, {});
  assertStringIncludes(stdout, "Model: offline\n");
  assertStringIncludes(stdout, "get a key of OpenAI,");
});

Deno.test("onboard() --yes writes nothing when the test fails, and says the way out", async () => {
  const hosted = { ...HOSTED, [OLLAMA]: ["qwen3"] };
  const cases: [Run, string][] = [
    [
      { given: { offer: offerOf("openai")!, key: "sk-wrong-123" }, servers: hosted, keys: [KEY] },
      "OpenAI refused the key. Check that you copied all of it, or create one at https://",
    ],
    [
      { given: { offer: offerOf("openai")!, key: KEY, id: "gpt-9" }, servers: hosted },
      'OpenAI has no model "gpt-9". Choose another one.',
    ],
    [
      { given: { offer: offerOf("openai")!, key: KEY } },
      "Can't reach api.openai.com: the connection was refused. Check the address",
    ],
    [
      { given: { offer: offerOf("ollama")!, id: "qwen3" } },
      "Ollama isn't running at http://127.0.0.1:11434/v1. Start it with: ollama serve",
    ],
    [
      { given: { offer: offerOf("ollama")!, id: "llama9" }, servers: hosted },
      'Ollama has no model "llama9". Get it with: ollama pull llama9',
    ],
  ];
  for (const [options, words] of cases) {
    await using home = await tempHome();
    const { failure } = await run(home, options);
    assert(failure instanceof ModelTestError, String(failure));
    assertStringIncludes(failure.message, words);
    assertEquals([...Deno.readDirSync(home.paths.home)], []);
    assertEquals(failure.message.includes("sk-"), false);
  }
});

Deno.test("onboard() --yes without the test writes what it is given", async () => {
  await using home = await tempHome();
  const { config, stdout, asked } = await ok(home, {
    given: { offer: offerOf("openrouter")!, key: KEY, id: "some/model", workspace: "~/work" },
    test: false,
  });
  assertEquals(config, {
    agent: { model: "openrouter/some/model", workspace: "~/work" },
    providers: {
      openrouter: {
        baseUrl: "https://openrouter.ai/api/v1",
        apiKey: "${secret:OPENROUTER_API_KEY}",
      },
    },
  });
  assertStringIncludes(stdout, "Model: openrouter/some/model\n");
  assertEquals(asked, []);
});

Deno.test("onboard() --yes wants a key where the provider needs one, and one that can be kept", async () => {
  await using home = await tempHome();
  for (
    const [given, words] of [
      [{ offer: offerOf("anthropic")! }, "Anthropic needs a key: set ANTHROPIC_API_KEY"],
      [{ offer: offerOf("anthropic")!, key: "short" }, "expected at least 8 characters"],
      [{ offer: offerOf("anthropic")!, key: "two words here" }, "A key has no spaces"],
      [{ id: "m" }, "Name the provider too: --provider NAME"],
    ] as const
  ) {
    const { failure } = await run(home, { given });
    assert(failure instanceof ServiceError);
    assertEquals(failure.code, "usage");
    assertStringIncludes(failure.message, words);
  }
});

Deno.test("onboard() leaves a secret of that name alone that is another one", async () => {
  await using home = await tempHome();
  const { operatorDir: dir, keysDir } = home.paths;
  const state = await openOperatorState({ dir, keysDir });
  await state.secrets.set({ name: "OPENAI_API_KEY", value: "for-a-tool-1", hosts: ["a.example"] });
  await state.close();
  const given = { offer: offerOf("openai")!, key: KEY };
  const { config } = await ok(home, { given, servers: HOSTED });
  assertEquals(config.providers.openai.apiKey, "${secret:OPENAI_API_KEY_2}");
  // A new key of the same provider takes the place of the old one.
  const other = { ...given, key: "sk-another-key" };
  await ok(home, { given: other, servers: HOSTED });
  assertEquals(await secretsOf(home), [
    { name: "OPENAI_API_KEY", value: "for-a-tool-1", hosts: ["a.example"] },
    { name: "OPENAI_API_KEY_2", value: "sk-another-key", hosts: ["api.openai.com"] },
  ]);
});

Deno.test("onboard() takes the secret back when the configuration can't be written", async () => {
  await using home = await tempHome();
  // A folder in its place is there when it is written, and not when it is read.
  await Deno.symlink(`${home.root}/gone/config.json`, home.paths.configFile);
  const { failure } = await run(home, {
    given: { offer: offerOf("openai")!, key: KEY },
    servers: HOSTED,
  });
  assert(failure instanceof ServiceError);
  assertStringIncludes(failure.message, "which does not exist");
  assertEquals(await secretsOf(home), []);
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
  await using home = await tempHome({ OPENAI_API_KEY: KEY });
  await home.write(
    '{\n  // mine\n  "api": { "port": 1 },\n  "providers": { "openai": { "model": "m" } }\n}\n',
  );
  const { stdout, stderr } = await run(home, { servers: HOSTED });
  assertStringIncludes(stderr, '  + agent.model: "openai/gpt-6.1-terra"\n');
  const text = await home.read();
  assertStringIncludes(text, '// mine\n  "api": { "port": 1 },\n');
  assertStringIncludes(
    text,
    '"providers": { "openai": { "model": "m", "apiKey": "${secret:OPENAI_API_KEY}" } }',
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
  assertEquals(config, {});
  const backup = `${home.paths.configFile}.bak`;
  assertEquals(await Deno.readTextFile(backup), "{ broken");
  assertEquals((await Deno.stat(backup)).mode! & 0o777, 0o600);
  assertStringIncludes(stdout, `the old one is ${backup}`);
});

Deno.test("onboard() lets a person choose a server, its model and the folder", async () => {
  await using home = await tempHome({ ANTHROPIC_API_KEY: "sk-ant-123456" });
  const { config, stderr, stdout } = await ok(home, {
    servers: { [OLLAMA]: ["qwen3", "gemma"] },
    lines: ["2", "2", "~/work"],
  });
  assertEquals(config, {
    agent: { model: "ollama/gemma", workspace: "~/work" },
    providers: { ollama: { baseUrl: `${OLLAMA}/v1` } },
  });
  assertStringIncludes(
    stderr,
    "  1  Anthropic (ANTHROPIC_API_KEY is set)\n  2  Ollama (runs on this machine)\n  3  OpenAI\n",
  );
  assertStringIncludes(stderr, "Testing ollama/gemma with a short message\nIt works: answered in");
  assertEquals(stdout.includes("Key:"), false);
  assert((await Deno.stat(`${home.root}/work`)).isDirectory);
});

Deno.test("onboard() takes Enter for every question", async () => {
  await using home = await tempHome({ ANTHROPIC_API_KEY: "sk-ant-123456" });
  const { config, stderr } = await ok(home, { servers: HOSTED, lines: ["", ""] });
  assertEquals(config.agent.model, "anthropic/claude-sonnet-5-5");
  assertStringIncludes(stderr, "Using the key in ANTHROPIC_API_KEY\n");
  await using bare = await tempHome();
  assertEquals((await ok(bare, { lines: ["", ""] })).config, {});
});

Deno.test("onboard() asks again until an answer does, and never repeats a key", async () => {
  await using home = await tempHome();
  const { config, stderr } = await ok(home, {
    servers: { "http://gpu.example": ["mine/model", "other"], [OPENAI]: [] },
    keys: [KEY],
    lines: [
      "9",
      "two",
      "5",
      "gpu.example",
      "http://gpu.example/v1",
      "short",
      "sk-typed-key",
      // Refused with the list of models already: another key.
      "2",
      KEY,
      "1",
      "work",
      "~",
      "~/work",
    ],
  });
  assertEquals(config, {
    agent: { model: "gpu/mine/model", workspace: "~/work" },
    providers: {
      gpu: { baseUrl: "http://gpu.example/v1", apiKey: "${secret:GPU_API_KEY}" },
    },
  });
  for (
    const said of [
      "Type a number from 1 to 6",
      "Expected an address that starts with http:// or https://",
      "API key for gpu.example (hidden; Enter: none)",
      "expected at least 8 characters",
      "gpu.example refused the key. Check that you copied all of it.",
      'agent.workspace: "work" is no absolute path',
      "contains the service's data folder",
    ]
  ) assertStringIncludes(stderr, said);
  assertEquals(/sk-|short\n/.test(stderr.replaceAll("a short message", "")), false);
  assertEquals(await secretsOf(home), [
    { name: "GPU_API_KEY", value: KEY, hosts: ["gpu.example:80"] },
  ]);
});

Deno.test("onboard() sends a key of the environment to no address that somebody types", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: KEY, GPU_API_KEY: KEY });
  for (const address of ["https://openai.internal/v1", "https://gpu.example/v1"]) {
    const { origin } = new URL(address);
    await using typed = await tempHome({ OPENAI_API_KEY: KEY, GPU_API_KEY: KEY });
    const { stderr } = await ok(typed, {
      servers: { [origin]: ["m"] },
      keys: [""],
      lines: ["5", address, "", ""],
    });
    assertEquals(stderr.includes("Using the key"), false);
    assertEquals(await secretsOf(typed), []);
  }
  const { failure } = await run(home, {
    given: { offer: offerOf("openai", "https://openai.internal/v1")!, id: "m" },
    servers: { "https://openai.internal": ["m"] },
    keys: [KEY],
  });
  assertStringIncludes(failure!.message, "refused the key");
});

Deno.test("onboard() lets a person go another way when the model doesn't answer", async () => {
  await using home = await tempHome({ OPENAI_API_KEY: "sk-stale-1234" });
  const { config, stderr } = await ok(home, {
    servers: { ...HOSTED, [OLLAMA]: ["qwen3"] },
    keys: [KEY, ""],
    // OpenAI with the key of the environment, another provider, Ollama, its one model.
    lines: ["1", "4", "2", ""],
  });
  assertEquals(config.agent.model, "ollama/qwen3");
  assertStringIncludes(stderr, "OpenAI refused the key.");
  assertEquals(await secretsOf(home), []);

  await using anyway = await tempHome();
  const saved = await ok(anyway, {
    given: { offer: offerOf("ollama")!, id: "qwen3" },
    lines: ["5", ""],
  });
  assertEquals(saved.config.agent.model, "ollama/qwen3");
  assertStringIncludes(saved.stdout, "(not working yet: Ollama isn't running at");
});

Deno.test("onboard() searches a long list of models", async () => {
  await using home = await tempHome();
  const models = Array.from({ length: 50 }, (_, at) => `vendor/model-${at}`);
  const { config, stderr } = await ok(home, {
    servers: { "https://openrouter.ai": models },
    lines: ["3", KEY, "nothing", "vendor", "model-4", "3", ""],
  });
  assertEquals(config.agent.model, "openrouter/vendor/model-41");
  assertStringIncludes(stderr, "There are 50 models. Type an ID, or part of one to search");
  assertStringIncludes(stderr, 'No model matches "nothing"');
  assertStringIncludes(stderr, "50 models match; type more of the ID");
});

Deno.test("onboard() asks before it replaces, and shows what is wrong with the old one", async () => {
  await using home = await tempHome();
  await home.write({ api: { port: "x" } });
  const { config, stderr } = await ok(home, { lines: ["yes", "", ""] });
  assertStringIncludes(stderr, 'problem  api.port (line 3): "x" is not an integer');
  assertStringIncludes(stderr, '  - api.port: "x"\n');
  assertEquals(config, {});

  await home.write('{ "agent": { "model": "offline" } } // mine\n');
  const kept = await run(home, { lines: ["no"] });
  assertEquals(await home.read(), '{ "agent": { "model": "offline" } } // mine\n');
  assertStringIncludes(kept.stdout, "it has everything");
});

Deno.test("onboard() shows what changes in a configuration, and writes it after a yes", async () => {
  await using home = await tempHome();
  const text =
    '{ "agent": { "model": "offline" }, "providers": { "ollama": { "apiKey": "typed-in" } } }';
  await home.write(text);
  const options = { servers: { [OLLAMA]: ["qwen3"] } };
  const declined = await run(home, { ...options, lines: ["y", "1", "n"] });
  assert(declined.failure instanceof DialogueEndedError);
  assertEquals(await home.read(), text);
  assertStringIncludes(declined.stderr, '  ~ agent.model: "offline" -> "ollama/qwen3"\n');
  assertStringIncludes(declined.stderr, "  - providers.ollama.apiKey: ********\n");
  const { stdout, config } = await ok(home, { ...options, lines: ["y", "1", "y"] });
  assertEquals(config.agent.model, "ollama/qwen3");
  assertStringIncludes(stdout, `Updated ${home.paths.configFile}: `);
});

Deno.test("onboard() writes nothing when the person leaves", async () => {
  for (const lines of [[], ["5"], ["5", "http://x.example/v1", KEY, "5"]]) {
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
  assertStringIncludes(failure.message, "it isn't a folder");
});

Deno.test("printOnboarded() prints JSON of what was done", () => {
  const done: Onboarded = {
    configFile: "/h/config.json",
    outcome: "written",
    added: [],
    model: "openai/m",
    hasProvider: true,
    secret: "OPENAI_API_KEY",
    test: { ok: true, ms: 1_234 },
    workspace: "/h/workspace",
    workspaceIsNew: true,
  };
  const { out, stdout } = memoryOutput();
  printOnboarded(out, done, true);
  assertEquals(JSON.parse(stdout.text), done);
});

Deno.test("onboard() adds every channel's defaults where it is asked to, and keeps comments and what is there (C15)", async () => {
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
  assertStringIncludes(next, "service plugins");
  for (const line of next.split("\n")) assert(line.length <= 80, line);
  assertStringIncludes((await run(home, { channels })).stdout, "it has everything");
});

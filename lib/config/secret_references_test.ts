import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { openOperatorState } from "../state/operator_state.ts";
import type { SecretChange } from "../state/secret_store.ts";
import { ServiceError } from "../base/errors.ts";
import { examine } from "../settings/examine.ts";
import { formatProblem } from "./problem.ts";
import { loadConfig } from "../settings/load.ts";
import { HIDDEN, redact, secretsIn } from "./redact.ts";
import { configSchema } from "./schema.ts";
import { type TempHome, tempHome } from "./testing/temp_home.ts";
import { rounds } from "../../tests/support/rounds.ts";

const VALUE = "s3cr3t/with+blank and ünï";

async function homeWith(
  secrets: SecretChange[],
  variables: Record<string, string> = {},
): Promise<TempHome> {
  const home = await tempHome(variables);
  const { operatorDir: dir, keysDir } = home.paths;
  const secretsKey = home.env("SERVICE_SECRETS_KEY");
  const state = await openOperatorState({ dir, keysDir, secretsKey });
  for (const secret of secrets) await state.secrets.set(secret);
  await state.close();
  return home;
}

function problemsOf(home: TempHome, config: unknown): string[] {
  return examine({ ...home, text: JSON.stringify(config) }).problems.map((each) =>
    formatProblem({ ...each, line: undefined })
  );
}

Deno.test("loadConfig() puts secrets where ${secret:NAME} stands, and keeps the reference in every copy", async () => {
  await using home = await homeWith([{ name: "OPENAI", value: VALUE }]);
  await home.write({
    agent: { instructions: "say ${secret:OPENAI} or $${secret:OPENAI}" },
    providers: {
      openai: { apiKey: "${secret:OPENAI}", headers: { A: "Bearer ${secret:OPENAI}" } },
    },
  });
  const { config, warnings } = await loadConfig(home);
  assertEquals(config.providers.openai!.apiKey, VALUE);
  assertEquals(config.providers.openai!.headers, { A: `Bearer ${VALUE}` });
  assertEquals(config.agent.instructions, `say ${VALUE} or \${secret:OPENAI}`);
  assertEquals(warnings, []);
  assertEquals(secretsIn(config, configSchema)[0], {
    name: "providers.openai.apiKey",
    value: VALUE,
  });
  const kept = await Deno.readTextFile(home.paths.lastGoodFile);
  assertEquals(kept.includes("s3cr3t"), false);
  assertStringIncludes(kept, "${secret:OPENAI}");
});

Deno.test("loadConfig() takes the secrets' key from the environment that it was given", async () => {
  const key = btoa("k".repeat(32));
  await using home = await homeWith([{ name: "A", value: VALUE }], { SERVICE_SECRETS_KEY: key });
  await home.write({ api: { apiKey: "k${secret:A}" }, agent: { instructions: "${secret:A}" } });
  const examined = examine({ ...home, text: '{"agent":{"instructions":"${secret:A}"}}' });
  assertEquals(examined.config?.agent.instructions, VALUE);
  const other = { ...home, env: () => undefined };
  assertStringIncludes(
    problemsOf(other, { agent: { instructions: "${secret:A}" } })[0]!,
    "agent.instructions: the secret A cannot be read: The key of the secrets is gone",
  );
});

Deno.test("loadConfig() names key and secret of a reference that cannot be replaced", async () => {
  await using home = await homeWith([{ name: "THERE", value: VALUE }]);
  await home.write({
    providers: { a: { apiKey: "${secret:MISSING}", baseUrl: "http://h/${secret:THERE" } },
    agent: { instructions: "${secret:there}${secret:}${ secret:THERE}" },
  });
  const error = await loadConfig(home).then(() => undefined, (error) => error as ServiceError);
  assertEquals(error?.code, "config_invalid");
  assertEquals(error!.message.split("\n  ").slice(1).map((line) => line.replace(/ \(.*?\)/, "")), [
    "providers.a.apiKey: there is no secret MISSING; to set it: service secrets set MISSING",
    'providers.a.baseUrl: "${" begins no reference such as ${NAME} or ${secret:NAME}; for the characters, write $${',
    "agent.instructions: ${secret:there} names no secret: expected A-Z, 0-9 and _, a letter first, at most 64 characters, such as GITHUB_TOKEN",
    "agent.instructions: ${secret:} names no secret: expected A-Z, 0-9 and _, a letter first, at most 64 characters, such as GITHUB_TOKEN",
    'agent.instructions: "${" begins no reference such as ${NAME} or ${secret:NAME}; for the characters, write $${',
  ]);
});

Deno.test("a configuration without secrets makes no file of them and reads none", async () => {
  await using home = await tempHome();
  assertEquals(problemsOf(home, { agent: { instructions: "$${secret:A}" } }), []);
  assertMatch(problemsOf(home, { agent: { instructions: "${secret:A}" } })[0]!, /no secret A/);
  for (const dir of [home.paths.operatorDir, home.paths.keysDir]) {
    assertEquals(await Deno.stat(dir).catch((error) => error.name), "NotFound");
  }
});

Deno.test("examine() names key, secret and host where a secret would go to a host out of its scope", async () => {
  await using home = await homeWith([
    { name: "OPENAI", value: VALUE, hosts: ["api.openai.com", "*.corp.example:443"] },
    { name: "DEPLOY", value: VALUE, commands: ['["npx","-y","server-x"]', "make deploy"] },
    { name: "LOCAL", value: VALUE, hosts: ["127.0.0.1:8080"] },
    { name: "ANY", value: VALUE },
    { name: "HEADER", value: "s3cr3t-header", hosts: ["*.corp.example"] },
  ], { HOST: "api.openai.com" });
  const own =
    "the secret OPENAI is for api.openai.com, *.corp.example:443 only, and it would go to ";
  const set = "; to set it anew, naming all that it is for: service secrets set OPENAI --host ";
  const provider = (baseUrl: string | undefined, more = {}) => ({
    providers: { openai: { apiKey: "${secret:OPENAI}", ...baseUrl && { baseUrl }, ...more } },
  });
  for (
    const fine of [
      provider(undefined),
      provider("https://API.openai.com:8443/v1"),
      provider("https://${HOST}/v1"),
      provider("https://eu.corp.example/v1"),
      { providers: { openai: { apiKey: "${secret:ANY}", baseUrl: "http://127.0.0.1:1/v1" } } },
      { providers: { x: { apiKey: "${secret:LOCAL}", baseUrl: "http://127.0.0.1:8080/v1" } } },
      { agent: { instructions: "${secret:ANY}" } },
      // It has no address, so nothing is sent.
      { providers: { x: { apiKey: "${secret:OPENAI}" } } },
      {
        mcp: {
          servers: {
            x: { command: ["npx", "-y", "server-x"], env: { K: "${secret:DEPLOY}" } },
            y: { url: "https://mcp.corp.example/", headers: { A: "Bearer ${secret:HEADER}" } },
          },
        },
      },
    ]
  ) assertEquals(problemsOf(home, fine), [], JSON.stringify(fine));

  const cases: [unknown, string][] = [
    [
      provider("https://evil.example/v1"),
      `providers.openai.apiKey: ${own}evil.example:443${set}evil.example`,
    ],
    [
      provider("http://eu.corp.example/v1"),
      `providers.openai.apiKey: ${own}http://eu.corp.example:80${set}eu.corp.example:80`,
    ],
    [
      provider("https://api.openai.com.evil.example/v1"),
      `providers.openai.apiKey: ${own}api.openai.com.evil.example:443${set}api.openai.com.evil.example`,
    ],
    [
      provider("http://[::1]:8080/v1"),
      `providers.openai.apiKey: ${own}http://[::1]:8080${set}[::1]:8080`,
    ],
    // Everybody on the way reads what goes over http: the scope has to name the port.
    [
      provider("http://api.openai.com/v1"),
      `providers.openai.apiKey: ${own}http://api.openai.com:80${set}api.openai.com:80`,
    ],
    [
      { providers: { anthropic: { apiKey: "x", headers: { A: "b ${secret:OPENAI}" } } } },
      `providers.anthropic.headers.A: ${own}api.anthropic.com:443${set}api.anthropic.com`,
    ],
    [
      { tools: { webSearch: { provider: "brave", apiKey: "${secret:OPENAI}" } } },
      `tools.webSearch.apiKey: ${own}api.search.brave.com:443${set}api.search.brave.com`,
    ],
    [
      { transcription: { baseUrl: "https://w.example/v1", apiKey: "${secret:HEADER}" } },
      "transcription.apiKey: the secret HEADER is for *.corp.example only, and it would go to " +
      "w.example:443; to set it anew, naming all that it is for: service secrets set HEADER --host w.example",
    ],
    [
      {
        mcp: { servers: { x: { url: "https://m.example/", headers: { A: "${secret:HEADER}" } } } },
      },
      "mcp.servers.x.headers.A: the secret HEADER is for *.corp.example only, and it would go to " +
      "m.example:443; to set it anew, naming all that it is for: service secrets set HEADER --host m.example",
    ],
    [
      { mcp: { servers: { x: { command: ["npx", "evil"], env: { A: "${secret:DEPLOY}" } } } } },
      'mcp.servers.x.env.A: the secret DEPLOY is for the command ["npx","-y","server-x"], the command ' +
      'make deploy only, and it would go to the command ["npx","evil"]; to set it anew, naming all that it is for: ' +
      "service secrets set DEPLOY --command COMMAND",
    ],
    [
      { mcp: { servers: { x: { command: ["npx"], env: { A: "${secret:OPENAI}" } } } } },
      `mcp.servers.x.env.A: ${own}the command ["npx"]; to set it anew, naming all that it is for: service secrets set OPENAI --command COMMAND`,
    ],
    [
      { agent: { instructions: "${secret:OPENAI}" } },
      "agent.instructions: the secret OPENAI is for api.openai.com, *.corp.example:443 only, and who is " +
      "given agent.instructions cannot be told; a secret without hosts and commands may stand there",
    ],
  ];
  for (const [config, expected] of cases) assertEquals(problemsOf(home, config), [expected]);
});

Deno.test("examine() refuses a secret that would stand in the arguments of a program", async () => {
  await using home = await homeWith([{ name: "ANY", value: VALUE }]);
  const at = (more: object) => problemsOf(home, { mcp: { servers: { x: more } } });
  const told = (key: string) =>
    `mcp.servers.x.${key}: the secret ANY would stand in the arguments of a program, which every process ` +
    "of this machine can read; give it in mcp.servers.x.env instead";
  assertEquals(at({ command: ["x", "--key=${secret:ANY}"] }), [told("command[1]")]);
  assertEquals(at({ command: ["x"], read: ["/srv/${secret:ANY}"] }), [told("read[0]")]);
  assertEquals(at({ command: ["x"], env: { KEY: "${secret:ANY}" } }), []);
});

Deno.test("G18 no problem of a configuration holds the value of a secret that stands in it, or a part of it", async () => {
  await using home = await homeWith([{ name: "S", value: "sk-Abcdefgh/ijklmnop" }, {
    name: "H",
    value: "hosTNameThatIsSecret",
    hosts: ["other.example"],
  }]);
  const at = ["${secret:S}", "x/${secret:S}", "${secret:S} "];
  for (
    const config of at.flatMap((text) => [
      { agent: { model: text } },
      { agent: { fallbacks: [text] } },
      { agent: { preset: text } },
      { agent: { workspace: text } },
      { agent: { workspace: `/proc/1/root/${text}` } },
      { agent: { presets: { a: { model: text } } } },
      { api: { host: text } },
      { api: { host: `[${text}` } },
      { audit: { mirror: text } },
      { log: { level: text } },
      { gates: { approvers: [text], messageTargets: [text], privateHosts: [text] } },
      { gates: { rules: [{ name: text, effect: text, targets: [text], capabilities: [text] }] } },
      {
        gates: { rules: [{ name: "a", effect: "allow", capabilities: ["exec"], targets: [text] }] },
      },
      { executor: { hosts: [text] } },
      { providers: { a: { baseUrl: text, type: text } } },
      { mcp: { servers: { a: { url: text, command: [text], hosts: [text], timeoutS: text } } } },
      { channels: { websocket: { trustedProxyAuth: text } } },
      { providers: { a: { apiKey: "${secret:H}", baseUrl: "https://${secret:H}.example/" } } },
    ])
  ) {
    const { problems, warnings } = examine({ ...home, text: JSON.stringify(config) });
    const said = [...problems, ...warnings].map(formatProblem).join("\n");
    assertEquals(/sk-abc|efgh|ijkl|hostname/i.test(said), false, said);
  }
});

Deno.test("redact() shows a reference to a secret and never what it stands for, wherever it is", async () => {
  await using home = await homeWith([{ name: "S", value: VALUE }]);
  const text = JSON.stringify({
    agent: { instructions: "a ${secret:S}" },
    api: { apiKey: "${secret:S}x" },
    providers: { a: { apiKey: "${secret:S}" } },
    channels: { telegram: { token: "${secret:S}" } },
  });
  const { config, canonical } = examine({ ...home, text });
  // deno-lint-ignore no-explicit-any
  const shown = redact({ config, written: canonical, schema: configSchema }) as any;
  assertEquals(shown.agent.instructions, "a ${secret:S}");
  assertEquals(shown.api.apiKey, HIDDEN);
  assertEquals(shown.providers.a.apiKey, "${secret:S}");
  assertEquals(shown.channels.telegram.token, "${secret:S}");
  assertEquals(JSON.stringify(shown).includes("s3cr3t"), false);
});

Deno.test("references: whatever a text is, nothing that looks like a reference is replaced within a value", async () => {
  await using home = await homeWith([{ name: "S", value: "${secret:S}${HOME}$${x" }]);
  await fc.assert(
    fc.asyncProperty(fc.string(), async (around) => {
      const text = around.replaceAll("$", "").replaceAll("{", "");
      const config = { agent: { instructions: `${text}\${secret:S}${text}` } };
      const examined = examine({ ...home, text: JSON.stringify(config) });
      assertEquals(examined.problems, []);
      assertEquals(
        examined.config!.agent.instructions,
        `${text}\${secret:S}\${HOME}$\${x${text}`,
      );
      await Promise.resolve();
    }),
    { numRuns: rounds(50) },
  );
});

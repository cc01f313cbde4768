/** `service config check` and the start of a gateway come to the same verdict on every configuration. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { CHANNELS } from "../../channels/mod.ts";
import { check } from "../../cli/config/check.ts";
import { memoryOutput } from "../../cli/testing/memory_output.ts";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ownHome } from "../../lib/process/own_home.ts";
import { openRegistry } from "../../lib/registry/open_registry.ts";
import { withValue } from "../../lib/config/edit.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { childNode, keysOf, rootNode, type SchemaNode } from "../../lib/config/schema_tree.ts";
import { toErrorData } from "../../lib/base/errors.ts";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { rounds } from "../support/rounds.ts";

const registry = await openRegistry(CHANNELS);

/** What `config check` says: whether the configuration is good, and its words. */
async function checked(home: TempHome): Promise<{ ok: boolean; said: string }> {
  const { out, stdout } = memoryOutput();
  const deps = {
    ...home,
    lastGood: false,
    channels: () => Promise.resolve(registry),
    stdin: Deno.stdin,
  };
  try {
    const exit = await check(out, deps, false);
    return { ok: exit === 0, said: stdout.text };
  } catch (error) {
    const { code, message } = toErrorData(error);
    assertEquals(code, "config_invalid", message);
    return { ok: false, said: message };
  }
}

/** What a start of the gateway does; it ends at once. */
async function started({ paths, env }: TempHome): Promise<{ ok: boolean; said: string }> {
  try {
    const home = await ownHome({
      paths,
      env,
      version: "0",
      lastGood: false,
      logLevel: "error",
      warn: () => {},
      channels: () => Promise.resolve(registry),
      finishMs: 5_000,
    });
    assert("authority" in home);
    await home.leave({ graceMs: 0 });
    return { ok: true, said: "" };
  } catch (error) {
    const { code, message } = toErrorData(error);
    assertEquals(code, "config_invalid", message);
    return { ok: false, said: message };
  }
}

/** A configuration whose ports are free, whatever else runs here. */
function onFreePorts(config: unknown): unknown {
  if (typeof config !== "object" || config === null || Array.isArray(config)) return config;
  const { channels, api, ...rest } = config as Record<string, Record<string, unknown>>;
  const withPort = (section: unknown) =>
    typeof section === "object" && section !== null
      ? { port: 0, ...section }
      : section ?? { port: 0 };
  return {
    log: { level: "error" },
    ...rest,
    api: withPort(api),
    channels: typeof channels === "object" && channels !== null
      ? { ...channels, websocket: withPort(channels.websocket) }
      : channels ?? { websocket: { port: 0 } },
  };
}

interface Case {
  config: unknown;
  env?: Record<string, string>;
  /** Files beside the configuration. */
  files?: Record<string, string>;
  /** Hosts of the secret A_KEY, where there is one. */
  secretFor?: string[];
  /** In the words of both; absent: the configuration is good. */
  says?: string;
}

const PROVIDER = { local: { baseUrl: "http://127.0.0.1:9/v1" } };

const websocket = (section: Record<string, unknown>) => ({ channels: { websocket: section } });
const PINNED = JSON.stringify([{ tool: "read_file", args: { path: "a.txt" }, expected: "deny" }]);

const CASES: Record<string, Case> = {
  "an empty object": { config: {} },
  "a model of a server": { config: { agent: { model: "local/m" }, providers: PROVIDER } },
  "a key in the environment": { config: {}, env: { OPENAI_API_KEY: "sk-1" } },
  "an unknown key, which is a warning": { config: { agnet: {} } },
  "a channel that can't start, which is a warning": {
    config: { channels: { telegram: { enabled: true } } },
  },
  "an unknown channel, which has no effect": {
    config: { channels: { pigeon: { enabled: true } } },
  },
  "a model of another provider's key that is missing, and isn't used": {
    config: { agent: { model: "offline" }, providers: { openai: {} } },
  },
  "a preset that can't be asked, and isn't in force": {
    config: { agent: { presets: { big: { model: "openai/x" } } }, providers: { openai: {} } },
  },
  "a pinned case that holds": {
    config: {},
    files: { "policy.test.json": PINNED.replace("deny", "allow") },
  },
  "a secret for its host": {
    config: { providers: { openai: { apiKey: "${secret:A_KEY}" } } },
    secretFor: ["api.openai.com"],
  },
  "a socket path": { config: websocket({ socketPath: "HOME/ws.sock" }) },
  "every interface with a token": {
    config: websocket({ host: "0.0.0.0", token: "a-long-enough-token" }),
  },
  "a certificate that a port which is off would show": {
    config: websocket({ enabled: false, sslCertfile: "no.pem", sslKeyfile: "no.key" }),
  },

  "broken syntax": { config: '{ "agent": ', says: "line 1" },
  "a list": { config: "[]", says: "does not hold an object" },
  "a value of another type": {
    config: { agent: { maxSteps: "many" } },
    says: 'agent.maxSteps (line 6): "many" is not an integer',
  },
  "a section that is a text": { config: { agent: "x" }, says: "agent" },
  "a key in both spellings": {
    config: { agent: { maxSteps: 1, max_steps: 2 } },
    says: "stands there twice",
  },
  "a variable that isn't set": {
    config: { api: { apiKey: "${NOT_SET}" } },
    says: "NOT_SET",
  },
  "a secret that isn't there": {
    config: { providers: { openai: { apiKey: "${secret:NOT_THERE}" } } },
    says: "NOT_THERE",
  },
  "a secret for another host": {
    config: { providers: { openai: { apiKey: "${secret:A_KEY}" } } },
    secretFor: ["api.example.com"],
    says: "the secret A_KEY is for api.example.com only",
  },
  "a reference that is misspelt": {
    config: { providers: { openai: { apiKey: "${secret:no-name}" } } },
    says: "providers.openai.apiKey",
  },
  "a model of an unknown provider": {
    config: { agent: { model: "nobody/x" } },
    says: 'the provider "nobody"',
  },
  "a model without a provider": { config: { agent: { model: "gpt" } }, says: "agent.model" },
  "a model whose key is missing": {
    config: { agent: { model: "openai/x" } },
    says: 'the provider "openai"',
  },
  "a model whose section has no key": {
    config: { agent: { model: "openai/x" }, providers: { openai: {} } },
    says: "providers.openai.apiKey is not set",
  },
  "a model whose section has no address": {
    config: { agent: { model: "gpu/x" }, providers: { gpu: {} } },
    says: "providers.gpu.baseUrl is not set",
  },
  "a fallback that can't be asked": {
    config: {
      agent: { model: "local/m", fallbacks: ["anthropic/x"] },
      providers: { ...PROVIDER, anthropic: {} },
    },
    says: "providers.anthropic.apiKey is not set",
  },
  "a preset in force that can't be asked": {
    config: {
      agent: { preset: "big", presets: { big: { model: "openai/x" } } },
      providers: { openai: {} },
    },
    says: "providers.openai.apiKey is not set",
  },
  "a preset that isn't there": { config: { agent: { preset: "big" } }, says: "agent.preset" },
  "a workspace that isn't absolute": { config: { agent: { workspace: "w" } }, says: "absolute" },
  "a workspace around the home": { config: { agent: { workspace: "~" } }, says: "agent.workspace" },
  "a workspace that is a file": {
    config: { agent: { workspace: "~/home/notes" } },
    files: { notes: "" },
    says: "agent.workspace",
  },
  "a workspace below a file": {
    config: { agent: { workspace: "~/home/notes/deep/er" } },
    files: { notes: "" },
    says: "agent.workspace",
  },
  "a pinned case that breaks": {
    config: {},
    files: { "policy.test.json": PINNED },
    says: "expected deny, got allow",
  },
  "pinned cases that are none": {
    config: {},
    files: { "policy.test.json": "{}" },
    says: "policy.test.json",
  },
  "a rule of an unknown kind": {
    config: { gates: { rules: [{ effect: "maybe" }] } },
    says: "gates.rules",
  },
  "every interface without a token": {
    config: websocket({ host: "0.0.0.0" }),
    says: "token, tokenIssueSecret or",
  },
  "an API beyond loopback without a key": {
    config: { api: { enabled: true, host: "0.0.0.0" } },
    says: "api.apiKey has to be set",
  },
  "an API over MCP without a key": { config: { api: { mcp: true } }, says: "api.mcp" },
  "one port for both": {
    config: { api: { enabled: true, port: 18_765 }, ...websocket({ port: 18_765 }) },
    says: "api.port too",
  },
  "an address that isn't of this machine": {
    config: websocket({ host: "192.0.2.1", token: "a-long-enough-token" }),
    says: "192.0.2.1",
  },
  "a host that is no name": {
    config: websocket({ host: "not a host", token: "a-long-enough-token" }),
    says: "not a host",
  },
  "an API at an address of nobody": {
    config: { api: { enabled: true, host: "192.0.2.1", apiKey: "a-long-enough-key" } },
    says: "192.0.2.1",
  },
  "a path for tokens of the service's own": {
    config: websocket({ tokenIssuePath: "/api/token" }),
    says: "tokenIssuePath",
  },
  "a certificate without its key": {
    config: websocket({ sslCertfile: "cert.pem" }),
    files: { "cert.pem": "" },
    says: "sslKeyfile",
  },
  "certificates that aren't there": {
    config: websocket({ sslCertfile: "no.pem", sslKeyfile: "no.key" }),
    says: "channels.websocket.sslCertfile: cannot read",
  },
  "certificates that are none": {
    config: websocket({ sslCertfile: "cert.pem", sslKeyfile: "key.pem" }),
    files: { "cert.pem": "x", "key.pem": "y" },
    says: "is not a PEM certificate",
  },
  "a socket path that is a file": {
    config: websocket({ socketPath: "HOME/notes" }),
    files: { notes: "" },
    says: "no socket is there",
  },
  "a socket path in no folder": {
    config: websocket({ socketPath: "HOME/nowhere/ws.sock" }),
    says: "Cannot listen on",
  },
  "a socket path that is too long": {
    config: websocket({ socketPath: `/tmp/${"x".repeat(120)}` }),
    says: "socketPath",
  },
  "a trusted proxy without a network": {
    config: websocket({ trustedProxyAuth: { issuer: "https://a.example" } }),
    says: "trustedProxyAuth",
  },
  "a tool server without a command": {
    config: { mcp: { servers: { a: {} } } },
    says: "mcp.servers.a",
  },
  "transcription without a key's address": {
    config: { transcription: { enabled: true, baseUrl: "ftp://a" } },
    says: "transcription.baseUrl",
  },
  "an audit's mirror in the workspace": {
    config: { audit: { mirror: "~/home/workspace/mirror" } },
    says: "audit.mirror",
  },
};

for (const [name, { config, env = {}, files = {}, secretFor, says }] of Object.entries(CASES)) {
  Deno.test(`config check and a start agree on ${name}`, async () => {
    await using home = await tempHome(env);
    const text = typeof config === "string"
      ? config
      : JSON.stringify(onFreePorts(config), null, 2).replaceAll("HOME", home.paths.home);
    await home.write(text);
    for (const [path, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${home.paths.home}/${path}`, text);
    }
    if (secretFor !== undefined) {
      const { operatorDir: dir, keysDir } = home.paths;
      const state = await openOperatorState({ dir, keysDir });
      await state.secrets.set({ name: "A_KEY", value: "value-of-a-key", hosts: secretFor });
      await state.close();
    }
    const verdict = await checked(home);
    const start = await started(home);
    assertEquals(verdict.ok, start.ok, `check: ${verdict.said}\nstart: ${start.said}`);
    assertEquals(verdict.ok, says === undefined, verdict.said + start.said);
    for (const { said } of says === undefined ? [] : [verdict, start]) {
      assertStringIncludes(said, says!);
    }
  });
}

/** Every key of the schema that holds a single value, with values that it may not take. */
function leavesOf(node: SchemaNode, path: string[]): string[][] {
  const keys = keysOf(node);
  return keys === undefined || keys.length === 0
    ? [path]
    : keys.flatMap((key) => leavesOf(childNode(node, key)!, [...path, key]));
}

const LEAVES = leavesOf(rootNode(configSchema), []).filter((path) =>
  // What these start or listen to is another machine's.
  !["$schema", "port", "log"].some((name) => path.includes(name))
);

const ODD = fc.oneof(
  fc.constantFrom<unknown>(
    ...["", " ", "x", "a b", "*", "/", "~/x", "0.0.0.0", "::", "localhost", "http://", "offline"],
    ...["openai/x", "${NOT_SET}", "${secret:NOT_THERE}", "http://127.0.0.1:9/v1", "\u0000", "ä"],
    ...[true, false, null, -1, 0, 1, 1.5, 1e9, [], ["x"], {}, { x: {} }, { x: "y" }],
  ),
  fc.string({ maxLength: 8 }),
);

Deno.test("config check and a start agree on odd values of every key", async () => {
  const change = fc.tuple(fc.constantFrom(...LEAVES), ODD);
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(changes, async (changes) => {
      await using home = await tempHome();
      let config: unknown = onFreePorts({});
      for (const [path, value] of changes) {
        try {
          config = withValue(config, path, value);
        } catch {
          // A value before stands in its way.
        }
      }
      await home.write(config);
      const verdict = await checked(home);
      const start = await started(home);
      assertEquals(verdict.ok, start.ok, `check: ${verdict.said}\nstart: ${start.said}`);
    }),
    { numRuns: rounds(400, 40), endOnFailure: true },
  );
});

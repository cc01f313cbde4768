import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { startModelServer } from "../../tests/fakes/model_server.ts";
import { ServiceError } from "../base/errors.ts";
import { resolveModels } from "./registry.ts";
import { ask, configOf } from "./testing/ask.ts";

const LOCAL = { baseUrl: "http://127.0.0.1:1/v1", model: "qwen" };

function chosen(sections: Record<string, unknown>): [string, string] {
  const registry = resolveModels({ config: configOf(sections) });
  return [registry.default.name, registry.reason];
}

Deno.test("resolveModels() takes the preset, else agent.model, else the first provider, else offline", () => {
  const providers = { openai: {}, anthropic: { apiKey: "k" }, local: LOCAL };
  const presets = { fast: { model: "local/small" } };
  assertEquals(chosen({ providers, agent: { model: "local/big", preset: "fast", presets } }), [
    "local/small",
    'agent.preset is "fast"',
  ]);
  assertEquals(chosen({ providers, agent: { model: "local/big/v2", presets } }), [
    "local/big/v2",
    "agent.model names it",
  ]);
  assertEquals(chosen({ providers, agent: { presets } }), [
    "anthropic/claude-sonnet-5-5",
    "agent.model is not set, and anthropic is the first provider that can be asked",
  ]);
  assertEquals(chosen({}), ["offline", "agent.model is not set, and no provider is configured"]);
  assertEquals(chosen({ providers, agent: { model: "offline" } })[0], "offline");
});

Deno.test("resolveModels() passes over a provider without a key or a model, and says so", () => {
  const [name, reason] = chosen({
    providers: { openai: {}, local: { baseUrl: "http://127.0.0.1:1/v1" }, odd: {} },
  });
  assertEquals(name, "offline");
  assertStringIncludes(
    reason,
    "providers.openai.apiKey is not set (in the environment: OPENAI_API_KEY)",
  );
  assertStringIncludes(reason, "providers.local.model is not set");
  assertStringIncludes(reason, "providers.odd.baseUrl is not set");
});

Deno.test("resolveModels() counts a base URL as a configured openai", () => {
  const providers = { openai: { baseUrl: "http://127.0.0.1:1/v1" } };
  assertEquals(chosen({ providers })[0], "openai/gpt-6.1-terra");
});

Deno.test("resolveModels() refuses names that lead nowhere, naming the key", () => {
  const providers = { openai: {}, local: LOCAL };
  const cases: [Record<string, unknown>, string, string][] = [
    [{ model: "gpt-5" }, "agent.model", '"gpt-5" is neither <provider>/<model id> nor offline'],
    [{ model: "nope/x" }, "agent.model", 'the providers are "openai", "local"'],
    [{ model: "openai/x" }, "agent.model", "providers.openai.apiKey is not set"],
    [{ model: "local/" }, "agent.model", "neither <provider>/<model id>"],
    [{ preset: "x" }, "agent.preset", '"x" is no preset; there are no presets'],
    [{ preset: "toString" }, "agent.preset", "is no preset"],
    [
      { preset: "a", presets: { a: { model: "nope/x" } } },
      "agent.presets.a.model",
      'names the provider "nope"',
    ],
    [{ fallbacks: ["local/x", "nope/x"] }, "agent.fallbacks.1", 'names the provider "nope"'],
  ];
  for (const [agent, param, part] of cases) {
    const config = configOf({ providers, agent });
    const error = assertThrows(() => resolveModels({ config }), ServiceError, part);
    assertEquals([error.code, error.details.param], ["config_invalid", param]);
  }
});

Deno.test("pick() finds presets, models of providers, and offline", () => {
  const registry = resolveModels({
    config: configOf({
      providers: { local: LOCAL, openai: {} },
      agent: { model: "local/qwen", presets: { fast: { model: "local/small" } } },
    }),
  });
  assertEquals(registry.pick("fast").name, "local/small");
  assert(registry.pick("fast") === registry.pick("fast"));
  assert(registry.pick("local/qwen") === registry.default);
  assertEquals(registry.pick("local/org/any:7b").name, "local/org/any:7b");
  assertEquals(registry.pick("offline").name, "offline");
  for (const name of ["gpt-5", "openai/gpt-5", "nope/x", "constructor", "", "/x", "local/"]) {
    const error = assertThrows(() => registry.pick(name), ServiceError, "There is no model");
    assertEquals(error.code, "model_not_found");
    assertStringIncludes(error.message, "available: the preset fast, local/<model id>, offline");
  }
});

Deno.test("list() shows what is configured, what is used, and why", () => {
  const registry = resolveModels({
    config: configOf({
      providers: {
        local: LOCAL,
        openai: {},
        anthropic: { apiKey: "k" },
        bare: { baseUrl: "http://h" },
      },
      agent: {
        model: "local/qwen",
        fallbacks: ["anthropic/haiku"],
        presets: { fast: { model: "local/small" } },
      },
    }),
  });
  const rows = registry.list().map(({ name, provider, preset, used }) => ({
    name,
    provider,
    preset,
    used,
  }));
  assertEquals(rows, [
    { name: "local/qwen", provider: "local", preset: undefined, used: true },
    { name: "anthropic/haiku", provider: "anthropic", preset: undefined, used: false },
    { name: "local/small", provider: "local", preset: "fast", used: false },
    { name: "openai/gpt-6.1-terra", provider: "openai", preset: undefined, used: false },
    { name: "anthropic/claude-sonnet-5-5", provider: "anthropic", preset: undefined, used: false },
    { name: "bare", provider: "bare", preset: undefined, used: false },
    { name: "offline", provider: "offline", preset: undefined, used: false },
  ]);
  const reasons = registry.list().map(({ reason }) => reason);
  assertEquals(reasons[0], registry.reason);
  assertStringIncludes(reasons[3]!, "OPENAI_API_KEY");
  assertStringIncludes(reasons[5]!, "providers.bare.model is not set");
});

Deno.test("default takes a preset's settings over the agent's, and the fallbacks", async () => {
  await using broken = startModelServer({ script: { status: 503 } });
  await using server = startModelServer({ script: { text: "second" } });
  const registry = resolveModels({
    config: configOf({
      providers: { a: { baseUrl: broken.baseUrl }, b: { baseUrl: server.baseUrl } },
      agent: {
        preset: "fast",
        presets: { fast: { model: "a/x", temperature: 0.25 } },
        temperature: 1,
        maxOutputTokens: 50,
        fallbacks: ["a/x", "b/y"],
      },
    }),
    sleep: () => Promise.resolve(),
  });
  const { text, finish, notices } = await ask(registry.default);
  assertEquals([text, finish?.model, registry.default.name], ["second", "b/y", "a/x"]);
  assertEquals(broken.requests.length, 3);
  assertEquals(broken.requests[0]!.body.temperature, 0.25);
  assertEquals(broken.requests[0]!.body.max_tokens, 50);
  assertEquals(server.requests[0]!.body.temperature, 1);
  assertStringIncludes(notices.at(-1)!, "asking b/y instead");
  const alone = await ask(registry.pick("a/other"));
  assertEquals(alone.error.code, "provider_error");
});

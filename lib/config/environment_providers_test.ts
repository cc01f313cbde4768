import { assertEquals, assertStringIncludes } from "@std/assert";
import { withEnvironmentProviders } from "./environment_providers.ts";
import { configSchema } from "./schema.ts";

function merge(variables: Record<string, string>, providers: unknown = {}) {
  const config = configSchema.parse({ providers });
  const merged = withEnvironmentProviders(config, (name) => variables[name]);
  return { ...merged, providers: merged.config.providers };
}

Deno.test("withEnvironmentProviders() adds a provider for each key, empty ones aside", () => {
  const { providers, environmentProviders } = merge({
    OPENAI_API_KEY: "",
    ANTHROPIC_API_KEY: "sk-a",
  });
  assertEquals(providers, {
    anthropic: { type: "anthropic", apiKey: "sk-a", model: "", headers: {} },
  });
  assertEquals(environmentProviders, [
    { name: "anthropic", variables: { apiKey: "ANTHROPIC_API_KEY" } },
  ]);
});

Deno.test("withEnvironmentProviders() takes OPENAI_BASE_URL for a server that imitates OpenAI", () => {
  const local = merge({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
  assertEquals(local.providers.openai, {
    type: "openai-compatible",
    baseUrl: "http://127.0.0.1:1/v1",
    apiKey: "",
    model: "",
    headers: {},
  });
  assertEquals(local.environmentProviders[0]!.variables, { baseUrl: "OPENAI_BASE_URL" });
  const own = merge({ OPENAI_BASE_URL: "https://eu.api.openai.com/v1", OPENAI_API_KEY: "k" });
  assertEquals(own.providers.openai!.type, "openai");
  const other = merge({ OPENAI_BASE_URL: "https://notopenai.com/v1" });
  assertEquals(other.providers.openai!.type, "openai-compatible");
});

Deno.test("withEnvironmentProviders() completes an entry that names neither key nor address", () => {
  const { providers } = merge({ OPENAI_API_KEY: "k" }, {
    openai: { model: "gpt", type: "openai" },
  });
  assertEquals(providers.openai, { model: "gpt", type: "openai", apiKey: "k", headers: {} });
});

Deno.test("withEnvironmentProviders() sends no key to an address that the file names", () => {
  const variables = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1" };
  for (const openai of [{ baseUrl: "http://other.example" }, { apiKey: "own" }]) {
    const { providers, environmentProviders } = merge(variables, { openai });
    assertEquals(providers.openai, { apiKey: "", model: "", headers: {}, ...openai });
    assertEquals(environmentProviders, []);
  }
});

Deno.test("withEnvironmentProviders() takes nothing where the address is none", () => {
  const { providers, warnings } = merge({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "localhost:1" });
  assertEquals(providers, {});
  assertStringIncludes(warnings[0]!.message, "OPENAI_BASE_URL is no address");
});

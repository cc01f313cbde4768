import { assertEquals } from "@std/assert";
import { configSchema } from "../config/schema.ts";
import { resolveModels } from "../model/registry.ts";
import { runOperation } from "./testing/gateway_parts.ts";

Deno.test("models.list says which one answers and why, and what else there is", async () => {
  const config = configSchema.parse({
    agent: { preset: "fast", presets: { fast: { model: "local/a" }, slow: { model: "local/b" } } },
    providers: { local: { type: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } },
  });
  const models = resolveModels({ config });
  const presets = () => Object.keys(config.agent.presets);
  const answer = await runOperation({ op: "models.list" }, {
    models,
    presets,
    prices: () => ({ "local/a": { input: 2, output: 8 } }),
  });
  assertEquals(
    [answer.model_name, answer.model_preset, answer.presets, answer.reason],
    ["local/a", "fast", ["fast", "slow"], models.reason],
  );
  const [first, ...others] = answer.models.map(({ price }) => price);
  assertEquals(first, { input: 2, cached_input: 2, output: 8 });
  assertEquals(others.filter((price) => price !== undefined), []);
  assertEquals(
    answer.models.map(({ name, preset, used }) => [name, preset, used]),
    models.list().map(({ name, preset, used }) => [name, preset ?? null, used]),
  );
});

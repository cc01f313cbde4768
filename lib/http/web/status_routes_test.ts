import { assertEquals } from "@std/assert";
import { configSchema } from "../../config/schema.ts";
import { resolveModels } from "../../model/registry.ts";
import { createModelsRoutes } from "./models_routes.ts";
import { createStatusRoutes } from "./status_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

function setUp() {
  const config = configSchema.parse({
    agent: { preset: "fast", presets: { fast: { model: "local/a" }, slow: { model: "local/b" } } },
    providers: { local: { type: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } },
  });
  const models = () => resolveModels({ config });
  const state = { ok: true };
  const web = createTestWebApp([
    ...createModelsRoutes({ models, presets: () => Object.keys(config.agent.presets) }),
    ...createStatusRoutes({
      version: "1.2.3",
      models,
      checks: () => Promise.resolve({ journal: { ok: state.ok, detail: "" } }),
      counts: () => ({ connections: 2, chats: 3, turns: { running: 1, queued: 4 }, outbox: 5 }),
      uptimeMs: () => 61_999,
    }),
  ]);
  return { ...web, config, state, models };
}

Deno.test("GET models says which one answers and why, and what else there is", async () => {
  const { ask, config, models } = setUp();
  const read = async () => await (await ask("/api/webui/models", { token: "read" })).json();
  const answer = await read();
  assertEquals(
    [answer.model_name, answer.model_preset, answer.presets, answer.reason],
    ["local/a", "fast", ["fast", "slow"], models().reason],
  );
  assertEquals(
    answer.models.map(({ name, preset, used }: typeof answer) => [name, preset, used]),
    models().list().map(({ name, preset, used }) => [name, preset ?? null, used]),
  );
  // What is in force now, and not at the start.
  config.agent.preset = "slow";
  assertEquals((await read()).model_name, "local/b");
});

Deno.test("GET status counts what is in motion", async () => {
  const { ask, models } = setUp();
  assertEquals(await (await ask("/api/webui/status", { token: "read" })).json(), {
    version: "1.2.3",
    uptime_s: 61,
    model_name: "local/a",
    model_reason: models().reason,
    connections: 2,
    chats: 3,
    turns: { running: 1, queued: 4 },
    outbox: 5,
  });
});

Deno.test("GET health answers whoever asks, GET ready those who may read", async () => {
  const { ask, state } = setUp();
  const health = await ask("/health", { headers: { host: "balancer.internal" } });
  assertEquals([health.status, await health.json()], [200, { status: "ok" }]);
  assertEquals((await ask("/ready")).status, 401);
  assertEquals((await ask("/ready", { token: "read" })).status, 200);
  state.ok = false;
  const response = await ask("/ready", { token: "read" });
  assertEquals([response.status, (await response.json()).status], [503, "unavailable"]);
});

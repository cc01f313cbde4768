import { assertEquals } from "@std/assert";
import { createHealthRoutes } from "./health_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

Deno.test("GET health answers whoever asks, GET ready those who may read", async () => {
  const state = { ok: true };
  const { ask } = createTestWebApp(createHealthRoutes({
    version: "1.2.3",
    checks: () => Promise.resolve({ journal: { ok: state.ok, detail: "" } }),
  }));
  const health = await ask("/health", { headers: { host: "balancer.internal" } });
  assertEquals([health.status, await health.json()], [200, { status: "ok" }]);
  assertEquals((await ask("/ready")).status, 401);
  assertEquals((await ask("/ready", { token: "read" })).status, 200);
  state.ok = false;
  const response = await ask("/ready", { token: "read" });
  assertEquals([response.status, (await response.json()).status], [503, "unavailable"]);
});

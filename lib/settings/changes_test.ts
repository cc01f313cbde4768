import { assertEquals } from "@std/assert";
import { classifyChanges } from "./changes.ts";
import { configSchema } from "../config/schema.ts";

const parse = (value: unknown) => configSchema.parse(value);

Deno.test("classifyChanges() finds nothing in the same configuration", () => {
  const config = { providers: { a: { headers: { x: "1", y: "2" } } } };
  const turned = { providers: { a: { headers: { y: "2", x: "1" } } } };
  assertEquals(classifyChanges(parse(config), parse(turned)), []);
});

Deno.test("classifyChanges() says what each key takes, its own word over its section's", () => {
  const next = {
    agent: { model: "a/b", maxSteps: 9 },
    providers: { a: {} },
    api: { attended: false, port: 1 },
    channels: {
      telegram: { token: "x" },
      websocket: { streaming: false },
      allowLocalServiceAccess: false,
    },
    mcp: { servers: { s: {} } },
    log: { level: "debug" },
    unknownKey: 1,
  };
  assertEquals(classifyChanges(parse({}), parse(next)), [
    { path: "agent.model", takes: "restart" },
    { path: "agent.maxSteps", takes: "live" },
    { path: "providers.a", takes: "restart" },
    { path: "api.port", takes: "restart" },
    { path: "api.attended", takes: "live" },
    { path: "channels.allowLocalServiceAccess", takes: "live" },
    { path: "channels.websocket.streaming", takes: "restart" },
    { path: "channels.telegram", takes: "live" },
    { path: "mcp.servers.s", takes: "restart" },
    { path: "log.level", takes: "restart" },
  ]);
});

Deno.test("classifyChanges() names a provider's key, a value that went, and a list as a whole", () => {
  const a = { providers: { "my-own": { apiKey: "1" } }, agent: { temperature: 1, fallbacks: [] } };
  const b = { providers: { "my-own": { apiKey: "2" } }, agent: { fallbacks: ["offline"] } };
  assertEquals(classifyChanges(parse(a), parse(b)).map(({ path }) => path), [
    "agent.fallbacks",
    "agent.temperature",
    "providers.my-own.apiKey",
  ]);
});

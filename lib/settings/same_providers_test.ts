import { assertEquals } from "@std/assert";
import { configSchema } from "../config/schema.ts";
import { hasSameProviders } from "./same_providers.ts";

const a = { baseUrl: "http://127.0.0.1:9/v1", model: "m" };
const b = { baseUrl: "http://127.0.0.1:8/v1", model: "m" };

function same(running: unknown, next: unknown): boolean {
  return hasSameProviders(configSchema.parse(running), configSchema.parse(next));
}

Deno.test("hasSameProviders() looks at every provider that a model is asked through, and at no other", () => {
  const running = { providers: { a }, agent: { model: "a/m" } };
  assertEquals(same(running, { providers: { a, b }, agent: { model: "a/x" } }), true);
  assertEquals(same(running, { providers: { a }, agent: { model: "offline" } }), true);
  assertEquals(same(running, { providers: { a, b }, agent: { model: "b/x" } }), false);
  assertEquals(same(running, { providers: { a, b }, agent: { fallbacks: ["b/x"] } }), false);
  const presets = { p: { model: "b/x" } };
  assertEquals(same(running, { providers: { a, b }, agent: { presets } }), false);
  const moved = { a: { ...a, baseUrl: "http://127.0.0.1:7/v1" } };
  assertEquals(same(running, { providers: moved, agent: { model: "a/x" } }), false);
  const rekeyed = { a: { ...a, apiKey: "another" } };
  assertEquals(same(running, { providers: rekeyed, agent: { model: "a/x" } }), false);
});

Deno.test("hasSameProviders() is false where the first provider would be another one, or none can be asked", () => {
  const running = { providers: { a, b }, agent: { model: "b/m" } };
  assertEquals(same(running, { providers: { a, b }, agent: {} }), true);
  assertEquals(same(running, { providers: { b, a }, agent: {} }), false);
  assertEquals(same(running, { providers: { a, b }, agent: { preset: "gone" } }), false);
  assertEquals(same(running, { providers: { a, b }, agent: { model: "openai/x" } }), false);
  assertEquals(same({}, { agent: { temperature: 1 } }), true);
});

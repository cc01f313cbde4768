import { assertEquals } from "@std/assert";
import { providerHosts } from "./hosts.ts";
import { configOf } from "./testing/ask.ts";

Deno.test("providerHosts() names host and port of each provider that can be asked", () => {
  const config = configOf({
    providers: {
      openai: { apiKey: "k" },
      anthropic: { apiKey: "k", baseUrl: "https://api.anthropic.com" },
      proxy: { type: "openai", baseUrl: "https://Proxy.Example:8443/v1" },
      local: { baseUrl: "http://127.0.0.1:11434/v1/" },
      six: { baseUrl: "http://[::1]:8080" },
      plain: { baseUrl: "http://models.example" },
      nameless: {},
      keyless: { type: "anthropic" },
    },
  });
  assertEquals(providerHosts(config), [
    { host: "api.openai.com", port: 443, provider: "openai" },
    { host: "api.anthropic.com", port: 443, provider: "anthropic" },
    { host: "proxy.example", port: 8443, provider: "proxy" },
    { host: "127.0.0.1", port: 11434, provider: "local" },
    { host: "::1", port: 8080, provider: "six" },
    { host: "models.example", port: 80, provider: "plain" },
  ]);
});

Deno.test("providerHosts() is empty without providers", () => {
  assertEquals(providerHosts(configOf({})), []);
});

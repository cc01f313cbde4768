import { assert, assertEquals } from "@std/assert";
import { secretsIn } from "../config/redact.ts";
import { configSchema } from "../config/schema.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { KnownSecrets } from "./known_secrets.ts";
import { plainNames } from "./plain_names.ts";
import type { Secret } from "../contract/secrets.ts";

function memoryStore() {
  let secrets: Secret[] = [];
  const listeners = new Set<() => void>();
  return {
    listeners,
    set(values: Record<string, string>) {
      secrets = Object.entries(values).map(([name, value]) => ({
        name,
        value,
        hosts: [],
        commands: [],
        createdAt: 0,
        updatedAt: 0,
      }));
      for (const listener of listeners) listener();
    },
    revealAll: () => secrets,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

Deno.test("secretsIn() gives every secret that is set, by the path of its key", () => {
  const config = configSchema.parse({
    providers: {
      one: { apiKey: "key-of-one", headers: { "x-key": "header-of-one" } },
      two: { apiKey: "" },
    },
    api: { apiKey: "key-of-the-api" },
  });
  const names = secretsIn(config, configSchema).map(({ name, value }) => `${name}=${value}`);
  assert(names.includes("providers.one.apiKey=key-of-one"), names.join());
  assert(names.includes("api.apiKey=key-of-the-api"), names.join());
  assert(names.every((name) => !name.endsWith("=")), names.join());
});

Deno.test("KnownSecrets follows the store and the configuration, and forgets no former value", () => {
  const known = new KnownSecrets();
  const store = memoryStore();
  let told = 0;
  known.onChange(() => told++);
  known.configure([{ name: "api.apiKey", value: "key-of-the-api" }]);
  store.set({ ONE: "value-of-one" });
  known.follow(store);
  const text = "key-of-the-api value-of-one value-of-two next-of-the-api";
  const { scrubber } = known;
  assertEquals(
    scrubber.text(text),
    "[secret api.apiKey] [secret ONE] value-of-two next-of-the-api",
  );
  store.set({ TWO: "value-of-two" });
  known.configure([{ name: "api.apiKey", value: "next-of-the-api" }]);
  const scrubbed = "[secret api.apiKey] [secret ONE] [secret TWO] [secret api.apiKey]";
  assertEquals(scrubber.text(text), scrubbed);
  assertEquals(createScrubber(known.fingerprints).text(text), scrubbed);
  assertEquals(told, 4);
  store.set({ TWO: "value-of-two" });
  assertEquals(told, 4, "nothing was new");
  known.close();
  assertEquals(store.listeners.size, 0);
});

Deno.test("KnownSecrets names a secret as the store does when the configuration refers to it", () => {
  const known = new KnownSecrets();
  const store = memoryStore();
  store.set({ OPENAI: "sk-value-of-both" });
  known.configure([{ name: "providers.openai.apiKey", value: "sk-value-of-both" }]);
  known.follow(store);
  assertEquals(known.scrubber.text("<sk-value-of-both>"), "<[secret OPENAI]>");
});

Deno.test("KnownSecrets.fingerprints hold no value", () => {
  const known = new KnownSecrets();
  known.configure([{ name: "k", value: "correct-horse-battery-staple" }]);
  const text = JSON.stringify(known.fingerprints);
  for (const part of ["correct", "horse", "battery", "staple"]) assert(!text.includes(part), part);
});

Deno.test("KnownSecrets hides no value that stands in a name of the configuration, and says of which secret", () => {
  const known = new KnownSecrets();
  const store = memoryStore();
  store.set({ DB: "postgres", OTHER: "postgres-key" });
  const config = configSchema.parse({
    providers: { "company-llm": { apiKey: "company-llm" } },
    mcp: { servers: { "my-postgres": { command: ["x"], env: { PGPASSWORD: "postgres" } } } },
  });
  known.configure(secretsIn(config, configSchema), plainNames(config));
  known.follow(store);
  const { scrubber, spelledInNames } = known;
  const name = "mcp__my-postgres__query of company-llm";
  assertEquals(scrubber.text(name), name);
  assertEquals(scrubber.text("postgres-key"), "[secret OTHER]");
  assertEquals(spelledInNames, [
    "DB",
    "providers.company-llm.apiKey",
    "mcp.servers.my-postgres.env.PGPASSWORD",
  ]);
});

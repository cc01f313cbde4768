import { assertEquals } from "@std/assert";
import { examine } from "../settings/examine.ts";
import { hasLiteralSecret, HIDDEN, redact, secretsIn } from "./redact.ts";
import { configSchema } from "./schema.ts";
import { tempHome } from "./testing/temp_home.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

Deno.test("redact() hides secrets and shows references as they are written", async () => {
  await using home = await tempHome({ KEY: "sk-1", HOST: "h.example", ANTHROPIC_API_KEY: "sk-2" });
  const text = JSON.stringify({
    agent: { instructions: "For ${HOST}" },
    providers: {
      a: { apiKey: "sk-literal", baseUrl: "https://me:pw@${HOST}/v1", headers: { X: "v" } },
      b: {
        apiKey: "${KEY}",
        headers: { X: "Bearer ${KEY}", Y: "v${KEY}" },
        base_url: "http://u:p@h/v1?a=@",
      },
      d: { baseUrl: "https://h/v1?v=1&subscription-Key=sk-3&token=${KEY}#f" },
      c: {},
    },
    channels: { telegram: { token: "t", allowFrom: ["1"], nested: { apiKeys: ["x"] } } },
  });
  const { config, canonical, environmentProviders } = examine({ ...home, text });
  const shown = redact({
    config,
    written: canonical,
    schema: configSchema,
    environmentProviders,
  }) as Json;
  assertEquals(shown.agent.instructions, "For ${HOST}");
  assertEquals(shown.agent.maxSteps, 50);
  assertEquals(shown.providers, {
    a: {
      apiKey: HIDDEN,
      baseUrl: "https://***@${HOST}/v1",
      headers: { X: HIDDEN },
      model: "",
    },
    b: {
      apiKey: "${KEY}",
      headers: { X: "Bearer ${KEY}", Y: HIDDEN },
      baseUrl: "http://***@h/v1?a=@",
      model: "",
    },
    c: { apiKey: "", headers: {}, model: "" },
    d: {
      apiKey: "",
      baseUrl: "https://h/v1?v=1&subscription-Key=***&token=${KEY}#f",
      headers: {},
      model: "",
    },
    anthropic: { type: "anthropic", apiKey: "${ANTHROPIC_API_KEY}", headers: {}, model: "" },
  });
  assertEquals(shown.channels.telegram, {
    token: HIDDEN,
    allowFrom: ["1"],
    nested: { apiKeys: [HIDDEN] },
  });
  assertEquals(/sk-|pw|u:p/.test(JSON.stringify(shown)), false);
});

Deno.test("redact() hides a key in an argument of an MCP server's command", async () => {
  await using home = await tempHome({ KEY: "sk-1" });
  const command = ["serve", "--api-key=sk-2", "--Token=${KEY}", "--port=1", "-auth=sk-3", "--x"];
  const text = JSON.stringify({ mcp: { servers: { a: { command } } } });
  const { config, canonical } = examine({ ...home, text });
  const shown = redact({ config, written: canonical, schema: configSchema }) as Json;
  assertEquals(shown.mcp.servers.a.command, [
    "serve",
    "--api-key=***",
    "--Token=${KEY}",
    "--port=1",
    "-auth=***",
    "--x",
  ]);
});

Deno.test("hasLiteralSecret() does not take a reference or an empty text for a secret", () => {
  const has = (value: unknown) => hasLiteralSecret(value, configSchema);
  assertEquals(has({ api: { apiKey: "${KEY}" }, providers: { a: { apiKey: "" } } }), false);
  assertEquals(has({ api: { apiKey: "${secret:KEY}" } }), false);
  assertEquals(has({ providers: { a: { headers: { X: "Bearer ${secret:KEY}" } } } }), false);
  assertEquals(has({ api: { apiKey: "sk" } }), true);
  assertEquals(has({ api: { apiKey: "Bearer sk${secret:KEY}" } }), true);
  assertEquals(has({ api: { apiKey: "sk${KEY}" } }), true);
  assertEquals(has({ channels: { irc: { password: "p" } } }), true);
});

Deno.test("secretsIn() and redact() take secrets of channels from what their manifests say", () => {
  const config = configSchema.parse({
    channels: {
      chat: {
        pass_phrase: "first-secret",
        tokenFile: "/run/token",
        accounts: { a: { passPhrase: "second-secret", tokenFile: "/run/a" }, b: { apiKey: "k" } },
      },
    },
  });
  const channels = { chat: { passPhrase: true, tokenFile: false } };
  assertEquals(secretsIn(config, configSchema, channels), [
    { name: "channels.chat.pass_phrase", value: "first-secret" },
    { name: "channels.chat.accounts.a.passPhrase", value: "second-secret" },
    { name: "channels.chat.accounts.b.apiKey", value: "k" },
  ]);
  const shown = redact({ config, written: {}, schema: configSchema, channels }) as Json;
  assertEquals(shown.channels.chat, {
    pass_phrase: HIDDEN,
    tokenFile: "/run/token",
    accounts: { a: { passPhrase: HIDDEN, tokenFile: "/run/a" }, b: { apiKey: HIDDEN } },
  });
  // Without a manifest, names alone tell.
  assertEquals(secretsIn(config, configSchema).map(({ name }) => name), [
    "channels.chat.tokenFile",
    "channels.chat.accounts.a.tokenFile",
    "channels.chat.accounts.b.apiKey",
  ]);
});

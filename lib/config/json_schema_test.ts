import { assertEquals } from "@std/assert";
import { configJsonSchema, configJsonSchemaText } from "./json_schema.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

Deno.test("config.schema.json is what the schema gives; deno task generate writes it anew", async () => {
  const file = await Deno.readTextFile(new URL("../../config.schema.json", import.meta.url));
  assertEquals(file, configJsonSchemaText());
});

Deno.test("configJsonSchema() refuses unknown keys exactly in the strict sections", () => {
  const { gates, executor, api, channels } = (configJsonSchema() as Json).properties;
  const proxy = channels.properties.websocket.properties.trustedProxyAuth.anyOf[0];
  for (const strict of [gates, executor, proxy]) assertEquals(strict.additionalProperties, false);
  for (const loose of [api, channels]) assertEquals(loose.additionalProperties, {});
});

Deno.test("configJsonSchema() describes every key of every section", () => {
  const visit = (json: Json, path: string) => {
    for (const [key, inner] of Object.entries<Json>(json?.properties ?? {})) {
      assertEquals(typeof inner.description, "string", `${path}${key} has no description`);
      visit(inner.anyOf?.[0] ?? inner, `${path}${key}.`);
      visit(inner.additionalProperties, `${path}${key}.*.`);
    }
  };
  visit(configJsonSchema(), "");
});

Deno.test("configJsonSchema() marks secrets and says nothing in words of its own", () => {
  const text = configJsonSchemaText();
  for (const own of ['"secret":', '"strict":', '"open":', '"takes":']) {
    assertEquals(text.includes(own), false, own);
  }
  assertEquals((configJsonSchema() as Json).properties.api.properties.apiKey.writeOnly, true);
});

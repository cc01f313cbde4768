/**
 * Writes `parameters.json`, what models are told of the arguments of tools: `deno task generate`.
 *
 * @module
 */

import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import { createTools } from "./mod.ts";

/** The text of `parameters.json`. */
export function parametersText(): string {
  const tools = createTools({ webSearch: { provider: "none", apiKey: "" } }, "linux");
  const schemas = Object.fromEntries(tools.map(({ name, schema }) => [name, jsonSchema(schema)]));
  return JSON.stringify(schemas, null, 2) + "\n";
}

function jsonSchema(schema: Tool["schema"]): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return parameters;
}

if (import.meta.main) {
  await Deno.writeTextFile(new URL("parameters.json", import.meta.url), parametersText());
}

/**
 * The configuration's JSON Schema, for editors: `config.schema.json`.
 *
 * It describes camelCase, the spelling that is written. Sections that refuse unknown keys say so;
 * elsewhere an unknown key only warns and the schema allows it.
 *
 * @module
 */

import { z } from "zod";
import { configSchema, type KeyMeta } from "./schema.ts";

/** The schema, draft 7: what editors understand best. */
export function configJsonSchema(): { $schema: string } & Record<string, unknown> {
  const schema = z.toJSONSchema(configSchema, {
    target: "draft-7",
    io: "input",
    override: ({ jsonSchema }) => toStandard(jsonSchema),
  });
  const { $schema, ...rest } = schema;
  return { $schema: $schema!, title: "Configuration of the service", ...rest };
}

/** The text of `config.schema.json`. */
export function configJsonSchemaText(): string {
  return JSON.stringify(configJsonSchema(), null, 2) + "\n";
}

/** Says in JSON Schema's words what stands in a key's meta, and leaves nothing else of it. */
function toStandard(json: z.core.JSONSchema.BaseSchema & KeyMeta): void {
  const { secret, strict, takes, multiline } = json;
  delete json.secret;
  delete json.multiline;
  delete json.strict;
  delete json.open;
  delete json.openTakes;
  delete json.takes;
  if (secret) json.writeOnly = true;
  if (strict) json.additionalProperties = false;
  if (takes === "restart") json["x-takes"] = "restart";
  if (multiline) json["x-multiline"] = true;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.format === "uri") {
    // A reference to the environment may stand in its place.
    delete json.format;
    json.pattern = "^https?://|\\$\\{";
  }
}

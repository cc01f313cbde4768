import { z } from "zod";

/** A schema as it stands in a document. */
export type JsonSchema = Record<string, unknown>;

/** Where zod puts what several schemas refer to, and so do we not. */
const SHARED = "__shared#/$defs/";

/**
 * Named schemas as `components.schemas`. What may stand in a request is described, and an answer may get
 * new fields. A schema within another becomes a reference where it has a name too.
 */
export function jsonSchemas(
  named: Readonly<Record<string, z.ZodType>>,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  const { __shared: shared, ...rest } = JSON.parse(
    JSON.stringify(schemas).replaceAll(SHARED, ""),
  ) as Record<string, JsonSchema>;
  const all = { ...rest, ...shared?.$defs as Record<string, JsonSchema> | undefined };
  return Object.fromEntries(
    Object.entries(all).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

/** Takes out of a schema what is no rule of ours, or no word of JSON Schema. */
export function tidy(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  // An integer of JavaScript, which is no rule of this API.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // A number of a query, which is text on its way.
  if (jsonSchema.type === "integer") delete jsonSchema.pattern;
  if (jsonSchema.prefixItems?.length === 0) {
    // An empty list of schemas is none (JSON Schema 2020-12, Core 10.3.1.1).
    delete jsonSchema.prefixItems;
    delete jsonSchema.items;
  }
  // A word of zod's own; the pattern beside it says the same.
  if (jsonSchema.format === "starts_with") delete jsonSchema.format;
}

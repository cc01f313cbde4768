/**
 * From the schema of the configuration to what a key is typed into.
 *
 * @module
 */

import type { ValueForm } from "../ui/value_input.tsx";

/** As much of JSON Schema as the configuration's has. */
export interface Schema {
  type?: string;
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | false;
  anyOf?: readonly Schema[];
}

/** The part of the schema that a key such as `providers.a.headers["X.Y"]` is of. */
export function schemaAt(schema: Schema | undefined, path: string): Schema | undefined {
  let here = withoutNull(schema);
  for (const [, plain, quoted] of path.matchAll(/([^.[\]"]+)|"((?:\\.|[^"\\])*)"/g)) {
    const key = plain ?? quoted!;
    const { properties, additionalProperties } = here ?? {};
    const inner = properties !== undefined && Object.hasOwn(properties, key)
      ? properties[key]
      : additionalProperties || undefined;
    here = withoutNull(inner);
  }
  return here;
}

/** What a value of the key is typed into. */
export function formOf(
  schema: Schema | undefined,
  { secret, default: usual }: { secret: boolean; default?: unknown },
): ValueForm {
  if (secret) return { kind: "secret" };
  const choices = schema?.enum?.filter((each) => typeof each === "string");
  if (choices !== undefined && choices.length > 0) return { kind: "enum", choices };
  switch (schema?.type) {
    case "boolean":
      return { kind: "bool", isOptional: usual === undefined || usual === null };
    case "integer":
    case "number": {
      const { minimum, maximum, type } = schema;
      return {
        kind: "number",
        min: minimum,
        // A whole number without a bound of its own has that of JavaScript.
        max: maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum,
        isWhole: type === "integer",
      };
    }
    case "string":
      return { kind: "text" };
    case "array":
      return { kind: schema.items?.type === "string" ? "list" : "json" };
    default:
      return { kind: "json" };
  }
}

function withoutNull(schema: Schema | undefined): Schema | undefined {
  return schema?.anyOf?.find(({ type }) => type !== "null") ?? schema;
}

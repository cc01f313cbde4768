/**
 * From the schema of the configuration to what a key is typed into.
 *
 * @module
 */

import type { ValueForm } from "../ui/value_form.ts";

/** As much of JSON Schema as the configuration's has. */
export interface Schema {
  title?: string;
  description?: string;
  /** Its value is never shown. */
  writeOnly?: boolean;
  /** A text that people write in several lines. */
  "x-multiline"?: boolean;
  required?: readonly string[];
  type?: string;
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | false;
  anyOf?: readonly Schema[];
}

/** Titles and descriptions of keys, by patterns of paths. */
export type SettingWords = Readonly<Record<string, Pick<Schema, "title" | "description">>>;

/** A key of the configuration, or a section, or an entry that people name. */
export interface KeyPlace {
  path: string;
  /** The last part of the path. */
  name: string;
  /** The path with `*` for what people name. */
  pattern: string;
  schema: Schema | undefined;
  isNamed: boolean;
}

/** All that a key such as `providers.a.headers["X.Y"]` stands in, from the outside in, and itself. */
export function placesOf(schema: Schema | undefined, path: string): KeyPlace[] {
  let here = withoutNull(schema);
  let pattern = "";
  const found: KeyPlace[] = [];
  for (const { 1: plain, 2: quoted, index, 0: part } of path.matchAll(PARTS)) {
    const name = plain ?? JSON.parse(`"${quoted}"`);
    const { properties, additionalProperties } = here ?? {};
    const isKnown = properties !== undefined && Object.hasOwn(properties, name);
    here = withoutNull(isKnown ? properties[name] : additionalProperties || undefined);
    const isNamed = !isKnown && here !== undefined;
    pattern += `${pattern === "" ? "" : "."}${isNamed ? "*" : name}`;
    const end = index + part.length + (quoted === undefined ? 0 : 1);
    found.push({ path: path.slice(0, end), name, pattern, schema: here, isNamed });
  }
  return found;
}

const PARTS = /([^.[\]"]+)|"((?:\\.|[^"\\])*)"/g;
const PLAIN = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;

/** The path of an entry. */
export function entryPath(path: string, name: string): string {
  return PLAIN.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

/** Whether people name what is in it. */
export function isMap(schema: Schema | undefined): boolean {
  return schema?.type === "object" && Object.keys(schema.properties ?? {}).length === 0 &&
    typeof schema.additionalProperties === "object" && "type" in schema.additionalProperties;
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
      return { kind: schema["x-multiline"] ? "lines" : "text" };
    case "array":
      return { kind: schema.items?.type === "string" ? "list" : "json" };
    default:
      return { kind: "json" };
  }
}

function withoutNull(schema: Schema | undefined): Schema | undefined {
  return schema?.anyOf?.find(({ type }) => type !== "null") ?? schema;
}

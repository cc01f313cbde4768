/**
 * The operations as the browser app asks for them: where each is found, what it takes and gives. Types
 * alone cross to it, so that no schema is in what a browser loads.
 *
 * @module
 */

import { z } from "zod";
import {
  findGatewayOperation,
  findOperation,
  GATEWAY_OPERATIONS,
  OPERATIONS,
} from "../../../operations/operations.ts";
import type { OperationHead } from "../../../operations/operation.ts";
import { bootstrapAnswer } from "../bootstrap_routes.ts";

const HEAD = `/**
 * Written by \`deno task generate\` from the table of operations.
 *
 * @module
 */

`;

/** The module, as `deno fmt` would have it but for its line breaks. */
export function clientTypes(): string {
  const names = [...Object.keys(OPERATIONS), ...Object.keys(GATEWAY_OPERATIONS)];
  const operations = names.map((name) => ({
    name,
    it: (findOperation(name) ?? findGatewayOperation(name))!,
  })).filter(({ it }) => it.route !== undefined && it.scope !== "gateway");
  const routes = operations.map(({ name, it: { scope, route } }) =>
    `  "${name}": ["${route!.method}", "${route!.path}", "${scope}"],\n`
  );
  const schemas = operations.map(({ name, it }) => ({
    name,
    it,
    input: schemaOf(inputOf(it), "input"),
    output: schemaOf(it.output, "output"),
  }));
  const bootstrap = schemaOf(bootstrapAnswer, "output");
  const types = new TypeWriter([
    ...schemas.flatMap(({ input, output }) => [input, output]),
    bootstrap,
  ]);
  const entries = schemas.map(({ name, it, input, output }) =>
    `  /** ${it.summary}. */\n  "${name}": {\n` +
    `    input: ${types.write(input, name, "    ")};\n` +
    `    output: ${types.write(output, name, "    ")};\n  };\n`
  );
  const start = types.write(bootstrap, "bootstrap", "");
  return `${HEAD}/** Method, path and scope of each. */\nexport const ROUTES = {\n${
    routes.join("")
  }} as const;\n\n` +
    `/** What each takes and gives; of one that streams, each item. */\nexport interface Operations {\n${
      entries.join("")
    }}\n\n/** What the app begins with. */\nexport type Bootstrap = ${start};\n${
      types.definitions.join("")
    }`;
}

function inputOf({ input, route }: OperationHead): z.ZodType {
  return route!.input ?? input;
}

interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  description?: string;
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Schema {
  return z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Schema;
}

/** Objects of fewer fields have no name. */
const MIN_FIELDS = 3;

/** JSON schemas as TypeScript types. What stands in more than one place is named after the first one's field. */
class TypeWriter {
  /** Interfaces of the names that were written. */
  readonly definitions: string[] = [];
  readonly #places = new Map<string, number>();
  /** By what has them; undefined for names that are taken otherwise. */
  readonly #names = new Map<string, string | undefined>(
    ["Array", "Bootstrap", "Operations", "Record"].map((name) => [name, undefined]),
  );

  constructor(schemas: readonly Schema[]) {
    for (const schema of schemas) this.#count(schema);
  }

  /** `field`: where it stands. */
  write(schema: Schema, field: string, indent: string): string {
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
    const all = (schemas: readonly Schema[], sign: string) =>
      schemas.map((one) => this.write(one, field, indent)).join(sign);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return all(choices, " | ");
    if (schema.allOf !== undefined) return all(schema.allOf, " & ");
    if (Array.isArray(schema.type)) {
      return all(schema.type.map((type) => ({ ...schema, type })), " | ");
    }
    switch (schema.type) {
      case "string":
      case "boolean":
      case "null":
        return schema.type;
      case "integer":
      case "number":
        return "number";
      case "array":
        return `Array<${this.write(schema.items ?? {}, field.replace(/s$/, ""), indent)}>`;
      case "object":
        return (this.#places.get(keyOf(schema)) ?? 0) > 1
          ? this.#named(schema, field)
          : this.#object(schema, field, indent);
      default:
        return "unknown";
    }
  }

  #count(schema: Schema): void {
    const { properties = {}, anyOf = [], oneOf = [], allOf = [], items, additionalProperties } =
      schema;
    if (Object.keys(properties).length >= MIN_FIELDS) {
      const places = (this.#places.get(keyOf(schema)) ?? 0) + 1;
      this.#places.set(keyOf(schema), places);
      // What is in it stands there once.
      if (places > 1) return;
    }
    const more = typeof additionalProperties === "object" ? [additionalProperties] : [];
    const parts = [...Object.values(properties), ...anyOf, ...oneOf, ...allOf, ...more];
    for (const part of items === undefined ? parts : [...parts, items]) this.#count(part);
  }

  #named(schema: Schema, field: string): string {
    const key = keyOf(schema);
    const known = [...this.#names].find(([, of]) => of === key)?.[0];
    if (known !== undefined) return known;
    const stem = field.replace(/(?:^|\W|_)(\w)/g, (_, first: string) => first.toUpperCase());
    let name = stem;
    for (let at = 2; this.#names.has(name); at++) name = `${stem}${at}`;
    this.#names.set(name, key);
    const doc = schema.description === undefined ? "" : `/** ${comment(schema.description)} */\n`;
    const place = this.definitions.push("") - 1;
    this.definitions[place] = `\n${doc}interface ${name} ${this.#object(schema, field, "")}\n`;
    return name;
  }

  #object(
    { properties = {}, required = [], additionalProperties }: Schema,
    field: string,
    indent: string,
  ): string {
    const inner = `${indent}  `;
    const fields = Object.entries(properties).map(([name, schema]) => {
      const doc = schema.description === undefined
        ? ""
        : `${inner}/** ${comment(schema.description)} */\n`;
      const mark = required.includes(name) ? "" : "?";
      return `${doc}${inner}${name}${mark}: ${this.write(schema, name, inner)};\n`;
    });
    const isOpen = typeof additionalProperties === "object" &&
      Object.keys(additionalProperties).length > 0;
    if (fields.length === 0) {
      return isOpen
        ? `Record<string, ${this.write(additionalProperties, field, inner)}>`
        : additionalProperties === false
        ? "Record<string, never>"
        : "Record<string, unknown>";
    }
    const more = additionalProperties === undefined || additionalProperties === false
      ? ""
      : `${inner}[name: string]: unknown;\n`;
    return `{\n${fields.join("")}${more}${indent}}`;
  }
}

/** The same for types that have the same fields. */
function keyOf({ properties, required, additionalProperties }: Schema): string {
  return JSON.stringify([properties, required, additionalProperties]);
}

function comment(text: string): string {
  return text.replaceAll("*/", "*\\/");
}

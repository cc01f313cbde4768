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

/** The module, as \`deno fmt\` would have it but for its line breaks. */
export function clientTypes(): string {
  const names = [...Object.keys(OPERATIONS), ...Object.keys(GATEWAY_OPERATIONS)];
  const operations = names.map((name) => ({
    name,
    it: (findOperation(name) ?? findGatewayOperation(name))!,
  })).filter(({ it }) => it.route !== undefined && it.scope !== "gateway");
  const routes = operations.map(({ name, it: { scope, route } }) =>
    `  "${name}": ["${route!.method}", "${route!.path}", "${scope}"],\n`
  );
  const types = operations.map(({ name, it }) =>
    `  /** ${it.summary}. */\n  "${name}": {\n    input: ${
      typeOf(inputOf(it), "input", "    ")
    };\n` +
    `    output: ${typeOf(it.output, "output", "    ")};\n  };\n`
  );
  return `${HEAD}/** Method, path and scope of each. */\nexport const ROUTES = {\n${
    routes.join("")
  }} as const;\n\n` +
    `/** What each takes and gives; of one that streams, each item. */\nexport interface Operations {\n${
      types.join("")
    }}\n\n/** What the app begins with. */\nexport type Bootstrap = ${
      typeOf(bootstrapAnswer, "output", "")
    };\n`;
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

function typeOf(schema: z.ZodType, io: "input" | "output", indent: string): string {
  return written(
    z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Schema,
    indent,
  );
}

/** A JSON schema as a TypeScript type. */
function written(schema: Schema, indent: string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((one) => written(one, indent)).join(" | ");
  if (schema.allOf !== undefined) {
    return schema.allOf.map((one) => written(one, indent)).join(" & ");
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => written({ ...schema, type }, indent)).join(" | ");
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
      return `Array<${written(schema.items ?? {}, indent)}>`;
    case "object":
      return objectType(schema, indent);
    default:
      return "unknown";
  }
}

function objectType(
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const doc = schema.description === undefined
      ? ""
      : `${inner}/** ${schema.description.replaceAll("*/", "*\\/")} */\n`;
    const mark = required.includes(name) ? "" : "?";
    return `${doc}${inner}${name}${mark}: ${written(schema, inner)};\n`;
  });
  const isOpen = typeof additionalProperties === "object" &&
    Object.keys(additionalProperties).length > 0;
  if (fields.length === 0) {
    return isOpen
      ? `Record<string, ${written(additionalProperties, inner)}>`
      : additionalProperties === false
      ? "Record<string, never>"
      : "Record<string, unknown>";
  }
  const more = additionalProperties === undefined || additionalProperties === false
    ? ""
    : `${inner}[name: string]: unknown;\n`;
  return `{\n${fields.join("")}${more}${indent}}`;
}

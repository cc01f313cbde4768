/**
 * The arguments of a tool as docs/tools.md has to state them.
 *
 * @module
 */

import type { DescribedTool } from "../../lib/tools/mod.ts";

interface Property {
  type?: string;
  enum?: string[];
  anyOf?: Property[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  default?: unknown;
}

/** Name, what is taken, and the default of each argument, in their order. */
export function argumentRows({ parameters }: DescribedTool): [string, string, string][] {
  const required = parameters.required as string[] | undefined ?? [];
  return Object.entries(parameters.properties as Record<string, Property>).map(([name, one]) => [
    `\`${name}\``,
    takes(one),
    required.includes(name)
      ? "required"
      : one.default === undefined
      ? "none"
      : `\`${JSON.stringify(one.default)}\``,
  ]);
}

function takes(one: Property): string {
  if (one.anyOf !== undefined) return one.anyOf.map(takes).join("; or ");
  if (one.enum !== undefined) return one.enum.map((value) => `\`${value}\``).join(", ");
  switch (one.type) {
    case "string": {
      if (one.maxLength === undefined) return "text";
      const least = one.minLength === undefined ? "at most" : `${one.minLength} to`;
      return `text, ${least} ${one.maxLength} characters`;
    }
    case "integer":
    case "number": {
      const kind = one.type === "integer" ? "whole number" : "number";
      return one.maximum === undefined || one.maximum === Number.MAX_SAFE_INTEGER
        ? `${kind}, ${one.minimum} or more`
        : `${kind}, ${one.minimum} to ${one.maximum}`;
    }
    case "boolean":
      return "true or false";
    case "array":
      return one.maxItems === undefined ? "list" : `list, at most ${one.maxItems}`;
    default:
      return one.type ?? "anything";
  }
}

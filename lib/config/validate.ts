/**
 * Holds a configuration against the schema. Every problem is found, and each message names the value
 * and what was wanted.
 *
 * @module
 */

import { z } from "zod";
import { isObject, type KeyPath, valueAt } from "../base/key_path.ts";
import type { Problem } from "./problem.ts";
import { isReference } from "./references.ts";
import { keysOf, kindOf, nodeAt, type Schema, type SchemaNode } from "./schema_tree.ts";
import { withoutCredentials } from "../base/without_credentials.ts";

/** Compiling the schema to code costs more than it saves on a file that is read once. */
const ONCE = { jitless: true };

/** What came of it. */
export interface Validated<T> {
  /** The configuration with its defaults; what was wrong is replaced by its default. */
  value?: T;
  problems: Problem[];
}

/**
 * Parses a resolved configuration. `written` is the same before references were replaced, for
 * messages: the value of a variable is never shown.
 */
export function validate<T extends z.ZodType>(
  resolved: unknown,
  written: unknown,
  schema: T,
): Validated<z.output<T>> {
  const parsed = schema.safeParse(resolved, ONCE);
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = parsed.error.issues.map((issue) => toProblem(issue, written, schema));
  return { value: parseRest(resolved, parsed.error.issues, schema), problems };
}

type Issue = z.core.$ZodIssue;

/**
 * Parses again without the values that are wrong, so that checks which concern several keys can
 * still be made on the others. A missing value takes its section with it.
 */
function parseRest<T extends z.ZodType>(
  resolved: unknown,
  issues: readonly Issue[],
  schema: T,
): z.output<T> | undefined {
  let rest = resolved;
  let wrong = issues;
  // Each round removes something, a level further out where the same place is wrong again.
  for (let round = 0; round < 10; round++) {
    for (const { path } of wrong) rest = without(rest, existing(rest, path as KeyPath));
    const parsed = schema.safeParse(rest, ONCE);
    if (parsed.success) return parsed.data;
    wrong = parsed.error.issues;
  }
  return undefined;
}

/** The path, or the part of it that exists and is in no list: an index would move its neighbours. */
function existing(root: unknown, path: KeyPath): KeyPath {
  const list = path.findIndex((segment) => typeof segment === "number");
  const end = list < 0 ? path.length : list;
  for (let length = end; length > 0; length--) {
    if (valueAt(root, path.slice(0, length)) !== undefined) return path.slice(0, length);
  }
  return [];
}

function without(value: unknown, path: KeyPath): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return {};
  if (!isObject(value)) return value;
  const { [key]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...others, [key]: without(inner, rest) };
}

function toProblem(issue: Issue, written: unknown, schema: Schema): Problem {
  const path = issue.path as KeyPath;
  if (issue.code === "invalid_key") {
    const wanted = issue.issues.map(({ message }) => message).join(", ");
    return { path, kind: "value", message: `the name is not ${wanted}` };
  }
  const node = nodeAt(schema, path);
  // A check of the schema's own says what it wants, where the type alone does not.
  const wanted = node === undefined || issue.code === "custom" ? issue.message : expectation(node);
  const value = valueAt(written, path);
  const message = value === undefined
    ? `is missing; it has to be ${wanted}`
    : `${shown(value, node)} is not ${wanted}`;
  return { path, kind: "value", message };
}

/** What a key may hold, such as `an integer from 0 to 65535`. */
function expectation(node: SchemaNode): string {
  const wanted = expectationOf(
    z.toJSONSchema(node.inner, { io: "input", unrepresentable: "any" }),
  );
  return node.nullable ? `${wanted} or null` : wanted;
}

function expectationOf(json: z.core.JSONSchema.BaseSchema): string {
  const { minimum, maximum, minLength, minItems, enum: choices, format, type, items, anyOf } = json;
  if (anyOf !== undefined) return anyOf.map(expectationOf).join(" or ");
  if (json.const !== undefined) return JSON.stringify(json.const);
  if (choices !== undefined) {
    return `one of ${choices.map((each) => JSON.stringify(each)).join(", ")}`;
  }
  switch (type) {
    case "integer":
    case "number":
      return (type === "integer" ? "an integer" : "a number") + range(minimum, maximum);
    case "boolean":
      return "true or false";
    case "string":
      if (format === "uri") return "an address that begins with http:// or https://";
      return minLength === 1 ? "text that is not empty" : "text";
    case "array": {
      const of = isObject(items) && items.type === "string" ? " of texts" : "";
      return `a list${of}${minItems === 1 ? " that is not empty" : ""}`;
    }
    default:
      return "an object in braces";
  }
}

function range(minimum: number | undefined, maximum: number | undefined): string {
  const from = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const to = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (from !== undefined && to !== undefined) return ` from ${from} to ${to}`;
  if (from !== undefined) return ` of at least ${from}`;
  return to === undefined ? "" : ` of at most ${to}`;
}

/** Most characters of a value in a message. */
const MAX_SHOWN = 60;

/**
 * The value for a message. Only what a single value was wanted for is shown: a text in place of a
 * section may be a key that was put one level too high.
 */
function shown(value: unknown, node: SchemaNode | undefined): string {
  const hidden = node === undefined || node.meta.secret || keysOf(node) !== undefined ||
    ["object", "record", "array"].includes(kindOf(node));
  switch (typeof value) {
    case "string": {
      if (hidden && !isReference(value)) return "the text that is there";
      const safe = withoutCredentials(value);
      return JSON.stringify(safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN)}…` : safe);
    }
    case "number":
    case "boolean":
      return node?.meta.secret ? `a ${typeof value}` : String(value);
    default:
      return value === null ? "null" : Array.isArray(value) ? "a list" : "an object";
  }
}

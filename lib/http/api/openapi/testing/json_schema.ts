/**
 * Checks values against JSON Schema 2020-12, as far as the OpenAPI document uses it. A keyword that
 * it does not know throws: a check that is left out would look like one that passed.
 *
 * @module
 */

/** A schema. */
// deno-lint-ignore no-explicit-any -- JSON of any shape
export type Schema = any;

/** How strict a check is. */
export interface CheckOptions {
  /** Where `#/…` references lead. */
  root: Schema;
  /** Properties that a schema with `properties` does not name are wrong, unless it says otherwise. */
  closed?: boolean;
}

/** Keywords that say nothing about validity. */
const NOTES = new Set([
  "description",
  "title",
  "contentMediaType",
  "default",
  "discriminator",
  "example",
  "examples",
]);

/** What is wrong with a value, each with its place; empty when it is valid. */
export function schemaProblems(schema: Schema, value: unknown, options: CheckOptions): string[] {
  return check(schema, value, "$", options);
}

/** The schema that a reference names. Throws when there is none. */
export function resolveRef(ref: string, root: Schema): Schema {
  if (!ref.startsWith("#/")) throw new Error(`${ref} does not begin with #/`);
  const found = ref.slice(2).split("/").reduce<Schema>(
    (inner, key) => inner?.[key.replaceAll("~1", "/").replaceAll("~0", "~")],
    root,
  );
  if (found === undefined) throw new Error(`${ref} leads nowhere`);
  return found;
}

function check(schema: Schema, value: unknown, at: string, options: CheckOptions): string[] {
  if (schema === true) return [];
  if (schema === false) return [`${at}: nothing may stand here`];
  if (typeof schema !== "object" || schema === null) throw new Error(`${at}: no schema: ${schema}`);
  return Object.keys(schema).flatMap((keyword) => {
    if (NOTES.has(keyword) || keyword.startsWith("x-")) return [];
    const rule = RULES[keyword];
    if (rule === undefined) throw new Error(`${at}: the keyword ${keyword} is not known`);
    return rule(schema, value, at, options);
  }).concat(options.closed ? undocumented(schema, value, at) : []);
}

type Rule = (schema: Schema, value: unknown, at: string, options: CheckOptions) => string[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function when<T>(
  applies: (value: unknown) => value is T,
  fits: (value: T, schema: Schema) => boolean,
  keyword: string,
): Rule {
  return (schema, value, at) =>
    !applies(value) || fits(value, schema)
      ? []
      : [`${at}: ${keyword} ${JSON.stringify(schema[keyword])} does not hold`];
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const RULES: Record<string, Rule> = {
  $ref: (schema, value, at, options) =>
    check(resolveRef(schema.$ref, options.root), value, at, options),
  type: (schema, value, at) => {
    const types: string[] = [schema.type].flat();
    const actual = typeOf(value);
    const fits = types.includes(actual) ||
      (types.includes("integer") && Number.isInteger(value));
    return fits ? [] : [`${at}: ${actual}, not ${types.join(" or ")}`];
  },
  const: (schema, value, at) =>
    value === schema.const
      ? []
      : [`${at}: ${JSON.stringify(value)}, not ${JSON.stringify(schema.const)}`],
  enum: (schema, value, at) =>
    schema.enum.includes(value)
      ? []
      : [`${at}: ${JSON.stringify(value)} is none of ${schema.enum.join(", ")}`],
  properties: (schema, value, at, options) =>
    !isObject(value)
      ? []
      : Object.entries(schema.properties).flatMap(([name, inner]) =>
        Object.hasOwn(value, name) ? check(inner, value[name], `${at}.${name}`, options) : []
      ),
  required: (schema, value, at) =>
    !isObject(value) ? [] : schema.required.filter((name: string) => !Object.hasOwn(value, name))
      .map((name: string) => `${at}.${name}: missing`),
  additionalProperties: (schema, value, at, options) =>
    !isObject(value) ? [] : Object.entries(value)
      .filter(([name]) => !Object.hasOwn(schema.properties ?? {}, name))
      .flatMap(([name, inner]) =>
        check(schema.additionalProperties, inner, `${at}.${name}`, options)
      ),
  propertyNames: (schema, value, at, options) =>
    !isObject(value)
      ? []
      : Object.keys(value).flatMap((name) =>
        check(schema.propertyNames, name, `${at}.(${name})`, options)
      ),
  maxProperties: when(
    isObject,
    (value, { maxProperties }) => Object.keys(value).length <= maxProperties,
    "maxProperties",
  ),
  items: (schema, value, at, options) =>
    !isList(value)
      ? []
      : value.flatMap((item, index) => check(schema.items, item, `${at}[${index}]`, options)),
  minItems: when(isList, (value, { minItems }) => value.length >= minItems, "minItems"),
  maxItems: when(isList, (value, { maxItems }) => value.length <= maxItems, "maxItems"),
  pattern: when(isText, (value, { pattern }) => new RegExp(pattern, "u").test(value), "pattern"),
  maxLength: when(isText, (value, { maxLength }) => [...value].length <= maxLength, "maxLength"),
  minLength: when(isText, (value, { minLength }) => [...value].length >= minLength, "minLength"),
  maximum: when(isNumber, (value, { maximum }) => value <= maximum, "maximum"),
  minimum: when(isNumber, (value, { minimum }) => value >= minimum, "minimum"),
  anyOf: (schema, value, at, options) => oneBranch(schema.anyOf, value, at, options),
  oneOf: (schema, value, at, options) => {
    const fitting = schema.oneOf.filter((branch: Schema) =>
      check(branch, value, at, options).length === 0
    );
    if (fitting.length > 1) return [`${at}: ${fitting.length} of oneOf hold`];
    return oneBranch(schema.oneOf, value, at, options);
  },
  // Each branch names a part of the properties, so none of them is closed.
  allOf: (schema, value, at, options) =>
    schema.allOf.flatMap((branch: Schema) =>
      check(branch, value, at, { ...options, closed: options.closed && "$ref" in branch })
    ),
};

/** What is wrong with the branch that comes closest. */
function oneBranch(
  branches: Schema[],
  value: unknown,
  at: string,
  options: CheckOptions,
): string[] {
  const problems = branches.map((branch) => check(branch, value, at, options));
  return problems.reduce((best, one) => one.length < best.length ? one : best);
}

function undocumented(schema: Schema, value: unknown, at: string): string[] {
  if (!isObject(value) || schema.properties === undefined) return [];
  if (schema.additionalProperties !== undefined) return [];
  return Object.keys(value).filter((name) => !Object.hasOwn(schema.properties, name))
    .map((name) => `${at}.${name}: not in the schema`);
}

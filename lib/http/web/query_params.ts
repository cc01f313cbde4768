/**
 * Parameters of a query, checked as bodies are.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { check } from "../../listen/request_error.ts";
import { fieldOfTexts, innermost } from "../../operations/field_of_texts.ts";

/**
 * The parameters that a schema names; others are ignored. Throws `invalid_request` that names the
 * parameter, also for one that is there twice.
 */
export function readQuery<Schema extends z.ZodObject>(
  schema: Schema,
  query: URLSearchParams,
): z.infer<Schema> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const [value, another] = query.getAll(name);
    if (another !== undefined) {
      throw new ServiceError("invalid_request", `${name} must be given once`, { param: name });
    }
    if (value !== undefined) given[name] = value;
  }
  return check(schema, given);
}

/**
 * The parameters of a query as fields of a schema, not checked yet. `all`: those too that the schema
 * doesn't name. Throws `invalid_request` for one that is there twice and is no list.
 */
export function queryTexts(
  { shape }: z.ZodObject<Record<string, z.ZodType>>,
  query: URLSearchParams,
  all = false,
): Record<string, unknown> {
  const names = [...new Set(query.keys())];
  return Object.fromEntries(names.flatMap((name) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (schema === undefined && !all) return [];
    const texts = query.getAll(name);
    if (texts.length > 1 && (schema === undefined || innermost(schema).def.type !== "array")) {
      const param = schema === undefined ? "query" : name;
      throw new ServiceError("invalid_request", `${param} must be given once`, { param });
    }
    return [[name, schema === undefined ? texts[0] : fieldOfTexts(schema, texts)]];
  }));
}

/** A whole number of a query, in decimal digits alone. */
export function wholeNumber(
  min: number,
  max: number,
): z.ZodPipe<z.ZodString, z.ZodTransform<number>> {
  const wanted = `a whole number from ${min} to ${max}`;
  return z.string(wanted).meta({ type: "integer", minimum: min, maximum: max })
    .regex(/^\d{1,16}$/, wanted)
    .transform((text, context) => {
      const number = Number(text);
      if (number < min || number > max) context.addIssue(wanted);
      return number;
    });
}

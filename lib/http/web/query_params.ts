/**
 * Parameters of a query, checked as bodies are.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { check } from "../../listen/request_error.ts";

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
 * The parameters of a query as fields of a schema, not checked yet: decimal digits are a number where one
 * is expected. `all`: those too that the schema doesn't name. Throws `invalid_request` for one that is
 * there twice.
 */
export function queryTexts(
  { shape }: z.ZodObject,
  query: URLSearchParams,
  all = false,
): Record<string, unknown> {
  const given = new Map<string, unknown>();
  for (const [name, text] of query) {
    const isKnown = Object.hasOwn(shape, name);
    if (!isKnown && !all) continue;
    if (given.has(name)) {
      const param = isKnown ? name : "query";
      throw new ServiceError("invalid_request", `${param} must be given once`, { param });
    }
    const isNumber = isKnown && unwrapped(shape[name]!) instanceof z.ZodNumber;
    given.set(name, isNumber && /^\d{1,16}$/.test(text) ? Number(text) : text);
  }
  return Object.fromEntries(given);
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema;
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

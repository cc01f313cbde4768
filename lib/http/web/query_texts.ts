import type { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { fieldOfTexts, innermost } from "../../operations/field_of_texts.ts";

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

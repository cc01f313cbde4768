/**
 * Checks what may hold a secret.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";

/**
 * The value as the schema gives it. Throws `invalid_request` that names the field and what is expected,
 * and repeats nothing of what was sent.
 */
export function checkSilently<T>(schema: z.ZodType<T>, value: unknown): T {
  const checked = schema.safeParse(value, { reportInput: false });
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0]!;
  const message = issue.code === "unrecognized_keys" ? "without other fields" : issue.message;
  const param = knownPath(schema, issue.path).join(".");
  throw new ServiceError("invalid_request", `${param || "The body"} must be ${message}`, {
    param: param || undefined,
  });
}

/** As far as the schema names it: other keys are the sender's own. */
function knownPath(schema: z.core.$ZodType, path: readonly PropertyKey[]): PropertyKey[] {
  const [key, ...rest] = path;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return knownPath(schema.unwrap(), path);
  }
  if (
    schema instanceof z.ZodObject && typeof key === "string" && Object.hasOwn(schema.shape, key)
  ) {
    return [key, ...knownPath(schema.shape[key], rest)];
  }
  if (schema instanceof z.ZodArray && typeof key === "number") {
    return [key, ...knownPath(schema.element, rest)];
  }
  return [];
}

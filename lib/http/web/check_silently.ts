/**
 * Checks a body that may hold a secret.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../../base/errors.ts";

/**
 * The value as the schema gives it. Throws `invalid_request` that names the field and what is expected,
 * and repeats nothing of what was sent.
 */
export function checkSilently<T>(schema: z.ZodType<T>, value: unknown): T {
  const checked = schema.safeParse(value, { reportInput: false });
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0]!;
  // Names of keys are the sender's own, too, where the schema does not know them.
  const message = issue.code === "unrecognized_keys" ? "without other fields" : issue.message;
  const param = issue.path.map(String).join(".");
  throw new ServiceError("invalid_request", `${param || "The body"} must be ${message}`, {
    param: param || undefined,
  });
}

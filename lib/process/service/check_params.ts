import type { z } from "zod";
import { ServiceError } from "../../base/errors.ts";

/** Parameters of an operation as the schema gives them. Throws `invalid_request` that names the field. */
export function checkParams<T>(schema: z.ZodType<T>, params: unknown): T {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const param = issue.path.join(".");
  throw new ServiceError("invalid_request", `${param}: ${issue.message}`, { param });
}

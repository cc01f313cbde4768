import type { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { check } from "../../listen/request_error.ts";
import type { Bodies } from "../body.ts";
import { bodyType } from "../guard.ts";

/** Bytes of a body where a route names no other bound. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * What reads the body of one call as JSON and checks it. Throws `unsupported_media_type`, `too_large`,
 * `request_timeout`, `overloaded`, or `invalid_request` that names the field.
 */
export function readBody(
  bodies: Bodies,
  request: Request,
  maxBytes = MAX_BODY_BYTES,
): <T>(schema: z.ZodType<T>) => Promise<T> {
  return async <T>(schema: z.ZodType<T>) => {
    if (bodyType(request) !== "application/json") {
      throw new ServiceError("unsupported_media_type", "The body must be application/json", {
        param: "Content-Type",
      });
    }
    using body = await bodies.json(request, { maxBytes });
    return check(schema, body.value);
  };
}

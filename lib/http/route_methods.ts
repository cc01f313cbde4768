/**
 * What a path can be asked with: for 405, OPTIONS and preflights.
 *
 * @module
 */

import type { Env, Hono } from "hono";
import { ServiceError } from "../base/errors.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Methods of a path as in the header Allow; empty when there is no such path. */
export function allowedMethods<E extends Env>(
  routes: Pick<Hono<E>, "router">,
  path: string,
): string {
  const methods: string[] = METHODS.filter((method) =>
    routes.router.match(method, path)[0].length > 0
  );
  if (methods.length === 0) return "";
  if (methods.includes("GET")) methods.push("HEAD");
  return [...methods, "OPTIONS"].join(", ");
}

/** The answer to OPTIONS. Throws `not_found` when there is no such path. */
export function describeMethods(allow: string): Response {
  if (allow === "") throw new ServiceError("not_found", "There is no such route");
  return new Response(null, { status: 204, headers: { allow } });
}

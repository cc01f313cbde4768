/**
 * The routes of the responses wire shape.
 *
 * @module
 */

import type { Hono } from "hono";
import type { RequestContext } from "../request_context.ts";
import { createResponse, type CreateResponseDeps, RESPONSES_ROUTE } from "./create_response.ts";
import { createStoredResponses, type StoredResponseDeps } from "./stored_response.ts";

/** What the routes need. */
export type ResponsesDeps = CreateResponseDeps & StoredResponseDeps;

/** Adds the routes. */
export function addResponsesRoutes(
  routes: Hono<{ Bindings: RequestContext }>,
  deps: ResponsesDeps,
): void {
  const create = createResponse(deps);
  const stored = createStoredResponses(deps);
  const path = `${RESPONSES_ROUTE}/:id`;
  routes.post(RESPONSES_ROUTE, (c) => create(c.req.raw, c.env));
  routes.get(path, (c) => stored.retrieve(c.req.param("id"), c.req.query(), c.req.raw, c.env));
  routes.delete(path, (c) => stored.remove(c.req.param("id")));
  routes.post(`${path}/cancel`, (c) => stored.cancel(c.req.param("id"), c.req.raw));
}

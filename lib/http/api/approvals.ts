/**
 * The approvers' routes on the API's port: the same as on the WebSocket port, for tokens with the scope
 * approve or operate alone. The authority checks them, and `api.apiKey` is none.
 *
 * @module
 */

import type { Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import { APPROVALS } from "../../operations/approvals.ts";
import type { Operate } from "../../operations/operations.ts";
import { ServiceError } from "../../base/errors.ts";
import { bearer } from "../auth.ts";
import type { AuthFailures } from "../auth_failures.ts";
import { Bodies } from "../body.ts";
import { operationRoutes } from "../web/operation_routes.ts";
import { readBody } from "../web/read_body.ts";
import type { Caller } from "../web/web_route.ts";
import type { RequestContext } from "./request_context.ts";

/** What the routes need. */
export interface ApprovalsDeps {
  operate: Operate;
  /** Shared with the key of the API: a guess is a guess. */
  failures: AuthFailures;
  clock: Clock;
}

/** Mounts the routes. */
export function addApprovalRoutes(
  routes: Hono<{ Bindings: RequestContext }>,
  { operate, failures, clock }: ApprovalsDeps,
): void {
  const bodies = new Bodies({ clock });
  for (const route of operationRoutes(APPROVALS, { operate })) {
    routes.on(route.method, [route.path], async (c) => {
      const request = c.req.raw;
      const context = c.env;
      try {
        const caller = callerOf(request);
        // A body is for those alone whose token is in force.
        await operate({ op: "tokens.check" }, caller.credential);
        return await route.handle({
          request,
          params: c.req.param() as Record<string, string>,
          query: new URLSearchParams(),
          // No proxy is trusted on this port.
          arrival: { peerAddress: context.peer, headerValues: () => [] },
          context,
          caller,
          body: readBody(bodies, request, route.maxBodyBytes),
        });
      } catch (error) {
        throw countedFailure(error, failures, context.peer);
      }
    });
  }
}

function callerOf({ headers }: Request): Caller {
  const token = bearer(headers.get("authorization"));
  if (token === undefined) {
    throw new ServiceError(
      "invalid_token",
      "A token with the scope approve is needed: send the header Authorization: Bearer <token>",
    );
  }
  return { actor: "api:token", credential: { kind: "token", token: token.slice(0, 1_000) } };
}

/** A token that is none is counted by address, and a guess too many is answered as one. */
export function countedFailure(
  error: unknown,
  failures: AuthFailures,
  peer: string,
): unknown {
  if (!(error instanceof ServiceError) || error.code !== "invalid_token") return error;
  const retryAfterS = failures.record(peer);
  if (retryAfterS === 0) return error;
  return new ServiceError(
    "too_many_auth_failures",
    `Too many requests without the right token; try again in ${retryAfterS} s`,
    { retryAfterS },
  );
}

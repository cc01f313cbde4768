/**
 * The inbox of approvers: what waits for a person, and the answers to it (decisions E4).
 *
 * For tokens with the scope approve or operate alone: the authority checks them, and `api.apiKey` is none.
 * A body is read only once the token is known to be right.
 *
 * @module
 */

import type { Hono } from "hono";
import { z } from "zod";
import type { ApprovalView } from "../../authority/actions.ts";
import type { Credential, OperatorAnswer, OperatorRequest } from "../../authority/operator.ts";
import { ServiceError } from "../../errors.ts";
import { bearer } from "../auth.ts";
import type { AuthFailures } from "../auth_failures.ts";
import { Bodies } from "../body.ts";
import { bodyType } from "../guard.ts";
import type { Clock } from "../../agent/clock.ts";
import { check } from "./request_error.ts";
import type { RequestContext } from "./request_context.ts";

/** Where the routes are. They have credentials of their own. */
export const APPROVALS_PATH = "/api/webui/approvals";

/** Asks the authority; rejects with its ServiceError. */
export type Operate = (
  request: OperatorRequest,
  credential: Credential,
) => Promise<OperatorAnswer>;

/** What the routes need. */
export interface ApprovalsDeps {
  operate: Operate;
  /** Shared with the key of the API: a guess is a guess. */
  failures: AuthFailures;
  clock: Clock;
}

/** Bytes of a body; it holds a digest or a few words. */
const MAX_BODY_BYTES = 64 * 1024;

/** Of POST …/approve. */
export const approveSchema = z.object({
  digest: z.string("the 64 hex digits of the approval's digest")
    .regex(/^[0-9a-f]{64}$/, "the 64 hex digits of the approval's digest")
    .describe("The digest of the approval; another one is a 409, and it still waits."),
}, "an object").describe("The answer yes.");

/** Of POST …/deny. */
export const denySchema = z.object({
  reason: z.string("text of at most 1,000 characters")
    .max(1_000, "text of at most 1,000 characters")
    .optional().describe("Told to the turn."),
}, "an object").describe(
  "The answer no; it also denies the capability in the session from then on.",
);

/** Mounts the routes. */
export function addApprovalRoutes(
  routes: Hono<{ Bindings: RequestContext }>,
  { operate, failures, clock }: ApprovalsDeps,
): void {
  const bodies = new Bodies({ clock, limits: { maxBytes: MAX_BODY_BYTES } });
  const one = `${APPROVALS_PATH}/:id`;

  /** Asks with the token of a request. Failed ones are counted by address. */
  async function ask(raw: Request, { peer }: RequestContext, request: OperatorRequest) {
    const token = bearer(raw.headers.get("authorization"));
    try {
      if (token === undefined) {
        throw new ServiceError(
          "invalid_token",
          "A token with the scope approve is needed: send the header Authorization: Bearer <token>",
        );
      }
      return await operate(request, { kind: "token", token: token.slice(0, 1_000) });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "invalid_token") throw error;
      const retryAfterS = failures.record(peer);
      if (retryAfterS === 0) throw error;
      throw new ServiceError(
        "too_many_auth_failures",
        `Too many requests without the right token; try again in ${retryAfterS} s`,
        { retryAfterS },
      );
    }
  }

  async function read<T>(raw: Request, schema: z.ZodType<T>): Promise<T> {
    if (bodyType(raw) !== "application/json") {
      throw new ServiceError("unsupported_media_type", "The body must be application/json");
    }
    using body = await bodies.json(raw);
    return check(schema, body.value);
  }

  routes.get(APPROVALS_PATH, async (c) => {
    const answer = await ask(c.req.raw, c.env, { op: "approvals.list" });
    const { approvals } = answer as Extract<OperatorAnswer, { approvals: unknown }>;
    return Response.json({ approvals: approvals.map(toWire) });
  });
  routes.get(
    one,
    async (c) => Response.json(toWireWhole(await find(c.req.raw, c.env, c.req.param("id")))),
  );
  routes.post(`${one}/approve`, async (c) => {
    const id = c.req.param("id");
    await find(c.req.raw, c.env, id);
    const { digest } = await read(c.req.raw, approveSchema);
    await ask(c.req.raw, c.env, { op: "approvals.approve", id, digest });
    return Response.json({ id, outcome: "approved" });
  });
  routes.post(`${one}/deny`, async (c) => {
    const id = c.req.param("id");
    await find(c.req.raw, c.env, id);
    const { reason = "" } = await read(c.req.raw, denySchema);
    await ask(c.req.raw, c.env, { op: "approvals.deny", id, reason });
    return Response.json({ id, outcome: "denied" });
  });

  async function find(raw: Request, context: RequestContext, id: string): Promise<ApprovalView> {
    const answer = await ask(raw, context, { op: "approvals.get", id: id.slice(0, 100) });
    return (answer as Extract<OperatorAnswer, { approval: unknown }>).approval;
  }
}

/** An approval in the list. Times in seconds, as everywhere on this API. */
function toWire({ id, digest, capability, target, session, createdAt, expiresAt }: ApprovalView) {
  return {
    id,
    digest,
    capability,
    target,
    session,
    created_at: Math.floor(createdAt / 1000),
    expires_at: Math.floor(expiresAt / 1000),
  };
}

function toWireWhole(view: ApprovalView) {
  const { tool, details, channel, actor } = view;
  return { ...toWire(view), tool, details, channel, actor };
}

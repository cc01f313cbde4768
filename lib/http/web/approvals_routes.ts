/**
 * The inbox of approvers: what waits for a person, and the answers to it. On both ports;
 * the authority checks the caller's credential each time, and a body is read only after that.
 *
 * @module
 */

import { z } from "zod";
import type { ApprovalView } from "../../contract/actions.ts";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { Operate } from "../api/approvals.ts";
import { approvalListSchema, approvalOutcomeSchema, approvalSchema } from "./approval_schemas.ts";
import type { GuardedRoute, WebCall } from "./web_route.ts";

/** Where they are. */
export const APPROVALS_PATH = "/api/webui/approvals";

const ONE = `${APPROVALS_PATH}/:id`;

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

const ERRORS = [
  "approval_not_found",
  "approval_answered",
  "approval_expired",
  "approval_void",
  "approval_stopped",
] as const;

/** `operate` asks the authority. */
export function createApprovalsRoutes({ operate }: { operate: Operate }): GuardedRoute[] {
  async function find({ params, caller }: WebCall): Promise<ApprovalView> {
    const id = (params.id ?? "").slice(0, 100);
    const answer = await operate({ op: "approvals.get", id }, caller.credential);
    return (answer as Extract<OperatorAnswer, { approval: unknown }>).approval;
  }

  return [
    {
      method: "GET",
      path: APPROVALS_PATH,
      scope: "approve",
      summary: "List the actions that wait for a person",
      docs: { answer: approvalListSchema },
      async handle({ caller }) {
        const answer = await operate({ op: "approvals.list" }, caller.credential);
        const { approvals } = answer as Extract<OperatorAnswer, { approvals: unknown }>;
        return Response.json({ approvals: approvals.map(toWire) });
      },
    },
    {
      method: "GET",
      path: ONE,
      scope: "approve",
      summary: "Show an action that waits, with everything to decide by",
      docs: { answer: approvalSchema, errors: ERRORS },
      async handle(call) {
        const view = await find(call);
        const { tool, details, channel, actor } = view;
        return Response.json({ ...toWire(view), tool, details, channel, actor });
      },
    },
    {
      method: "POST",
      path: `${ONE}/approve`,
      scope: "approve",
      summary: "Let the action run, once",
      docs: {
        body: approveSchema,
        answer: approvalOutcomeSchema,
        errors: [...ERRORS, "approval_mismatch", "audit_unavailable"],
      },
      async handle(call) {
        const { id } = await find(call);
        const { digest } = await call.body(approveSchema);
        await operate({ op: "approvals.approve", id, digest }, call.caller.credential);
        return Response.json({ id, outcome: "approved" });
      },
    },
    {
      method: "POST",
      path: `${ONE}/deny`,
      scope: "approve",
      summary: "Refuse the action, and what else of its kind the session would ask for",
      docs: {
        body: denySchema,
        answer: approvalOutcomeSchema,
        errors: [...ERRORS, "audit_unavailable"],
      },
      async handle(call) {
        const { id } = await find(call);
        const { reason = "" } = await call.body(denySchema);
        await operate({ op: "approvals.deny", id, reason }, call.caller.credential);
        return Response.json({ id, outcome: "denied" });
      },
    },
  ];
}

/** An approval in the list. Times in seconds, as everywhere on these ports. */
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

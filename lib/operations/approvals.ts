/**
 * The inbox of approvers, and what a denial blocks from then on.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { CAPABILITIES } from "../contract/actions.ts";
import { inSeconds, seconds, toWire } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

/** Where approvals are. */
export const APPROVALS_PATH = "/api/webui/approvals";
const BLOCKS_PATH = "/api/webui/latches";

const id = z.string("an id").max(100, "at most 100 characters");
const capability = z.enum(CAPABILITIES, `one of ${CAPABILITIES.join(", ")}`);
const reasonForm = "text of at most 1,000 characters";
const digestForm = "the 64 hex digits of the approval's digest";

const summary = z.object({
  id: z.string().regex(/^apr_/),
  digest: z.string().regex(/^[0-9a-f]{64}$/).describe("Of the action; an answer repeats it."),
  capability,
  target: z.string().describe("What the action is about, resolved; hidden characters as \\u{…}."),
  session: z.string(),
  created_at: seconds,
  expires_at: seconds,
}).describe("A pending approval.");

const approval = summary.extend({
  tool: z.string(),
  details: z.string().describe("Everything else that the action depends on, whole: facts first."),
  channel: z.string(),
  actor: z.string().describe("Who opened the turn."),
  grant: z.string().optional()
    .describe("Target of a grant for exactly this; absent where nothing can grant it."),
}).describe("A pending approval, with everything to decide by.");

/** Of the route. */
export const approveInput = z.object({
  id,
  digest: z.string(digestForm).regex(/^[0-9a-f]{64}$/, digestForm)
    .describe("The digest of the approval; another one is a 409, and it still waits."),
}, "an object").describe("Approve.");

/** Of the route. */
export const denyInput = z.object({
  id,
  reason: z.string(reasonForm).max(1_000, reasonForm).optional()
    .describe("Reason, which the agent is told."),
}, "an object").describe("Deny; this also blocks the capability in the session.");

const outcome = z.object({ id: z.string(), outcome: z.enum(["approved", "denied"]) })
  .describe("The answer counts.");

/** Why an approval can't be answered. */
export const APPROVAL_ERRORS = [
  "approval_not_found",
  "approval_answered",
  "approval_expired",
  "approval_void",
  "approval_stopped",
] as const;

/** Operations on approvals. */
export const APPROVALS = {
  "approvals.list": operation({
    summary: "List pending approvals, oldest first",
    scope: "approve",
    command: "approvals list",
    input: z.object({}),
    output: z.object({ approvals: z.array(summary).describe("Oldest first.") })
      .describe("Pending approvals."),
    route: { method: "GET", path: APPROVALS_PATH },
    run: (_, parts) => ({
      approvals: enabled(parts.approvals).list().map((each) => toWire(summary, each)),
    }),
  }),
  "approvals.get": operation({
    summary: "Show a pending approval with all its details",
    scope: "approve",
    command: "approvals show",
    input: z.object({ id }),
    output: approval,
    route: { method: "GET", path: `${APPROVALS_PATH}/:id`, errors: APPROVAL_ERRORS },
    run: ({ id }, parts) => toWire(approval, enabled(parts.approvals).get(id)),
  }),
  "approvals.approve": operation({
    summary: "Allow an action once",
    scope: "approve",
    command: "approvals approve",
    chatCommand: "approve",
    // A chat says the first digits alone; what is another digest is for the audit log.
    input: z.object({
      id,
      digest: z.string(digestForm).max(100, digestForm)
        .describe("Digest of the action, at least its first 8 digits."),
    }),
    output: outcome,
    route: {
      method: "POST",
      path: `${APPROVALS_PATH}/:id/approve`,
      input: approveInput,
      errors: [...APPROVAL_ERRORS, "approval_mismatch", "audit_unavailable"],
    },
    async run({ id, digest }, parts, asking) {
      await enabled(parts.approvals).answer({ ...asking, id, verdict: { approve: { digest } } });
      return { id, outcome: "approved" as const };
    },
  }),
  "approvals.deny": operation({
    summary: "Deny an action, and block its capability in the session",
    scope: "approve",
    command: "approvals deny",
    chatCommand: "deny",
    input: z.object({
      id,
      reason: z.string("text").max(10_000, "text of at most 10,000 characters").default("")
        .describe("Reason, which the agent is told."),
    }),
    output: outcome,
    route: {
      method: "POST",
      path: `${APPROVALS_PATH}/:id/deny`,
      input: denyInput,
      errors: [...APPROVAL_ERRORS, "audit_unavailable"],
    },
    async run({ id, reason }, parts, asking) {
      await enabled(parts.approvals).answer({ ...asking, id, verdict: { deny: { reason } } });
      return { id, outcome: "denied" as const };
    },
  }),
};

/** Operations on capabilities that a denial has blocked. */
export const BLOCKS = {
  "latches.list": operation({
    summary: "List blocked capabilities",
    scope: "approve",
    command: "blocks list",
    input: z.object({}),
    output: z.object({
      latches: z.array(z.object({
        session: z.string(),
        capability,
        since: seconds,
        reason: z.string().describe("Why it was denied."),
      })),
    }).describe("Oldest first."),
    route: { method: "GET", path: BLOCKS_PATH },
    run: (_, parts) => ({
      latches: enabled(parts.latches).list().map(({ sessionKey, capability, since, reason }) => ({
        session: sessionKey,
        capability,
        since: inSeconds(since),
        reason,
      })),
    }),
  }),
  "latches.clear": operation({
    summary: "Unblock a capability in a session",
    scope: "operate",
    command: "blocks clear",
    input: z.object({ session: z.string().max(300, "at most 300 characters"), capability }),
    output: z.object({ session: z.string(), capability, cleared: z.literal(true) }),
    route: { method: "DELETE", path: `${BLOCKS_PATH}/:session/:capability`, errors: ["not_found"] },
    async run({ session, capability }, parts) {
      if (!await enabled(parts.latches).clear(session, capability)) {
        throw new ServiceError(
          "not_found",
          `${capability} isn't blocked in the session ${JSON.stringify(session)}`,
        );
      }
      return { session, capability, cleared: true as const };
    },
  }),
};

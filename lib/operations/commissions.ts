/**
 * Dry runs of automations, as far as the authority keeps them. The gateway runs the turn
 * ({@linkcode Commission}), so these have no routes of their own.
 *
 * @module
 */

import { z } from "zod";
import { COMMISSION_OUTCOMES, findingSchema } from "../contract/finding.ts";
import type { Grant } from "../policy/grants.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

const automationId = z.string().max(200);
const digest = z.string().max(100);
const grant = z.custom<Grant>();

/** Operations on dry runs. */
export const COMMISSIONS = {
  "commissions.begin": operation({
    summary: "Begin the dry run of an automation of that digest",
    scope: "operate",
    input: z.object({ automationId, digest }),
    output: z.object({ id: z.string(), expiresAt: z.number() }),
    run: (input, parts, { by }) => enabled(parts.commissions).begin({ ...input, by }),
  }),
  "commissions.finish": operation({
    summary: "End a dry run: how its turn ended",
    // Its id is known to whoever began it; the token that began it may have expired meanwhile.
    scope: "gateway",
    input: z.object({
      id: z.string().max(100),
      outcome: z.enum(COMMISSION_OUTCOMES, `one of ${COMMISSION_OUTCOMES.join(", ")}`),
    }),
    output: findingSchema.optional().describe("Absent for one that was cancelled"),
    run: (input, parts) => enabled(parts.commissions).finish(input),
  }),
  "commissions.finding": operation({
    summary: "Show the newest report of an automation's dry runs",
    scope: "operate",
    input: z.object({ automationId }),
    output: findingSchema,
    run: ({ automationId }, parts) => enabled(parts.commissions).finding(automationId),
  }),
  "commissions.grant": operation({
    summary: "Grant what the newest report names, if the automation hasn't changed",
    scope: "operate",
    input: z.object({ automationId, digest, automationDigest: digest }),
    output: z.object({ finding: findingSchema, grants: z.array(grant) }),
    run: (input, parts, { by }) => enabled(parts.commissions).grant({ ...input, by }),
  }),
  "commissions.revoke": operation({
    summary: "Take back what stands for a deleted automation",
    // It only ever takes away.
    scope: "gateway",
    input: z.object({ automationId }),
    output: z.object({ removed: z.int() }),
    run: (input, parts) => enabled(parts.commissions).revoke(input),
  }),
};

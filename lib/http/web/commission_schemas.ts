/**
 * What the routes of commissions take and give.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../../contract/actions.ts";
import { type Finding, PREVIEWED_EFFECTS } from "../../contract/finding.ts";
import type { Grant } from "../../policy/grants.ts";
import type { CommissionReport } from "../../automation/commission_report.ts";

const seconds = z.int().describe("Seconds since 1970.");
const digest = z.string().regex(/^[0-9a-f]{64}$/, "the 64 hex digits of the finding's digest");

const action = z.object({
  tool: z.string(),
  capability: z.enum(CAPABILITIES),
  target: z.string().describe("As a grant names it."),
  effect: z.enum(PREVIEWED_EFFECTS).describe(
    "What a run would be told: allowed, allowed if it were granted, or denied for good.",
  ),
  rule: z.string(),
  reason: z.string(),
  count: z.int().describe("How often it was wanted."),
});

const neededGrant = z.object({ capability: z.enum(CAPABILITIES), target: z.string() });

/** A finding. */
const findingRow = z.object({
  id: z.string().regex(/^com_/),
  automation_id: z.string(),
  automation_digest: z.string().describe("Of the automation as it was rehearsed."),
  digest: digest.describe("Of the automation and the grants; whoever grants repeats it."),
  outcome: z.enum(["done", "failed"]),
  by: z.string().describe("Who commissioned it."),
  started_at: seconds,
  finished_at: seconds,
  actions: z.array(action).describe("In the order in which they came."),
  left: z.int().describe("Further actions, which were not kept: the grants are not all then."),
  grants: z.array(neededGrant).describe("What granting would write."),
}).describe("What a rehearsal has shown.");

/** Of POST …/commission. */
export const commissionAnswer = z.object({
  finding: findingRow,
  text: z.string().describe("What the model said last."),
  error: z.string().optional().describe("Why the turn failed."),
  turn_id: z.string(),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
}).describe("A rehearsal.");

/** Of GET …/finding. */
export const findingAnswer = z.object({
  finding: findingRow,
  current: z.boolean().describe("Whether the automation is as it was rehearsed."),
}).describe("The newest finding.");

/** Of POST …/grant. */
export const grantBody = z.object({
  digest: z.string("the 64 hex digits of the finding's digest")
    .regex(/^[0-9a-f]{64}$/, "the 64 hex digits of the finding's digest")
    .describe("Of the finding that is granted; when another is the newest, that is a 409."),
}, "an object").describe("What is granted.");

/** Answer of POST …/grant. */
export const grantAnswer = z.object({
  finding_id: z.string(),
  digest,
  grants: z.array(neededGrant.extend({ id: z.string().regex(/^gr_/) })),
}).describe("The grants that are in force by this.");

/** A finding on the wire. */
export function toFindingRow(finding: Finding): z.infer<typeof findingRow> {
  const { automationId, automationDigest, startedAt, finishedAt, ...rest } = finding;
  return {
    ...rest,
    automation_id: automationId,
    automation_digest: automationDigest,
    started_at: Math.floor(startedAt / 1000),
    finished_at: Math.floor(finishedAt / 1000),
  };
}

/** A rehearsal on the wire. */
export function toCommissionAnswer(
  { finding, text, error, turnId, inputTokens, outputTokens }: CommissionReport,
): z.infer<typeof commissionAnswer> {
  return {
    finding: toFindingRow(finding),
    text,
    ...error !== undefined && { error },
    turn_id: turnId,
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  };
}

/** Grants on the wire. */
export function toGrantAnswer(
  { finding, grants }: { finding: Finding; grants: readonly Grant[] },
): z.infer<typeof grantAnswer> {
  return {
    finding_id: finding.id,
    digest: finding.digest,
    grants: grants.map(({ id, capability, target }) => ({ id, capability, target })),
  };
}

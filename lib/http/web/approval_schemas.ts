/**
 * Answers of the approvers' routes.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../../contract/actions.ts";

/** One of GET /api/webui/approvals. */
export const approvalSummarySchema = z.object({
  id: z.string().regex(/^apr_/),
  digest: z.string().regex(/^[0-9a-f]{64}$/).describe("Of the action; an answer repeats it."),
  capability: z.enum(CAPABILITIES),
  target: z.string().describe("What the action is about, resolved; hidden characters as \\u{…}."),
  session: z.string(),
  created_at: z.int().describe("Seconds since 1970."),
  expires_at: z.int().describe("Seconds since 1970."),
}).describe("An action that waits for a person.");

/** Of GET /api/webui/approvals. */
export const approvalListSchema = z.object({
  approvals: z.array(approvalSummarySchema).describe("Oldest first."),
}).describe("What waits.");

/** Of GET /api/webui/approvals/{id}. */
export const approvalSchema = approvalSummarySchema.extend({
  tool: z.string(),
  details: z.string().describe("Everything else that the action depends on, whole: facts first."),
  channel: z.string(),
  actor: z.string().describe("Who opened the turn."),
}).describe("An action that waits for a person, with everything to decide by.");

/** Of the routes that answer one. */
export const approvalOutcomeSchema = z.object({
  id: z.string(),
  outcome: z.enum(["approved", "denied"]),
}).describe("The answer counts.");

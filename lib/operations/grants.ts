/**
 * What is allowed in advance. Only the owner of the home grants by hand; over a port that needs the report
 * of a dry run.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../contract/actions.ts";
import { seconds, toWire } from "./fields.ts";
import { homeOperation } from "./operation.ts";

const capability = z.enum(CAPABILITIES, `one of ${CAPABILITIES.join(", ")}`);

const grantRow = z.object({
  id: z.string(),
  subject: z.string().describe("A session's key, or automation:<id>."),
  capability,
  target: z.string(),
  note: z.string(),
  created_at: seconds,
  automation_digest: z.string().optional()
    .describe("Of the automation that it was made for; it counts while that is exactly so."),
});

/** Operations on grants. */
export const GRANTS = {
  "grants.list": homeOperation({
    summary: "List grants",
    command: "grants list",
    input: z.object({}),
    output: z.object({ grants: z.array(grantRow).describe("Oldest first.") }),
    run: (_, { grants }) => ({ grants: grants.list().map((each) => toWire(grantRow, each)) }),
  }),
  "grants.add": homeOperation({
    summary: "Grant one action",
    command: "grants add",
    args: ["subject", "capability", "target"],
    // The store checks each field against the others.
    input: z.object({
      subject: z.string(),
      capability,
      target: z.string(),
      note: z.string().optional().describe("Reason, for the list and the audit log."),
    }),
    output: grantRow,
    run: async ({ note = "", ...grant }, { grants }) =>
      toWire(grantRow, await grants.add({ ...grant, note })),
  }),
  "grants.remove": homeOperation({
    summary: "Revoke a grant",
    command: "grants rm",
    args: ["id"],
    input: z.object({ id: z.string() }),
    output: grantRow.extend({ removed: z.literal(true) }),
    run: async ({ id }, { grants }) => ({
      ...toWire(grantRow, await grants.remove(id)),
      removed: true as const,
    }),
  }),
};

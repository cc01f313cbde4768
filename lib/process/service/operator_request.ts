/**
 * The shape of what approvers and operators may ask, for what comes from outside.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES } from "../../contract/actions.ts";
import type { OperatorRequest } from "../../operations/operator.ts";

const id = z.string().max(100);

/** One request; everything that it holds is bounded. */
export const operatorRequest: z.ZodType<OperatorRequest> = z.discriminatedUnion("op", [
  z.object({ op: z.literal("approvals.list") }),
  z.object({ op: z.literal("approvals.get"), id }),
  z.object({ op: z.literal("approvals.approve"), id, digest: z.string().max(100) }),
  z.object({ op: z.literal("approvals.deny"), id, reason: z.string().max(10_000) }),
  z.object({ op: z.literal("latches.list") }),
  z.object({
    op: z.literal("latches.clear"),
    sessionKey: z.string().max(300),
    capability: z.enum(CAPABILITIES),
  }),
]);

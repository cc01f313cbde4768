/**
 * What operators may ask of rehearsals, whose scope was checked.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { OperatorAnswer, OperatorRequest } from "./operator.ts";
import type { Commissions } from "../approvals/commission/commissions.ts";
import { COMMISSION_OUTCOMES } from "../contract/finding.ts";

/** A request about automations. */
export type CommissionRequest = Extract<OperatorRequest, { op: `automations.${string}` }>;

/** Answers one. `by` says who asks, for the records. */
export async function operateCommissions(
  request: CommissionRequest,
  by: string,
  commissions: Commissions | undefined,
): Promise<OperatorAnswer> {
  if (commissions === undefined) {
    throw new ServiceError("not_enabled", `${request.op} is not to be had from here`);
  }
  switch (request.op) {
    case "automations.commission.begin": {
      const automationId = String(request.automationId);
      const digest = String(request.digest);
      return { commission: await commissions.begin({ automationId, digest, by }) };
    }
    case "automations.commission.finish": {
      const { outcome } = request;
      if (!COMMISSION_OUTCOMES.includes(outcome)) {
        throw new ServiceError(
          "invalid_request",
          `outcome is ${JSON.stringify(outcome)}; expected one of ${
            COMMISSION_OUTCOMES.join(", ")
          }`,
          { param: "outcome" },
        );
      }
      const finding = await commissions.finish({ id: String(request.id), outcome });
      return finding === undefined ? {} : { finding };
    }
    case "automations.finding":
      return { finding: commissions.finding(String(request.automationId)) };
    case "automations.grant": {
      const granted = await commissions.grant({
        automationId: String(request.automationId),
        digest: String(request.digest),
        automationDigest: String(request.automationDigest),
        by,
      });
      return { granted };
    }
    case "automations.revoke":
      return await commissions.revoke({ automationId: String(request.automationId) });
  }
}

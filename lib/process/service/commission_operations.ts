/**
 * What the operations of the local protocol about commissions do. Who can open the socket is no operator
 * by that: each takes a token, which the authority checks (spec 5, G14).
 *
 * @module
 */

import { z } from "zod";
import type { Credential } from "../../contract/credentials.ts";
import type { OperationHandlers } from "../../local/server.ts";
import { checkParams } from "./check_params.ts";
import type { Commission } from "../../operations/commission.ts";

const id = z.string().min(1).max(200);
const token = z.string().max(1_000);

const idParams = z.object({ id, token });
const grantParams = z.object({ id, token, digest: z.string().max(100) });

/** The handlers; each checks its parameters and names what is wrong with them. */
export function createCommissionOperations(
  { commission }: { commission: Commission },
): Partial<OperationHandlers> {
  return {
    async automation_commission(params, signal) {
      const { id, token } = checkParams(idParams, params);
      return await commission.run(id, { credential: credentialOf(token), signal });
    },
    async automation_finding(params) {
      const { id, token } = checkParams(idParams, params);
      return await commission.finding(id, { credential: credentialOf(token) });
    },
    async automation_grant(params) {
      const { id, token, digest } = checkParams(grantParams, params);
      return await commission.grant(id, { credential: credentialOf(token), digest });
    },
  };
}

function credentialOf(token: string): Credential {
  return { kind: "token", token };
}

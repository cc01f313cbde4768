/**
 * Rehearsals of automations over the WebSocket port: commission, finding, grant. Each needs the scope
 * operate, which the authority checks too.
 *
 * @module
 */

import type { Scrubber } from "../../secrets/scrubber.ts";
import type { Commission } from "../../operations/commission.ts";
import {
  commissionAnswer,
  findingAnswer,
  grantAnswer,
  grantBody,
  toCommissionAnswer,
  toFindingRow,
  toGrantAnswer,
} from "./commission_schemas.ts";
import type { GuardedRoute } from "./web_route.ts";

/** What the routes need. */
export interface CommissionRoutesDeps {
  commission: Commission;
  /** Takes secrets out of what is on record from before they were known. */
  scrubber: Pick<Scrubber, "value">;
}

const ONE = "/api/webui/automations/:id";

export function createCommissionRoutes(
  { commission, scrubber }: CommissionRoutesDeps,
): GuardedRoute[] {
  const json = (value: unknown) => Response.json(scrubber.value(value));
  const off = () => commission.off();
  return [
    {
      method: "POST",
      path: `${ONE}/commission`,
      scope: "operate",
      summary: "Rehearse an automation: a turn in which nothing runs; ends when its caller leaves",
      docs: {
        answer: commissionAnswer,
        errors: ["not_found", "conflict", "overloaded", "queue_full", "turn_cancelled"],
      },
      off,
      async handle({ request: { signal }, params, caller: { credential } }) {
        return json(
          toCommissionAnswer(await commission.run(params["id"]!, { credential, signal })),
        );
      },
    },
    {
      method: "GET",
      path: `${ONE}/finding`,
      scope: "operate",
      summary: "Show what the last rehearsal of an automation has shown",
      docs: { answer: findingAnswer, errors: ["not_found"] },
      off,
      async handle({ params, caller: { credential } }) {
        const { finding, isCurrent } = await commission.finding(params["id"]!, { credential });
        return json({ finding: toFindingRow(finding), current: isCurrent });
      },
    },
    {
      method: "POST",
      path: `${ONE}/grant`,
      scope: "operate",
      summary: "Grant an automation exactly what its last finding names, if it has not changed",
      docs: { body: grantBody, answer: grantAnswer, errors: ["not_found", "conflict"] },
      off,
      async handle({ params, body, caller: { credential } }) {
        const { digest } = await body(grantBody);
        return json(toGrantAnswer(await commission.grant(params["id"]!, { credential, digest })));
      },
    },
  ];
}

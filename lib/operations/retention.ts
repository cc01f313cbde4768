/**
 * What is removed by age and size, as `retention` in the configuration says.
 *
 * @module
 */

import { z } from "zod";
import { type PruneReport, type PruneRequest, RETENTION_KINDS } from "../contract/retention.ts";
import { gatewayOperation } from "./operation.ts";
import { requesterOf } from "./requester.ts";

/** What these work on. */
export interface RetentionParts {
  retention: { prune(request: PruneRequest): Promise<PruneReport> };
}

/** Operations on retention. */
export const RETENTION = {
  "retention.prune": gatewayOperation({
    summary: "Remove old data, as retention in the configuration says",
    scope: "operate",
    command: "prune",
    input: z.object({
      dry_run: z.boolean().default(false).describe("Only show what would be removed"),
    }),
    output: z.object({
      dry_run: z.boolean(),
      removed: z.array(z.object({
        kind: z.enum(RETENTION_KINDS),
        count: z.int(),
        bytes: z.int().describe("About, for sessions"),
        names: z.array(z.string()).describe("Of the first 100"),
        error: z.string().optional().describe("Why no more was removed"),
      })).describe("Of each kind that has a limit"),
    }),
    route: { method: "POST", path: "/api/webui/retention/prune", errors: ["conflict"] },
    async run({ dry_run }, { retention }, asking) {
      const by = requesterOf(asking);
      return { dry_run, removed: await retention.prune({ dryRun: dry_run, by }) };
    },
  }),
};

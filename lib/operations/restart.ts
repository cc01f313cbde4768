/**
 * The service, started again as its configuration is now. Where that would let it reach more than now, it
 * is for the command line, but for the first model.
 *
 * @module
 */

import { z } from "zod";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

/** Operations on the running service as a whole. */
export const RESTART = {
  "service.restart": operation({
    summary: "Restart the service",
    scope: "operate",
    command: "restart",
    input: z.object({}),
    output: z.object({ restarting: z.literal(true) }).describe(
      "Running turns are let finish; connections come back by themselves.",
    ),
    route: { method: "POST", path: "/api/webui/restart", errors: ["refused", "config_invalid"] },
    async run(_, parts, { by }) {
      await enabled(parts.restart)(by);
      return { restarting: true as const };
    },
  }),
};

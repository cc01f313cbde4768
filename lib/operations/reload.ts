/**
 * The configuration file, read again by a running service.
 *
 * @module
 */

import { z } from "zod";
import type { ReloadedSettings } from "../contract/reloaded_settings.ts";
import { gatewayOperation } from "./operation.ts";
import { requesterOf } from "./requester.ts";

/** What these work on. */
export interface ReloadParts {
  /** Takes up the configuration file now; `by` stands in the record. */
  reload(by: string): Promise<ReloadedSettings>;
}

/** Operations on the running configuration. */
export const RELOAD = {
  "settings.reload": gatewayOperation({
    summary: "Have the service read its configuration again",
    scope: "operate",
    command: "reload",
    input: z.object({}),
    output: z.object({
      live: z.array(z.string()).describe("Changed keys that are in force now"),
      waiting: z.array(z.string()).describe("Changed keys that wait for a restart"),
      problem: z.string().optional().describe(
        "Why the file cannot be used; the configuration is then as it was",
      ),
    }),
    route: { method: "POST", path: "/api/webui/settings/reload" },
    run: (_, { reload }, asking) => reload(requesterOf(asking)),
  }),
};

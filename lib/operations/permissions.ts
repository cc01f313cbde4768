/**
 * What the gateway may touch.
 *
 * @module
 */

import { z } from "zod";
import type { Permission } from "../base/permission.ts";
import { toWire } from "./fields.ts";
import { operation } from "./operation.ts";
import { enabled } from "./parts.ts";

/** One permission. */
export const permissionSchema = z.object({
  kind: z.enum(["net", "read", "write", "env"]),
  value: z.string(),
  asked_by: z.string().describe("The part of the configuration that needs it"),
});

/** Operations on permissions. */
export const PERMISSIONS = {
  "permissions.list": operation({
    summary: "What the running service may touch, and who asked for it",
    scope: "read",
    command: "permissions",
    input: z.object({}),
    output: z.object({ permissions: z.array(permissionSchema) }),
    route: { method: "GET", path: "/api/webui/permissions" },
    run: (_, parts) => ({ permissions: enabled(parts.permissions).map(permissionToWire) }),
  }),
};

/** As {@linkcode permissionSchema} has it. */
export function permissionToWire(permission: Permission) {
  return toWire(permissionSchema, permission);
}

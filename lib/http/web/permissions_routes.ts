/**
 * What the running service may touch, over the port.
 *
 * @module
 */

import { z } from "zod";
import type { OperatorAnswer } from "../../operations/operator.ts";
import type { Permission } from "../../base/permission.ts";
import type { Operate } from "../api/approvals.ts";
import type { WebRoute } from "./web_route.ts";

/** One permission as it is answered. */
export const permissionAnswer = z.object({
  kind: z.enum(["net", "read", "write", "env"]),
  value: z.string(),
  asked_by: z.string().describe("The part of the configuration that needs it"),
});

/** The routes. `operate` asks the authority. */
export function createPermissionsRoutes({ operate }: { operate: Operate }): WebRoute[] {
  return [{
    method: "GET",
    path: "/api/webui/permissions",
    scope: "read",
    summary: "What the running service may touch, and who asked for it",
    docs: { answer: z.object({ permissions: z.array(permissionAnswer) }) },
    async handle({ caller }) {
      const { permissions } = await operate(
        { op: "permissions.list" },
        caller.credential,
      ) as Extract<OperatorAnswer, { permissions: unknown }>;
      return Response.json({ permissions: permissions.map(permissionToWire) });
    },
  }];
}

/** As {@linkcode permissionAnswer} has it. */
export function permissionToWire({ kind, value, askedBy }: Permission) {
  return { kind, value, asked_by: askedBy };
}

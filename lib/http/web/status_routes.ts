/**
 * How the service is: for a load balancer, for whoever starts it, and for the web app.
 *
 * @module
 */

import { z } from "zod";
import type { ModelRegistry } from "../../model/registry.ts";
import { type Checks, health, ready } from "../api/health.ts";
import { healthSchema, readinessSchema } from "../api/openapi/service_schemas.ts";
import type { WebRoute } from "./web_route.ts";

/** What is in motion. */
export interface ServiceCounts {
  /** Sockets that are open. */
  connections: number;
  /** Chats that they follow. */
  chats: number;
  turns: { running: number; queued: number };
  /** Messages that wait to be delivered. */
  outbox: number;
}

/** What the routes need; each is asked every time. */
export interface StatusRoutesDeps {
  version: string;
  checks: () => Checks | Promise<Checks>;
  models: () => Pick<ModelRegistry, "default" | "reason">;
  counts: () => ServiceCounts;
  /** Milliseconds since the service was started. */
  uptimeMs: () => number;
}

const count = z.int().min(0);

const statusAnswer = z.object({
  version: z.string(),
  uptime_s: count,
  model_name: z.string(),
  model_reason: z.string(),
  connections: count.describe("Sockets that are open."),
  chats: count.describe("Chats that they follow."),
  turns: z.object({ running: count, queued: count }),
  outbox: count.describe("Messages that wait to be delivered."),
}).describe("What is in motion.");

export function createStatusRoutes(deps: StatusRoutesDeps): WebRoute[] {
  return [
    {
      method: "GET",
      path: "/health",
      access: "probe",
      summary: "Whether the process answers",
      docs: { answer: healthSchema },
      handle: health,
    },
    {
      method: "GET",
      path: "/ready",
      scope: "read",
      summary: "Whether the service can work; 503 as soon as one check fails",
      docs: { answer: readinessSchema },
      handle: async () => ready(await deps.checks(), deps.version),
    },
    {
      method: "GET",
      path: "/api/webui/status",
      scope: "read",
      summary: "Show the version, the model, and what is in motion",
      docs: { answer: statusAnswer },
      handle() {
        const { default: { name }, reason } = deps.models();
        return Response.json({
          version: deps.version,
          uptime_s: Math.floor(deps.uptimeMs() / 1000),
          model_name: name,
          model_reason: reason,
          ...deps.counts(),
        });
      },
    },
  ];
}

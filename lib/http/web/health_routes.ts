/**
 * Whether the service works: for a load balancer, and for whoever starts it.
 *
 * @module
 */

import { type Checks, health, ready } from "../api/health.ts";
import { healthSchema, readinessSchema } from "../api/openapi/service_schemas.ts";
import type { WebRoute } from "./web_route.ts";

/** What the routes need; each is asked every time. */
export interface HealthRoutesDeps {
  version: string;
  checks: () => Checks | Promise<Checks>;
}

export function createHealthRoutes(deps: HealthRoutesDeps): WebRoute[] {
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
  ];
}

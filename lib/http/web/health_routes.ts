/**
 * Whether the service works, and what it does in numbers: for a load balancer, for whoever starts it, and
 * for Prometheus.
 *
 * @module
 */

import { type Checks, health, ready } from "../api/health.ts";
import { healthSchema, readinessSchema } from "../api/openapi/service_schemas.ts";
import { metrics } from "../../telemetry/metrics.ts";
import type { WebRoute } from "./web_route.ts";

const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

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
    {
      method: "GET",
      path: "/metrics",
      scope: "read",
      summary: "Metrics, for Prometheus",
      docs: { mediaType: PROMETHEUS },
      handle: () => new Response(metrics.text(), { headers: { "content-type": PROMETHEUS } }),
    },
  ];
}

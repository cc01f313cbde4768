/**
 * Every route of the WebSocket port, in the order of the documentation.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import { APPROVALS, BLOCKS } from "../../operations/approvals.ts";
import { AUTOMATIONS } from "../../operations/automations.ts";
import { AUDIT } from "../../operations/audit.ts";
import { CHANNEL_STATUS } from "../../operations/channel_status.ts";
import { CHANNELS } from "../../operations/channels.ts";
import { LOGS } from "../../operations/logs.ts";
import { MCP } from "../../operations/mcp.ts";
import { MISSED } from "../../operations/missed.ts";
import { MODEL_SETUP } from "../../operations/model_setup.ts";
import { MODELS } from "../../operations/models.ts";
import { OUTBOX } from "../../operations/outbox.ts";
import { PAIRINGS } from "../../operations/pairings.ts";
import { PERMISSIONS } from "../../operations/permissions.ts";
import { RELOAD } from "../../operations/reload.ts";
import { RESTART } from "../../operations/restart.ts";
import { RETENTION } from "../../operations/retention.ts";
import { SECRETS } from "../../operations/secrets.ts";
import { SERVICE } from "../../operations/service_status.ts";
import { SESSIONS } from "../../operations/sessions.ts";
import type { GatewayParts } from "../../operations/operation.ts";
import { SETTINGS } from "../../operations/settings.ts";
import { USAGE } from "../../operations/usage.ts";
import { type BootstrapDeps, createBootstrapRoutes } from "./bootstrap_routes.ts";
import { type BrowserAppDeps, createBrowserAppRoutes } from "./browser_app_routes.ts";
import { createMediaRoutes, type MediaRoutesDeps } from "./media_routes.ts";
import { gatewayRoutes, operationRoutes, type OperationRoutesDeps } from "./operation_routes.ts";
import { createOpenApiRoutes } from "./openapi_routes.ts";
import { createHealthRoutes, type HealthRoutesDeps } from "./health_routes.ts";
import { createTokenRoutes, type TokenRoutesDeps } from "./token_routes.ts";
import type { WebRoute } from "./web_route.ts";

/** What all routes together need. */
export type WebRoutesDeps =
  & BrowserAppDeps
  & BootstrapDeps
  & TokenRoutesDeps
  & MediaRoutesDeps
  & GatewayParts
  & HealthRoutesDeps
  & OperationRoutesDeps;

/** The table. Throws `config_invalid` when `tokenIssuePath` cannot stand in it. */
export function createWebRoutes(deps: WebRoutesDeps): WebRoute[] {
  const routes = [
    ...createBrowserAppRoutes(deps),
    ...createBootstrapRoutes(deps),
    ...createTokenRoutes(deps),
    ...gatewayRoutes(SESSIONS, deps),
    ...createMediaRoutes(deps),
    ...operationRoutes(APPROVALS, deps),
    ...operationRoutes(BLOCKS, deps),
    ...gatewayRoutes(AUTOMATIONS, deps),
    ...gatewayRoutes(RETENTION, deps),
    ...gatewayRoutes(RELOAD, deps),
    ...gatewayRoutes(MODELS, deps),
    ...operationRoutes(MODEL_SETUP, deps),
    ...operationRoutes(SETTINGS, deps),
    ...operationRoutes(CHANNELS, deps),
    ...operationRoutes(PAIRINGS, deps),
    ...gatewayRoutes(MISSED, deps),
    ...gatewayRoutes(CHANNEL_STATUS, deps),
    ...gatewayRoutes(OUTBOX, deps),
    ...gatewayRoutes(MCP, deps),
    ...operationRoutes(SECRETS, deps),
    ...operationRoutes(PERMISSIONS, deps),
    ...operationRoutes(AUDIT, deps),
    ...operationRoutes(LOGS, deps),
    ...createHealthRoutes(deps),
    ...gatewayRoutes(SERVICE, deps),
    ...operationRoutes(RESTART, deps),
    ...gatewayRoutes(USAGE, deps),
  ];
  checkIssuePath(deps.config.tokenIssuePath, routes);
  return [...routes, ...createOpenApiRoutes({ version: deps.version, routes })];
}

/** It is the one path that somebody chooses: no pattern of the router, and no route that is there. */
function checkIssuePath(path: string, routes: readonly WebRoute[]): void {
  if (path === "") return;
  const param = "channels.websocket.tokenIssuePath";
  if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) {
    throw new ServiceError(
      "config_invalid",
      `${param} is ${JSON.stringify(path)}; expected a path such as /auth/token, of letters, ` +
        "digits and . _ ~ -",
      { param },
    );
  }
  const isTaken = path === "/openapi.json" ||
    routes.filter((route) => route.path === path).length > 1;
  if (isTaken) {
    throw new ServiceError("config_invalid", `${param} is ${path}, which the port has already`, {
      param,
    });
  }
}

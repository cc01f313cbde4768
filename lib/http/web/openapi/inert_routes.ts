import { configSchema } from "../../../config/schema.ts";
import { createWebRoutes, type WebRoutesDeps } from "../routes.ts";
import type { WebRoute } from "../web_route.ts";

/** Stands in the table for the path that the configuration chooses. */
export const ISSUE_PATH = "/tokenIssuePath";

/** The table as it is, over a service that is none: to be read, and not to be called. */
export function inertRoutes(): WebRoute[] {
  const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });
  const { websocket } = configSchema.parse({}).channels;
  const known: Partial<WebRoutesDeps> = {
    config: { ...websocket, tokenIssuePath: ISSUE_PATH },
    version: "0.0.0",
  };
  // Whatever else a part asks for while it makes its routes, it is not used before one is called.
  const deps = new Proxy(known, {
    get: (target, name) => Reflect.has(target, name) ? Reflect.get(target, name) : nothing,
  });
  return createWebRoutes(deps as WebRoutesDeps);
}

/**
 * Writes the table of routes in `docs/web-api.md` anew: `deno task generate`.
 *
 * @module
 */

import { inertRoutes } from "./inert_routes.ts";
import { withRouteTable } from "./route_docs.ts";

if (import.meta.main) {
  const page = new URL("../../../../docs/web-api.md", import.meta.url);
  await Deno.writeTextFile(page, withRouteTable(await Deno.readTextFile(page), inertRoutes()));
}

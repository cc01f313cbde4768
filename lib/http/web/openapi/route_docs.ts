/**
 * The table of routes in `docs/web-api.md`, from the table that is mounted.
 *
 * @module
 */

import { markdownTable } from "../../../base/markdown_table.ts";
import { withTable } from "../../../base/with_table.ts";
import { scopesOf, type WebRoute } from "../web_route.ts";
import { pathOf } from "./document.ts";
import { ISSUE_PATH } from "./inert_routes.ts";

/** The table as `deno fmt` would have it, in the order of the routes. */
export function routeTable(routes: readonly WebRoute[]): string {
  return markdownTable([
    ["Method", "Path", "Scope", "What", "Command"],
    ...routes.map((route) => [
      route.method,
      route.path === ISSUE_PATH ? "tokenIssuePath" : `\`${pathOf(route)}\``,
      scopesOf(route).join(" or ") || "none",
      route.summary,
      route.command === undefined ? "" : `\`service ${route.command}\``,
    ]),
  ]);
}

/** The page with the table between its marks. Throws when it has no marks. */
export function withRouteTable(page: string, routes: readonly WebRoute[]): string {
  return withTable(page, "routes", routeTable(routes));
}

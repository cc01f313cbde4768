import { createServedDocument } from "../served_document.ts";
import type { WebRoute } from "./web_route.ts";

/** GET /openapi.json over a table of routes, to which it is added. */
export function createOpenApiRoutes(
  { version, routes }: { version: string; routes: readonly WebRoute[] },
): WebRoute[] {
  const serve = createServedDocument(async () => {
    const { webOpenApiDocument } = await import("./openapi/document.ts");
    return webOpenApiDocument({ version, routes: [...routes, route] });
  });
  const route: WebRoute = {
    method: "GET",
    path: "/openapi.json",
    scope: "read",
    summary: "This table as an OpenAPI document",
    docs: { mediaType: "application/json" },
    handle: ({ request }) => serve(request),
  };
  return [route];
}

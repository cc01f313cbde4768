import { assert, assertEquals, assertThrows } from "@std/assert";
import { webOpenApiDocument } from "./document.ts";
import { inertRoutes } from "./inert_routes.ts";
import { routeTable, withRouteTable } from "./route_docs.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const routes = inertRoutes();
const document: Json = JSON.parse(JSON.stringify(webOpenApiDocument({ routes, version: "1.2.3" })));

function* refsOf(value: Json): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.$ref === "string") yield value.$ref;
  for (const inner of Object.values(value)) yield* refsOf(inner);
}

function operations(): [name: string, operation: Json][] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]): [string, Json] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ])
  );
}

Deno.test("webOpenApiDocument() has every route that is mounted, under names of their own", () => {
  assertEquals(
    operations().map(([name]) => name).sort(),
    routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`).sort(),
  );
  const ids = operations().map(([, { operationId }]) => operationId);
  assertEquals(ids.length, new Set(ids).size);
});

Deno.test("webOpenApiDocument() has no reference that leads nowhere, and uses every schema", () => {
  const refs = new Set(refsOf(document));
  assert(refs.size > 20);
  const names = Object.keys(document.components.schemas);
  assertEquals([...refs].sort(), names.map((name) => `#/components/schemas/${name}`).sort());
});

Deno.test("webOpenApiDocument() states the scope of each route", () => {
  const byName = new Map(operations());
  assertEquals(byName.get("GET /api/webui/sessions")?.security, [{ bearer: ["read"] }]);
  assertEquals(byName.get("DELETE /api/webui/sessions/{key}")?.security, [{ bearer: ["operate"] }]);
  assertEquals(byName.get("GET /health")?.security, []);
  assertEquals(Object.keys(byName.get("GET /health").responses), ["200", "403", "500"]);
  assertEquals(byName.get("GET /api/webui/sessions").parameters[0], {
    name: "limit",
    in: "query",
    description: "Rows to list (default 50).",
    schema: { type: "integer", minimum: 1, maximum: 100 },
  });
});

Deno.test("docs/web-api.md has every route; deno task generate writes them anew", async () => {
  const page = await Deno.readTextFile(new URL("../../../../docs/web-api.md", import.meta.url));
  assertEquals(page, withRouteTable(page, routes));
});

Deno.test("withRouteTable() changes nothing but the table, and refuses a page without marks", () => {
  const marks = ["<!-- routes: written by `deno task generate` -->\n", "\n<!-- end of routes -->"];
  const page = `before\n${marks[0]}old${marks[1]}\nafter\n`;
  assertEquals(
    withRouteTable(page, routes),
    `before\n${marks[0]}\n${routeTable(routes)}${marks[1]}\nafter\n`,
  );
  assertThrows(() => withRouteTable("before", routes), Error, "cannot be written");
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import { includesScope, SCOPES } from "../../contract/credentials.ts";
import { configSchema } from "../../config/schema.ts";
import { ServiceError } from "../../base/errors.ts";
import { inertRoutes, ISSUE_PATH } from "./openapi/inert_routes.ts";
import { createWebRoutes, type WebRoutesDeps } from "./routes.ts";
import { createTestWebApp, refusal } from "./testing/test_web_app.ts";
import { scopesOf, type WebRoute } from "./web_route.ts";

/** Every route as it is mounted, over a handler that does nothing. */
const TABLE = inertRoutes().map((route): WebRoute =>
  ({ ...route, off: undefined, handle: () => Response.json({ reached: true }) }) as WebRoute
);

/** Routes that ask for no token, each of them on purpose. */
const PUBLIC = [
  "GET /",
  "GET /webui/assets/:name",
  "GET /webui/bootstrap",
  `GET ${ISSUE_PATH}`,
  "GET /media/:sha256",
  "GET /health",
];

function asked({ method, path }: WebRoute): [path: string, asked: { method: string }] {
  const headers = { "content-type": "application/json" };
  return [path.replaceAll(/:\w+/g, "x"), { method, ...method !== "GET" && { headers } }];
}

Deno.test("each route of the port wants a token, and no other than one of its scope", async () => {
  const { ask } = createTestWebApp(TABLE);
  const guarded = TABLE.filter(({ access }) => access === undefined);
  assert(guarded.length > 30);
  for (const route of guarded) {
    const name = `${route.method} ${route.path}`;
    const [path, init] = asked(route);
    assertEquals(await refusal(await ask(path, init)), [401, "invalid_token"], name);
    assertEquals(
      await refusal(await ask(path, { ...init, token: "wrong" })),
      [401, "invalid_token"],
      name,
    );
    // One that states none needs operate.
    const needed = scopesOf(route);
    assert(needed.length > 0, name);
    if (route.scope === undefined) assertEquals(needed, ["operate"], name);
    for (const scope of SCOPES) {
      const response = await ask(path, { ...init, token: scope });
      const expected = needed.some((one) => includesScope([scope], one))
        ? { reached: true }
        : [403, "insufficient_scope"];
      const got = response.ok ? await response.json() : await refusal(response);
      assertEquals(got, expected, `${name} with ${scope}`);
    }
    assertEquals((await ask(path, { ...init, token: "person" })).status, 200, name);
  }
});

Deno.test("the public routes of the port are these, and no other", async () => {
  const { ask } = createTestWebApp(TABLE);
  const open = TABLE.filter(({ access }) => access !== undefined);
  assertEquals(open.map(({ method, path }) => `${method} ${path}`).sort(), [...PUBLIC].sort());
  for (const route of open) {
    const [path, init] = asked(route);
    assertEquals((await ask(path, init)).status, 200, path);
    const foreign = { ...init, headers: { origin: "https://evil.example" } };
    assertEquals((await ask(path, foreign)).status, 403, path);
  }
});

Deno.test("no route of the port stands where the name of another may be", () => {
  const parts = ({ method, path }: WebRoute) => [method, ...path.split("/")];
  for (const route of TABLE) {
    const named = TABLE.filter((other) => {
      const [own, others] = [parts(route), parts(other)];
      return other.path !== route.path && own.length === others.length &&
        own.every((part, at) => part === others[at] || others[at]!.startsWith(":"));
    });
    assertEquals(named.map(({ path }) => path), [], `${route.method} ${route.path}`);
  }
});

Deno.test("secrets need the scope secrets, approvals approve", () => {
  for (const { path, scope, access } of TABLE) {
    if (access !== undefined) continue;
    if (path.startsWith("/api/webui/secrets")) assertEquals(scope, "secrets", path);
    if (path.startsWith("/api/webui/approvals")) assertEquals(scope, "approve", path);
    if (/(commission|grant)$/.test(path)) assertEquals(scope ?? "operate", "operate", path);
  }
});

Deno.test("no route of the port changes anything by GET, or reads with anything else", () => {
  const reading = TABLE.filter((route) =>
    route.method !== "GET" && scopesOf(route).includes("read")
  );
  // It gives out what the caller has already.
  assertEquals(reading.map(({ path }) => path), ["/api/webui/socket-token"]);
});

Deno.test("createWebRoutes() refuses a tokenIssuePath that is a pattern or a route", () => {
  const { websocket } = configSchema.parse({}).channels;
  // deno-lint-ignore no-explicit-any -- stands for every part of the service
  const nothing: any = new Proxy(() => nothing, { get: () => nothing });
  const make = (tokenIssuePath: string) =>
    createWebRoutes(
      new Proxy({ config: { ...websocket, tokenIssuePath }, version: "1" }, {
        get: (target, name) => Reflect.get(target, name) ?? nothing,
      }) as unknown as WebRoutesDeps,
    );
  for (const path of ["/:x", "/a*", "/*", "token", "/a/", "/a//b", "/a?b", "/{x}", "/%61", "/ä"]) {
    const error = assertThrows(() => make(path), ServiceError, "expected a path");
    assertEquals(error.details.param, "channels.websocket.tokenIssuePath");
  }
  for (const path of ["/health", "/webui/bootstrap", "/openapi.json", "/api/webui/sessions"]) {
    assertThrows(() => make(path), ServiceError, "has already");
  }
  assertEquals(make("/auth/token").filter(({ path }) => path === "/auth/token").length, 1);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Scope } from "../../contract/credentials.ts";
import { type UpkeepFixture, upkeepFixture } from "../../authority/testing/upkeep_fixture.ts";
import { configJsonSchema } from "../../config/json_schema.ts";
import type { Operate } from "../../operations/operations.ts";
import { AUDIT } from "../../operations/audit.ts";
import { PERMISSIONS } from "../../operations/permissions.ts";
import { SECRETS } from "../../operations/secrets.ts";
import { SETTINGS } from "../../operations/settings.ts";
import { operationRoutes } from "./operation_routes.ts";
import { createTestWebApp, refusal, type TestWebApp } from "./testing/test_web_app.ts";

const VALUE = "hunter2-hunter2";

/** The routes over a real authority; a token is called like its scope. */
function routesOf(home: UpkeepFixture): TestWebApp {
  const operate: Operate = (request, credential) =>
    home.ask(request, [credential.kind === "token" ? credential.token as Scope : "operate"]);
  return createTestWebApp([
    ...operationRoutes(SECRETS, { operate }),
    ...operationRoutes(AUDIT, { operate }),
    ...operationRoutes(PERMISSIONS, { operate }),
    ...operationRoutes(SETTINGS, { operate }),
  ]);
}

Deno.test("upkeep routes state their scopes, and answer no other", async () => {
  await using home = await upkeepFixture();
  const web = routesOf(home);
  assertEquals(
    web.app.routes.map(({ method, path, scope }) => `${method} ${path} ${scope}`),
    [
      "GET /api/webui/secrets secrets",
      "GET /api/webui/secrets/:name secrets",
      "PUT /api/webui/secrets/:name secrets",
      "DELETE /api/webui/secrets/:name secrets",
      "GET /api/webui/audit operate",
      "POST /api/webui/audit/verify operate",
      "GET /api/webui/permissions read",
      "GET /api/webui/settings read",
      "PUT /api/webui/settings operate",
      "GET /api/webui/settings/schema read",
    ],
  );
  for (const { method, path, scope } of web.app.routes) {
    for (const token of ["read", "chat", "approve", "secrets"]) {
      if (token === scope) continue;
      const body = method === "GET" ? undefined : {};
      const response = await web.ask(path.replace(":name", "A"), { method, token, body });
      assertEquals(await refusal(response), [403, "insufficient_scope"]);
    }
  }
});

Deno.test("PUT and DELETE of a secret set and remove it, and no answer holds its value", async () => {
  await using home = await upkeepFixture();
  const web = routesOf(home);
  const said: string[] = [];
  const ask = async (path: string, asked: Parameters<TestWebApp["ask"]>[1]) => {
    const response = await web.ask(path, { token: "secrets", ...asked });
    const text = await response.text();
    said.push(text);
    return { status: response.status, json: JSON.parse(text) };
  };
  const path = "/api/webui/secrets/API_KEY";
  const body = { value: VALUE, hosts: ["api.example.com"] };
  const set = await ask(path, { method: "PUT", body });
  assertEquals([set.status, set.json.hosts, set.json.commands], [200, ["api.example.com"], []]);
  assertEquals((await ask(path, {})).json.name, "API_KEY");
  const list = await ask("/api/webui/secrets", {});
  assertEquals([list.json.secrets.length, list.json.damaged], [1, null]);
  assertEquals((await ask(path, { method: "DELETE" })).json, {
    name: "API_KEY",
    removed: true,
    keys: [],
    restart: [],
    problems: [],
  });
  assertEquals((await ask(path, {})).status, 404);
  assertEquals((await ask(path, { method: "DELETE" })).status, 404);

  // Bodies and names that are wrong, with the value in each of them.
  const json = { "content-type": "application/json" };
  const bad: Parameters<TestWebApp["ask"]>[1][] = [
    { raw: `{value: ${VALUE}}`, headers: json },
    { raw: `"${VALUE}`, headers: json },
    { raw: `{"value":"${VALUE}" ${VALUE}`, headers: json },
    { body: VALUE },
    { body: [VALUE] },
    { body: { value: [VALUE] } },
    { body: { value: { [VALUE]: VALUE } } },
    { body: { value: VALUE, [VALUE]: 1 } },
    { body: { value: VALUE, hosts: VALUE } },
    { body: { value: VALUE, hosts: [{ [VALUE]: 1 }] } },
    { body: { value: `${VALUE}\0` } },
    { body: { value: 1234567890 } },
    { body: {} },
    { body: null },
  ];
  for (const each of bad) {
    const { status, json } = await ask(path, { method: "PUT", ...each });
    assertEquals([status, json.error.code], [400, "invalid_request"]);
  }
  const name = await ask(`/api/webui/secrets/${VALUE}`, { method: "PUT", body });
  assertEquals([name.status, name.json.error.param], [400, "name"]);
  await ask(`/api/webui/secrets/${VALUE}`, {});
  await ask(`/api/webui/secrets/${VALUE}`, { method: "DELETE" });
  const large = await ask(path, { method: "PUT", body: { value: VALUE.repeat(50_000) } });
  assertEquals(large.status, 413);

  assertEquals(
    [said, web.errors, home.logged].flat().filter((text) =>
      JSON.stringify(text).includes("hunter2") || JSON.stringify(text).includes("1234567890")
    ),
    [],
  );
  assertEquals(await home.filesWith("hunter2"), []);
});

Deno.test("GET /api/webui/audit pages with filters, and POST verify judges", async () => {
  await using home = await upkeepFixture();
  const web = routesOf(home);
  for (const name of ["A", "B", "C"]) {
    const body = { value: VALUE };
    await web.ask(`/api/webui/secrets/${name}`, { method: "PUT", token: "secrets", body });
  }
  const get = async (query: string) => {
    const response = await web.ask(`/api/webui/audit${query}`, { token: "operate" });
    return { status: response.status, json: await response.json() };
  };
  const names = ({ json }: Awaited<ReturnType<typeof get>>) =>
    json.records.map(({ data }: { data: { name: string } }) => data.name);
  const newest = await get("?kind=secret&limit=2");
  assertEquals(names(newest), ["B", "C"]);
  const older = await get(`?kind=secret.set&before=${newest.json.next_before}`);
  assertEquals([names(older), older.json.next_before, older.json.damages], [["A"], null, 0]);
  const { ts } = newest.json.records[0];
  assert(Math.abs(ts - Date.now() / 1000) < 60);
  assertEquals((await get(`?since=${Math.floor(ts) + 3_600}`)).json.records, []);
  assertEquals(names(await get(`?kind=secret&until=${Math.floor(ts) + 3_600}`)).length, 3);
  for (
    const query of [
      "?limit=0",
      "?limit=501",
      "?limit=1&limit=2",
      "?limit=ten",
      "?before=-1",
      "?since=now",
      "?kind=Secret%20set",
      "?kind=" + "a".repeat(200),
      "?tool=",
      "?session=" + "s".repeat(400),
    ]
  ) assertEquals((await get(query)).status, 400, query);

  const verify = await web.ask("/api/webui/audit/verify", {
    method: "POST",
    token: "operate",
    body: {},
  });
  const verdict = await verify.json();
  assertEquals([verify.status, verdict.ok, verdict.keys_from], [200, true, "own"]);
  // As everything on this port: names of the wire, times in seconds.
  const fields = [...Object.keys(verdict), ...Object.keys(verdict.keys[0])];
  assertEquals(fields.filter((field) => /[A-Z]/.test(field)), []);
  assertEquals(verdict.signed_at === null || verdict.signed_at < 10_000_000_000, true);
  assertEquals((await web.ask("/api/webui/audit/verify", { token: "operate" })).status, 405);
});

Deno.test("settings over the port are read, changed and refused as a whole", async () => {
  await using home = await upkeepFixture({
    config: { providers: { a: { baseUrl: "http://127.0.0.1:9/v1", apiKey: VALUE } } },
  });
  const web = routesOf(home);
  const view = await (await web.ask("/api/webui/settings", { token: "read" })).json();
  const steps = view.settings.find(({ path }: { path: string }) => path === "agent.maxSteps");
  assertEquals([steps.value, steps.is_set, steps.takes, steps.editable], [50, false, "live", true]);
  assertEquals(JSON.stringify(view).includes("hunter2"), false);
  const schema = await web.ask("/api/webui/settings/schema", { token: "read" });
  assertEquals(await schema.json(), JSON.parse(JSON.stringify(configJsonSchema())));

  const put = async (changes: unknown, more: object = {}) => {
    const response = await web.ask("/api/webui/settings", {
      method: "PUT",
      token: "operate",
      body: { changes, ...more },
    });
    return { status: response.status, json: await response.json() };
  };
  const done = await put([
    { path: "agent.maxSteps", value: 5 },
    { path: "log.format", value: "json" },
    { path: "providers.a.apiKey", value: "" },
  ]);
  assertEquals([done.status, done.json], [200, {
    written: true,
    live: ["agent.maxSteps"],
    restart_required: { keys: ["log.format"], permissions: { added: [], removed: [] } },
  }]);
  const before = await home.home.read();
  const refused = await put([
    { path: "agent.maxSteps", value: 6 },
    { path: "executor.allowUnconfined", value: true },
  ]);
  assertEquals([refused.status, refused.json.error.code, refused.json.error.param], [
    403,
    "refused",
    "executor.allowUnconfined",
  ]);
  assertStringIncludes(refused.json.error.message, "service config set");
  for (
    const [changes, more] of [
      [VALUE],
      [[]],
      [[{ path: VALUE }]],
      [[{ path: "agent.maxSteps", value: 1, [VALUE]: 1 }]],
      [[{ path: "agent.maxSteps", value: 1 }], { [VALUE]: 1 }],
      [[{ path: 7, value: VALUE }]],
      [[{ path: "providers.a.apiKey", value: { [VALUE]: VALUE } }]],
      [Array(101).fill({ path: "agent.maxSteps", value: 1 })],
      [[{ path: "x".repeat(501), value: 1 }]],
    ] as const
  ) {
    const bad = await put(changes, more);
    assertEquals([bad.status, bad.json.error.code], [400, "invalid_request"]);
    assertEquals(JSON.stringify(bad.json).includes("hunter2"), false);
  }
  assertEquals(await home.home.read(), before);
  assertEquals(JSON.stringify([await home.records(), home.logged]).includes("hunter2"), false);
});

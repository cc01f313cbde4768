import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { type Scope, SCOPES } from "../contract/credentials.ts";
import { HOME_OPERATIONS, type OperationRequest } from "./operations.ts";
import { type UpkeepFixture, upkeepFixture } from "../authority/testing/upkeep_fixture.ts";

const VALUE = "hunter2-hunter2";

/** The error, which holds no secret. */
async function fails(promise: Promise<unknown>, code: string): Promise<ServiceError> {
  const error = await assertRejects(() => promise, ServiceError);
  assertEquals([error.code, error.message.includes("hunter2")], [code, false], error.message);
  assertEquals(JSON.stringify(error.details).includes("hunter2"), false);
  return error;
}

const set = { op: "secrets.set" as const, name: "API", value: VALUE, hosts: ["a.example"] };

Deno.test("upkeep takes a secret in and never gives it out, and records who set and removed it", async () => {
  await using home = await upkeepFixture({
    config: { providers: { a: { baseUrl: "https://a.example/v1", apiKey: "" } } },
  });
  const answer = await home.ask(set, ["secrets"]);
  const { secrets } = await home.ask({ op: "secrets.list" }, ["secrets"]);
  assertEquals(secrets.map(({ name, hosts }) => [name, hosts]), [["API", ["a.example"]]]);
  // A value set anew keeps what it is for.
  await home.ask({ ...set, hosts: undefined, value: `${VALUE}-2` });
  assertEquals(home.state.secrets.reveal("API")!.hosts, ["a.example"]);
  const change = { path: "providers.a.apiKey", value: "${secret:API}" };
  await home.ask({ op: "settings.change", changes: [change] });
  const removed = await home.ask({ op: "secrets.remove", name: "API" }, ["secrets"]);
  assertEquals(JSON.stringify([answer, secrets, removed, home.logged]).includes(VALUE), false);
  assertEquals(removed.keys, ["providers.a.apiKey"]);
  assertStringIncludes(removed.problems.join(), "there is no secret API");

  const records = await home.records("secret.");
  assertEquals(records.map(({ kind, data }) => [kind, data.name, data.replaced]), [
    ["secret.set", "API", false],
    ["secret.set", "API", true],
    ["secret.removed", "API", undefined],
  ]);
  for (const { data } of records) assert(/^token:tok_/.test(String(data.by)));
  assertEquals(await home.filesWith(VALUE), []);
  await fails(home.ask({ op: "secrets.remove", name: "API" }), "not_found");
});

Deno.test("what only the home's owner does is unknown to whoever asks with a token, of every scope too", async () => {
  await using home = await upkeepFixture();
  for (const op of Object.keys(HOME_OPERATIONS)) {
    const request = { op, scopes: ["operate"], id: "gr_a" } as unknown as OperationRequest;
    const error = await fails(home.ask(request, [...SCOPES]), "invalid_request");
    assertEquals(error.message, `Unknown operation "${op}"`);
  }
  // Those with which the fixture itself asks.
  assertEquals(home.state.grants.list(), []);
  assertEquals(home.state.tokens.list().length, Object.keys(HOME_OPERATIONS).length);
});

Deno.test("upkeep asks for the scope of each operation", async () => {
  await using home = await upkeepFixture();
  const needed: [request: OperationRequest, scope: Scope][] = [
    [{ op: "secrets.list" }, "secrets"],
    [set, "secrets"],
    [{ op: "secrets.remove", name: "API" }, "secrets"],
    [{ op: "audit.list", limit: 1 }, "operate"],
    [{ op: "audit.verify" }, "operate"],
    [{ op: "permissions.list" }, "read"],
    [{ op: "settings.get" }, "read"],
    [{ op: "settings.change", changes: [{ path: "agent.maxSteps", value: 3 }] }, "operate"],
  ];
  for (const [request, scope] of needed) {
    for (const other of ["read", "chat", "approve", "secrets"] as const) {
      if (other !== scope) await fails(home.ask(request, [other]), "insufficient_scope");
    }
    await home.ask(request, [scope]);
  }
});

Deno.test("upkeep refuses what has not its shape, without repeating it", async () => {
  await using home = await upkeepFixture();
  const requests: object[] = [
    { ...set, value: [VALUE] },
    { ...set, value: { [VALUE]: VALUE } },
    { ...set, name: `${VALUE} ` },
    { ...set, name: "lower-hunter2" },
    { ...set, value: "hunter2" },
    { ...set, value: "h".repeat(70_001) },
    { ...set, value: "h".repeat(65_537) },
    { ...set, value: `hunter2-${"\ud800"}-hunter2` },
    { ...set, hunter2: true },
    { ...set, commands: Array(1_001).fill("x") },
    { op: "secrets.remove", name: VALUE },
    { op: "audit.list", kind: VALUE, limit: 1 },
    { op: "audit.list", limit: 501 },
    { op: "audit.list", limit: 1, before: 0 },
    { op: "channels.other" },
    { op: "channels.set", name: "chat" },
    { op: "channels.set", name: "chat", values: [VALUE] },
    { op: "channels.set", name: "x".repeat(200), values: {} },
    { op: "channels.set", name: "chat", values: {}, [VALUE]: 1 },
    { op: "channels.connect.poll", name: "chat", [VALUE]: 1 },
    { op: "settings.change", changes: VALUE },
    { op: "settings.change", changes: [] },
    { op: "settings.change", changes: [{ path: 1, value: VALUE }] },
    { op: "settings.change", changes: [{ path: "agent.maxSteps", value: 1, by: VALUE }] },
    { op: "settings.change", changes: Array(101).fill({ path: "agent.maxSteps", value: 1 }) },
  ];
  for (const request of requests) {
    await fails(home.ask(request as OperationRequest), "invalid_request");
  }
  const big = { path: "agent.instructions", value: "x".repeat(300_000) };
  await fails(home.ask({ op: "settings.change", changes: [big] }), "too_large");
  assertEquals(home.state.secrets.list(), []);
  assertEquals([...await home.records("settings."), ...await home.records("secret.")], []);
});

Deno.test("upkeep lists the permissions of the running service", async () => {
  await using home = await upkeepFixture({
    config: { providers: { a: { baseUrl: "http://127.0.0.1:9/v1" } } },
  });
  const { permissions } = await home.ask({ op: "permissions.list" }, ["read"]);
  assertEquals(permissions[0], {
    kind: "net",
    value: "127.0.0.1:9",
    asked_by: "providers.a",
  });
});

Deno.test("upkeep pages the audit backwards, with filters", async () => {
  await using home = await upkeepFixture();
  for (const name of ["A", "B", "C"]) await home.ask({ ...set, name });
  const all = await home.records();
  const seen = await pages(home, {}, 2);
  // Each question issues a token, which is on record, too.
  assertEquals(seen.slice(0, all.length).map(({ hash }) => hash), all.map(({ hash }) => hash));
  const sets = await pages(home, { kind: "secret" }, 2);
  assertEquals(sets.map(({ data }) => data.name), ["A", "B", "C"]);
});

async function pages(home: UpkeepFixture, filter: object, limit: number) {
  const found = [];
  let before: number | undefined;
  do {
    const page = await home.ask({ op: "audit.list", ...filter, limit, before });
    assert(page.records.length <= limit);
    found.unshift(...page.records);
    before = page.next_before ?? undefined;
  } while (before !== undefined);
  return found;
}

import { assertEquals } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { createTestApi, jsonOf } from "../testing/test_api.ts";
import type { Credential } from "../../contract/credentials.ts";
import type { Operate, OperationRequest } from "../../operations/operations.ts";

const DIGEST = "ab".repeat(32);
const KEY = "key-of-the-api";
const VIEW = {
  id: "apr_1",
  digest: DIGEST,
  capability: "fs.write" as const,
  tool: "write_file",
  target: "/t",
  details: "content: x",
  session: "api:s",
  channel: "api",
  actor: "api:key",
  created_at: 1_700_000_000,
  expires_at: 1_700_000_120,
};

/** The API over an authority that knows one token. */
function setUp(config = {}) {
  const asked: unknown[] = [];
  const operate = ((request: OperationRequest, credential: Credential) => {
    if (credential.kind !== "token" || credential.token !== "sat_right") {
      return Promise.reject(new ServiceError("invalid_token", "The token is none"));
    }
    asked.push(request);
    if ("id" in request && request.id !== VIEW.id) {
      return Promise.reject(new ServiceError("approval_not_found", "None", { param: "id" }));
    }
    if (request.op === "approvals.list") {
      const { tool: _, details: __, channel: ___, actor: ____, ...summary } = VIEW;
      return Promise.resolve({ approvals: [summary] });
    }
    if (request.op === "approvals.get") return Promise.resolve(VIEW);
    return Promise.resolve({
      id: VIEW.id,
      outcome: request.op === "approvals.deny" ? "denied" : "approved",
    });
  }) as Operate;
  const { api } = createTestApi({ operate, config: { apiKey: KEY, ...config } });
  const send = (path: string, init: RequestInit = {}, token = "sat_right") =>
    api.fetch(
      new Request(`http://127.0.0.1/api/webui/approvals${path}`, {
        ...init,
        headers: {
          ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
          ...(init.body === undefined ? {} : {
            "content-type": "application/json",
            "content-length": `${String(init.body).length}`,
          }),
          host: "127.0.0.1",
          ...init.headers as Record<string, string>,
        },
      }),
      "127.0.0.1",
    );
  const post = (path: string, body: unknown, token?: string) =>
    send(path, { method: "POST", body: JSON.stringify(body) }, token);
  return { asked, send, post };
}

Deno.test("the routes of approvals answer in their documented shapes", async () => {
  const { send, post, asked } = setUp();
  const { tool, details, channel, actor, ...wire } = VIEW;
  assertEquals(await jsonOf(await send("")), { approvals: [wire] });
  assertEquals(await jsonOf(await send("/apr_1")), { ...wire, tool, details, channel, actor });
  asked.length = 0;
  assertEquals(await jsonOf(await post("/apr_1/approve", { digest: DIGEST })), {
    id: "apr_1",
    outcome: "approved",
  });
  assertEquals(await jsonOf(await post("/apr_1/deny", { reason: "no" })), {
    id: "apr_1",
    outcome: "denied",
  });
  assertEquals((await post("/apr_1/deny", {})).status, 200);
  assertEquals(asked.filter((one) => (one as { op: string }).op !== "tokens.check"), [
    { op: "approvals.approve", id: "apr_1", digest: DIGEST },
    { op: "approvals.deny", id: "apr_1", reason: "no" },
    { op: "approvals.deny", id: "apr_1" },
  ]);
});

Deno.test("the routes of approvals want a token of their own, which opens nothing else", async () => {
  const { send, post, asked } = setUp();
  for (const token of ["", KEY, "sat_wrong"]) {
    for (const path of ["", "/apr_1"]) {
      const response = await send(path, {}, token);
      const { error } = await jsonOf(response);
      assertEquals([response.status, error.code], [401, "invalid_token"], `${token} ${path}`);
      assertEquals(response.headers.get("www-authenticate"), "Bearer");
    }
    // Before the body is looked at.
    assertEquals((await post("/apr_1/approve", "x".repeat(1_000_000), token)).status, 401);
  }
  assertEquals(asked, []);
  for (const path of ["/../../../v1/models", "x", "/../approvalsx"]) {
    assertEquals((await send(path)).status, 401, path);
  }
});

Deno.test("the routes of approvals count wrong tokens as wrong keys; the right one passes", async () => {
  const { send } = setUp({ authFailuresPerMinute: 3 });
  for (let count = 0; count < 3; count++) {
    assertEquals((await send("", {}, "sat_guess")).status, 401);
  }
  const blocked = await send("", {}, "sat_guess");
  assertEquals([blocked.status, (await jsonOf(blocked)).error.code], [
    429,
    "too_many_auth_failures",
  ]);
  assertEquals((await send("")).status, 200);
});

Deno.test("the routes of approvals refuse bad input, methods and pages of other origins", async () => {
  const { send, post, asked } = setUp();
  const code = async (response: Response) => [
    response.status,
    (await jsonOf(response)).error.code,
  ];
  for (const body of [{}, { digest: DIGEST.slice(1) }, { digest: 1 }, [], null, { digest: "" }]) {
    assertEquals(await code(await post("/apr_1/approve", body)), [400, "invalid_request"]);
  }
  assertEquals(await code(await post("/apr_1/deny", { reason: "x".repeat(1_001) })), [
    400,
    "invalid_request",
  ]);
  assertEquals(await code(await post("/apr_1/deny", { reason: "x".repeat(100_000) })), [
    413,
    "too_large",
  ]);
  assertEquals(await code(await post("/apr_2/deny", {})), [404, "approval_not_found"]);
  assertEquals(await code(await send("/apr_1/approve")), [405, "method_not_allowed"]);
  assertEquals(await code(await send("/apr_1/other")), [404, "not_found"]);
  const plain = { "content-type": "text/plain" };
  assertEquals(
    await code(await send("/apr_1/deny", { method: "POST", body: "{}", headers: plain })),
    [
      415,
      "unsupported_media_type",
    ],
  );
  const origin = { origin: "https://evil.example" };
  assertEquals(await code(await send("", { headers: origin })), [403, "forbidden_origin"]);
  const answers = asked.filter((one) => /approve|deny/.test((one as { op: string }).op));
  // The authority itself knows which approvals there are.
  assertEquals(answers, [{ op: "approvals.deny", id: "apr_2" }]);
});

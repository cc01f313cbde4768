import { assertEquals } from "@std/assert";
import type { Credential } from "../../contract/credentials.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Operate, OperationRequest } from "../../operations/operations.ts";
import { APPROVALS, BLOCKS } from "../../operations/approvals.ts";
import { operationRoutes } from "./operation_routes.ts";
import { createTestWebApp, refusal } from "./testing/test_web_app.ts";

const DIGEST = "ab".repeat(32);
const VIEW = {
  id: "apr_1",
  digest: DIGEST,
  capability: "fs.write" as const,
  tool: "write_file",
  target: "/t",
  details: "content: x",
  session: "websocket:a",
  channel: "websocket",
  actor: "websocket:ann",
  created_at: 1_700_000_000,
  expires_at: 1_700_000_120,
};

/** The routes over an authority that answers everybody, and refuses `read` itself. */
function setUp(refuses?: ServiceError) {
  const asked: { request: OperationRequest; credential: Credential }[] = [];
  const operate = ((request: OperationRequest, credential: Credential) => {
    if (refuses !== undefined) return Promise.reject(refuses);
    asked.push({ request, credential });
    if (request.op === "approvals.list") return Promise.resolve({ approvals: [VIEW] });
    if (request.op === "approvals.get" && request.id !== VIEW.id) {
      return Promise.reject(new ServiceError("approval_not_found", "None", { param: "id" }));
    }
    if (request.op === "approvals.get") return Promise.resolve(VIEW);
    if (request.op === "latches.list") {
      const latch = {
        session: "api:a",
        capability: "exec" as const,
        since: 1,
        reason: "no",
      };
      return Promise.resolve({ latches: [latch] });
    }
    if (request.op === "latches.clear") {
      return Promise.resolve({ session: "api:a", capability: "exec", cleared: true });
    }
    return Promise.resolve({ id: VIEW.id, outcome: "approved" });
  }) as Operate;
  const web = createTestWebApp(
    [...operationRoutes(APPROVALS, { operate }), ...operationRoutes(BLOCKS, { operate })],
    {
      tokens: {
        approve: { scopes: ["approve"] },
        read: { scopes: ["read"] },
        operate: { scopes: ["operate"] },
        person: { actor: "webui:ann", credential: { kind: "identity", actor: "webui:ann" } },
      },
    },
  );
  return { ...web, asked };
}

Deno.test("approvals on the WebSocket port are answered with the caller's own credential", async () => {
  const { ask, asked } = setUp();
  const list = await (await ask("/api/webui/approvals", { token: "approve" })).json();
  assertEquals(list.approvals.map(({ id, expires_at }: typeof list) => [id, expires_at]), [
    ["apr_1", 1_700_000_120],
  ]);
  const whole = await (await ask("/api/webui/approvals/apr_1", { token: "person" })).json();
  assertEquals([whole.tool, whole.actor, whole.details], [
    "write_file",
    "websocket:ann",
    "content: x",
  ]);
  asked.length = 0;
  const answers: [word: string, token: string, body: object][] = [
    ["approve", "person", { digest: DIGEST, actor: "webui:mallory", approver: "x" }],
    ["deny", "approve", { reason: "no" }],
  ];
  for (const [word, token, body] of answers) {
    const response = await ask(`/api/webui/approvals/apr_1/${word}`, {
      method: "POST",
      token,
      body,
    });
    assertEquals(response.status, 200, word);
    await response.body?.cancel();
  }
  // G13: who answers is never what a body says.
  assertEquals(asked.filter(({ request }) => request.op !== "approvals.get"), [
    {
      request: { op: "approvals.approve", id: "apr_1", digest: DIGEST },
      credential: { kind: "identity", actor: "webui:ann" },
    },
    {
      request: { op: "approvals.deny", id: "apr_1", reason: "no" },
      credential: { kind: "token", token: "approve" },
    },
  ]);
});

Deno.test("approvals on the WebSocket port want the scope approve, and what the authority says", async () => {
  const { ask, asked } = setUp();
  const send = (token?: string) =>
    ask("/api/webui/approvals/apr_1/approve", { method: "POST", token, body: { digest: DIGEST } });
  assertEquals(await refusal(await send()), [401, "invalid_token"]);
  assertEquals(await refusal(await send("read")), [403, "insufficient_scope"]);
  assertEquals(asked, []);
  // Not listed in gates.approvers, say: the port lets a person through, the authority does not.
  const strict = setUp(new ServiceError("insufficient_scope", "Not listed"));
  const refused = await strict.ask("/api/webui/approvals", { token: "person" });
  assertEquals(await refusal(refused), [403, "insufficient_scope"]);
});

Deno.test("latches are listed for approvers and cleared by operators", async () => {
  const { ask, asked } = setUp();
  assertEquals(await (await ask("/api/webui/latches", { token: "approve" })).json(), {
    latches: [{ session: "api:a", capability: "exec", since: 1, reason: "no" }],
  });
  const path = "/api/webui/latches/api%3Aa/exec";
  assertEquals((await ask(path, { method: "DELETE", token: "approve" })).status, 403);
  asked.length = 0;
  assertEquals(await (await ask(path, { method: "DELETE", token: "operate" })).json(), {
    session: "api:a",
    capability: "exec",
    cleared: true,
  });
  assertEquals(asked.map(({ request }) => request), [
    { op: "latches.clear", session: "api:a", capability: "exec" },
  ]);
  for (const wrong of ["api:a/Exec", "api:a/__proto__", `${"x".repeat(301)}/exec`]) {
    const response = await ask(`/api/webui/latches/${wrong}`, {
      method: "DELETE",
      token: "operate",
    });
    assertEquals(await refusal(response), [400, "invalid_request"], wrong);
  }
});

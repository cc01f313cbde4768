import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { ManualClock } from "../http/testing/manual_clock.ts";
import type { ActionContext } from "../contract/actions.ts";
import {
  type CheckedToken,
  type Credential,
  type IssuedToken,
  type Scope,
  SCOPES,
} from "../contract/credentials.ts";
import type { OperationRequest } from "../operations/operations.ts";
import { createIssuedTokens } from "../state/issued_tokens.ts";
import type { Answer } from "./approval_request.ts";
import { Operator } from "../operations/operator.ts";

const LASTING: Record<string, { id: string; scopes: Scope[]; expiresAt?: number }> = {
  lasting_operator: { id: "tok_o", scopes: ["operate"] },
  lasting_approver: { id: "tok_a", scopes: ["approve"], expiresAt: 99 },
  lasting_chatter: { id: "tok_c", scopes: ["chat", "approve"] },
};

/** An operator's way in with a WebSocket port, and one approval whose turn `actor` opened. */
function world(
  { secret, trustsProxy = false, independentApprover = false, actor = "websocket:anna", lasting }: {
    secret?: string;
    trustsProxy?: boolean;
    independentApprover?: boolean;
    actor?: string;
    lasting?: boolean;
  } = {},
) {
  const clock = new ManualClock();
  const issued = createIssuedTokens({ secret, ttlS: 300, clock, maxOutstanding: 3 });
  const context = { actor, turnId: "t1", sessionKey: "s", channel: "websocket" } as ActionContext;
  const answered: string[] = [];
  const operator = new Operator({
    approvals: {
      list: () => [],
      answer: ({ by, objection }: Answer) => {
        const why = objection(context);
        if (why !== undefined) throw new ServiceError("insufficient_scope", why);
        answered.push(by);
        return Promise.resolve();
      },
      refused: () => Promise.resolve(),
    } as never,
    tokens: {
      verify: (token) => LASTING[token] && { name: "", ...LASTING[token] },
      hasAny: () => lasting ?? false,
    },
    port: { tokens: issued, trustsProxy },
    latches: { list: () => [], clear: () => Promise.resolve(true) },
    gates: { approvers: ["webui:ann@example.org"], independentApprover },
    verifiesSenders: (channel) => channel === "webui" && trustsProxy,
    log: { error: () => {} },
  });
  const outcome = (request: OperationRequest, credential: Credential) =>
    operator.operate(request, credential).then(() => "done", (error) => {
      assert(error instanceof ServiceError, String(error));
      return error.code;
    });
  return {
    clock,
    operator,
    answered,
    context,
    outcome,
    async issue(scopes: readonly Scope[], shown = secret): Promise<IssuedToken> {
      const answer = await operator.operate({ op: "tokens.issue_api", scopes }, {
        kind: "issue_secret",
        ...shown !== undefined && { secret: shown },
      });
      return answer;
    },
    async check(token: string): Promise<CheckedToken> {
      const answer = await operator.operate({ op: "tokens.check" }, { kind: "token", token });
      return answer;
    },
    approve: (credential: Credential) =>
      outcome({ op: "approvals.approve", id: "a", digest: "d" }, credential),
  };
}

Deno.test("tokens.issue_api gives a token with its scopes for the secret alone, and says when it ends", async () => {
  const { issue, check, clock } = world({ secret: "let-me-in" });
  const { token, expiresAt } = await issue(["chat", "read", "read"]);
  assertMatch(token, /^sat_[A-Za-z0-9_-]{43}$/);
  assertEquals(expiresAt, 300_000);
  clock.advance(1_000);
  const checked = await check(token);
  assertMatch(checked.id, /^tok_[a-z0-9]{16}$/);
  assertEquals(checked.scopes, ["read", "chat"]);
  assertEquals(checked.expiresAt, 300_000);
  clock.advance(299_000);
  await assertRejects(() => check(token), ServiceError, "has expired");
});

Deno.test("tokens.issue_api refuses every secret but the one in force, also for operate", async () => {
  const { outcome } = world({ secret: "let-me-in" });
  const request: OperationRequest = { op: "tokens.issue_api", scopes: ["operate"] };
  for (
    const secret of [undefined, "", "let-me-i", "let-me-in ", "LET-ME-IN", "l".repeat(100_000)]
  ) {
    assertEquals(await outcome(request, { kind: "issue_secret", secret }), "invalid_token");
  }
  for (
    const credential of [
      { kind: "token", token: "lasting_operator" },
      { kind: "sender", sender: "webui:ann@example.org" },
      { kind: "identity", actor: "webui:ann@example.org" },
      { kind: "terminal", turnId: "t1" },
    ] as Credential[]
  ) assertEquals(await outcome(request, credential), "invalid_token");
  assertEquals(await outcome(request, { kind: "issue_secret", secret: "let-me-in" }), "done");
});

Deno.test("tokens.issue_api refuses scopes that are none, and more tokens than may be outstanding", async () => {
  const { outcome, issue, clock } = world();
  const credential: Credential = { kind: "issue_secret" };
  for (const scopes of [[], ["Operate"], ["read", "write"]] as Scope[][]) {
    assertEquals(await outcome({ op: "tokens.issue_api", scopes }, credential), "invalid_request");
  }
  for (let at = 0; at < 3; at++) await issue(SCOPES);
  clock.advance(1_500);
  const error = await assertRejects(() => issue(["read"]), ServiceError);
  assertEquals([error.code, error.details.retryAfterS], ["too_many_tokens", 299]);
  clock.advance(298_500);
  await issue(["read"]);
});

Deno.test("tokens.check knows lasting tokens too, and nothing that is no token", async () => {
  const { check, outcome } = world();
  assertEquals(await check("lasting_operator"), { id: "tok_o", scopes: ["operate"] });
  assertEquals(await check("lasting_approver"), {
    id: "tok_a",
    scopes: ["approve"],
    expiresAt: 99,
  });
  for (const token of ["", "nobody", "sat_".padEnd(47, "A")]) {
    assertEquals(await outcome({ op: "tokens.check" }, { kind: "token", token }), "invalid_token");
  }
  const others: Credential[] = [{ kind: "issue_secret" }, { kind: "identity", actor: "webui:a" }];
  for (const other of others) {
    assertEquals(await outcome({ op: "tokens.check" }, other), "invalid_token");
  }
});

Deno.test("an issued token answers approvals and clears latches as its scopes say", async () => {
  const { issue, approve, outcome, answered } = world();
  const clear: OperationRequest = { op: "latches.clear", session: "s", capability: "exec" };
  const expected: [Scope[], string, string][] = [
    [["operate"], "done", "done"],
    [["approve"], "done", "insufficient_scope"],
    [["read", "chat", "secrets"], "insufficient_scope", "insufficient_scope"],
  ];
  for (const [scopes, approves, clears] of expected) {
    const { token } = await issue(scopes);
    assertEquals(await approve({ kind: "token", token }), approves, scopes.join());
    assertEquals(await outcome(clear, { kind: "token", token }), clears, scopes.join());
  }
  assertEquals(answered.length, 2);
});

Deno.test("canAsk() counts issued tokens while they are in force", async () => {
  const { operator, issue, context, clock } = world();
  assertEquals(operator.canAsk(context), false);
  await issue(["read", "chat"]);
  assertEquals(operator.canAsk(context), false);
  await issue(["operate"]);
  assertEquals(operator.canAsk(context), true);
  clock.advance(300_000);
  assertEquals(operator.canAsk(context), false);
});

Deno.test("G6 with independentApprover no token that could have opened a turn over the port answers it", async () => {
  const own = world({ independentApprover: true });
  for (const scopes of [["operate"], ["approve"]] as Scope[][]) {
    const { token } = await own.issue(scopes);
    assertEquals(await own.approve({ kind: "token", token }), "insufficient_scope");
  }
  assertEquals(own.operator.canAsk(own.context), false, "there is nobody else");
  for (
    const [token, outcome] of [
      ["lasting_operator", "insufficient_scope"],
      ["lasting_chatter", "insufficient_scope"],
      ["lasting_approver", "done"],
    ] as const
  ) assertEquals(await own.approve({ kind: "token", token }), outcome, token);

  const other = world({ independentApprover: true, actor: "api:anonymous" });
  const { token } = await other.issue(["operate"]);
  assertEquals(await other.approve({ kind: "token", token }), "done");
  assertEquals(other.operator.canAsk(other.context), true);
});

Deno.test("a proxy's word counts only while there is a proxy, and approvers have to be listed", async () => {
  const ann: Credential = { kind: "identity", actor: "webui:ann@example.org" };
  const eve: Credential = { kind: "identity", actor: "webui:eve@example.org" };
  const without = world();
  assertEquals(await without.approve(ann), "invalid_token");
  assertEquals(await without.outcome({ op: "latches.list" }, ann), "invalid_token");

  const behind = world({ trustsProxy: true });
  assertEquals(await behind.approve(ann), "done");
  assertEquals(behind.answered, ["sender:webui:ann@example.org"]);
  assertEquals(await behind.approve(eve), "insufficient_scope");
  assertEquals(await behind.outcome({ op: "latches.list" }, eve), "done", "nothing narrows it");
  for (const actor of ["ann@example.org", "telegram:1", "WEBUI:ann@example.org", ""]) {
    assertEquals(await behind.approve({ kind: "identity", actor }), "invalid_token");
  }
});

Deno.test("G6 with independentApprover the person who opened the turn does not answer it, in any spelling", async () => {
  const ann: Credential = { kind: "identity", actor: "webui:ann@example.org" };
  for (
    const actor of ["webui:ann@example.org", "webui:Ann@example.org", "webui:ann@\u200bexample.org"]
  ) {
    const { approve } = world({ trustsProxy: true, independentApprover: true, actor });
    assertEquals(await approve(ann), "insufficient_scope", actor);
    assertEquals(
      await approve({ kind: "sender", sender: "webui:ann@example.org" }),
      "insufficient_scope",
    );
  }
  const { approve } = world({ trustsProxy: true, independentApprover: true, actor: "webui:bob" });
  assertEquals(await approve(ann), "done");
});

Deno.test("operate() issues nothing where no port is served", async () => {
  const operator = new Operator({
    approvals: {} as never,
    tokens: { verify: () => undefined, hasAny: () => false },
    latches: { list: () => [], clear: () => Promise.resolve(true) },
    gates: { approvers: [], independentApprover: false },
    verifiesSenders: () => false,
    log: { error: () => {} },
  });
  const error = await assertRejects(
    () => operator.operate({ op: "tokens.issue_api", scopes: ["read"] }, { kind: "issue_secret" }),
    ServiceError,
  );
  assertEquals(error.code, "not_enabled");
});

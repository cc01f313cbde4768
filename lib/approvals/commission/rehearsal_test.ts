import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { needs } from "../../../tests/support/needs.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ActionContext, ActionResult } from "../../contract/actions.ts";
import type { Executor } from "../../executor/executor.ts";
import { createExecutor } from "../../executor/executor.ts";
import type { OperationRequest } from "../../operations/operations.ts";
import { VALUE } from "../../authority/testing/ask_gate.ts";
import { CONTEXT, type GateFixture, gateFixture } from "../../authority/testing/gate_fixture.ts";
import type { Finding } from "../../contract/finding.ts";

const DIGEST = "d".repeat(64);
const EDITED = "e".repeat(64);

/** The turn of a run, or a rehearsal, of an automation. */
function turnOf(more: Partial<ActionContext> = {}): { context: Partial<ActionContext> } {
  const automation = { id: "aut_a", digest: DIGEST };
  return {
    context: { sessionKey: "automation:aut_a", attended: false, automation, ...more },
  };
}

async function operatorOf(gate: GateFixture) {
  const { token } = await gate.state.tokens.issue({ name: "op", scopes: ["operate"] });
  const credential = { kind: "token", token } as const;
  return {
    operate: (request: OperationRequest) => gate.operator.operate(request, credential),
    async begin(automationId = "aut_a", digest = DIGEST): Promise<string> {
      const request = { op: "commissions.begin", automationId, digest } as const;
      return (await gate.operator.operate(request, credential)).id;
    },
    async finish(id: string): Promise<Finding> {
      const request = { op: "commissions.finish", id, outcome: "done" } as const;
      return (await gate.operator.operate(request, credential))!;
    },
    grant: (finding: Pick<Finding, "automationId" | "digest">, automationDigest = DIGEST) =>
      gate.operator.operate({
        op: "commissions.grant",
        automationId: finding.automationId,
        digest: finding.digest,
        automationDigest,
      }, credential),
  };
}

/** Children, of which none may be started. */
function noChildren(): Executor & { started: string[] } {
  const started: string[] = [];
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const overrides: Pick<Executor, "confinement" | "run" | "open"> = {
    confinement() {
      started.push("sandbox");
      return Promise.resolve({ confined: false, reason: "no child may be started" });
    },
    run() {
      started.push("job");
      return Promise.resolve({ type: "fault", message: "no child may be started" });
    },
    open() {
      started.push("session");
      return Promise.reject(new Error("no child may be started"));
    },
  };
  const real = createExecutor({ cacheDir: "/nonexistent/cache", log });
  return Object.assign(real, { started, ...overrides });
}

const EXEC = { command: ["/bin/echo", "hello"] };
const FETCH = { url: "https://name-that-nobody-has.invalid/feed.xml" };
const SECRET_FETCH = {
  url: "https://api.example/x",
  headers: { Authorization: "Bearer ${secret:API_KEY}" },
};

Deno.test(
  needs(
    "G4 act() in a rehearsal runs, contacts, reveals, queues and records nothing, and says what a run would be told",
    "bubblewrap",
  ),
  async () => {
    const executor = noChildren();
    let calls = 0;
    await using gate = await gateFixture({
      executor,
      channels: ["telegram"],
      messageTargets: ["telegram:5"],
      offered: {
        find: (name) =>
          name === "mcp__tracker__close"
            ? {
              name,
              server: "tracker",
              tool: "close",
              definition: "a".repeat(64),
              description: "",
              parameters: {},
              readOnly: false,
            }
            : undefined,
        call: () => {
          calls++;
          throw new Error("no server may be called");
        },
      },
      openNetwork: () => Promise.reject(new Error("no network may be opened")),
    });
    await gate.state.secrets.set({
      name: "API_KEY",
      value: VALUE,
      hosts: ["api.example"],
      commands: [],
    });
    await Deno.writeTextFile(`${gate.workspace}/a.txt`, "content of a");
    await Deno.writeTextFile(`${gate.workspace}/.env`, "K=1");
    const { begin, finish } = await operatorOf(gate);
    const rehearsal = await begin();
    const before = (await gate.records()).length;
    // Attended by the word of the service: a rehearsal is judged as a run all the same.
    const turn = { ...turnOf({ rehearsal, attended: true }) };
    const wanted: [tool: string, args: unknown, status: ActionResult["status"]][] = [
      ["read_file", { path: "a.txt" }, "ok"],
      ["read_file", { path: "a.txt" }, "ok"],
      ["write_file", { path: "b.txt", content: "b" }, "ok"],
      ["exec", EXEC, "ok"],
      ["web_fetch", FETCH, "ok"],
      ["web_fetch", SECRET_FETCH, "ok"],
      ["message", { channel: "telegram", chat_id: "5", content: "hi" }, "ok"],
      ["mcp__tracker__close", { id: 1 }, "ok"],
      ["read_file", { path: ".env" }, "refused"],
      ["web_fetch", { url: "http://169.254.169.254/latest" }, "refused"],
      ["read_file", { path: `${gate.home}/keys/x` }, "refused"],
      ["web_fetch", {
        url: "https://other.example/",
        headers: { Authorization: "Bearer ${secret:API_KEY}" },
      }, "refused"],
    ];
    for (const [tool, args, status] of wanted) {
      const result = await gate.act(tool, args, turn);
      assertEquals([tool, args, result.status], [tool, args, status], result.output);
      assertStringIncludes(result.output, "Dry run: nothing ran");
      // It repeats nothing that the model chose.
      assert(!/https?:|content of a|telegram:5/.test(result.output), result.output);
    }
    assertEquals(executor.started, []);
    assertEquals(calls, 0);
    assertEquals(gate.queued, []);
    assertEquals(gate.approvals.list(), []);
    assertEquals(gate.state.latches.list(), []);
    await assertRejects(() => Deno.stat(`${gate.workspace}/b.txt`), Deno.errors.NotFound);
    assertEquals((await gate.records()).length, before);

    const finding = await finish(rehearsal);
    assertEquals(
      finding.actions.map(({ capability, effect, count }) => [capability, effect, count]),
      [
        ["fs.read", "grant", 2],
        ["fs.write", "grant", 1],
        ["exec", "grant", 1],
        ["net.fetch", "grant", 1],
        ["net.fetch", "grant", 1],
        ["secret.use", "grant", 1],
        ["message.send", "grant", 1],
        ["mcp.call", "grant", 1],
        ["fs.read", "deny", 1],
        ["net.fetch", "deny", 1],
        ["fs.read", "deny", 1],
        // The fetch itself could be granted; its secret could not.
        ["net.fetch", "deny", 1],
        ["secret.use", "deny", 1],
      ],
    );
    assertEquals(finding.grants.slice(0, 3), [
      { capability: "fs.read", target: `${gate.workspace}/a.txt` },
      { capability: "fs.write", target: `${gate.workspace}/b.txt` },
      {
        capability: "exec",
        target: JSON.stringify({
          argv: ["/bin/echo", "hello"],
          cwd: gate.workspace,
          program: await Deno.realPath("/bin/echo"),
        }),
      },
    ]);
    const kinds = (await gate.records()).map(({ kind }) => kind);
    assertEquals(kinds.filter((kind) => kind.startsWith("action.")), []);
    assertEquals(kinds.filter((kind) => kind.startsWith("commission.")), [
      "commission.started",
      "commission.finished",
    ]);
  },
);

Deno.test("act() in a rehearsal that is over, of another automation or of another version runs nothing either", async () => {
  await using gate = await gateFixture();
  const { begin, finish } = await operatorOf(gate);
  const rehearsal = await begin();
  const write = (more: Partial<ActionContext>) =>
    gate.act("write_file", { path: "b.txt", content: "b" }, turnOf(more));
  const other = { id: "aut_b", digest: DIGEST };
  const edited = { id: "aut_a", digest: EDITED };
  const results = [
    await write({ rehearsal: "com_unknown", attended: true }),
    await write({ rehearsal, automation: other, attended: true }),
    await write({ rehearsal, automation: edited, attended: true }),
    await write({ rehearsal, automation: undefined, attended: true }),
    await write({ rehearsal: "", attended: true }),
  ];
  assertEquals((await finish(rehearsal)).actions, []);
  results.push(await write({ rehearsal, attended: true }));
  for (const { status, output } of results) assertEquals(status, "refused", output);
  await assertRejects(() => Deno.stat(`${gate.workspace}/b.txt`), Deno.errors.NotFound);
});

Deno.test(
  needs(
    "G2 G20 grants of a commission hold for exactly what was rehearsed, in that automation as it was, and nowhere else",
    "bubblewrap",
  ),
  async () => {
    await using gate = await gateFixture();
    await Deno.writeTextFile(`${gate.workspace}/a.txt`, "content of a");
    const { begin, finish, grant, operate } = await operatorOf(gate);
    const rehearsal = await begin();
    await gate.act("read_file", { path: "a.txt" }, turnOf({ rehearsal }));
    await gate.act("exec", EXEC, turnOf({ rehearsal }));
    await gate.act("read_file", { path: ".env" }, turnOf({ rehearsal }));
    const finding = await finish(rehearsal);
    const read = (more: Partial<ActionContext> = {}) =>
      gate.act("read_file", { path: "a.txt" }, turnOf(more));
    assertEquals((await read()).status, "refused");

    // Proposed before a change, or another finding than the one that was seen: nothing is written.
    const conflicts = [
      () => grant(finding, EDITED),
      () => grant({ ...finding, digest: EDITED }),
      () => grant({ ...finding, digest: finding.digest.slice(0, 63) }),
      () => grant({ ...finding, digest: DIGEST }),
    ];
    for (const attempt of conflicts) {
      const error = await assertRejects(attempt, ServiceError);
      assertEquals(error.code, "conflict");
    }
    assertEquals(gate.state.grants.list(), []);

    await grant(finding);
    await grant(finding);
    assertEquals(
      gate.state.grants.list().map(({ subject, capability, automationDigest }) => [
        subject,
        capability,
        automationDigest,
      ]),
      [["automation:aut_a", "fs.read", DIGEST], ["automation:aut_a", "exec", DIGEST]],
    );
    assertEquals((await read()).status, "ok");
    // In whatever session the automation runs.
    assertEquals((await read({ sessionKey: "automation:aut_a.2" })).status, "ok");
    assertEquals((await read({ automation: { id: "aut_a", digest: EDITED } })).status, "refused");
    assertEquals((await read({ automation: { id: "aut_b", digest: DIGEST } })).status, "refused");
    assertEquals((await read({ automation: undefined })).status, "refused");
    assertEquals((await read({ automation: undefined, sessionKey: "cli:x" })).status, "refused");

    // One character more, or one host more.
    const run = (args: unknown) => gate.act("exec", args, turnOf());
    const [same, near, host] = [
      await run(EXEC),
      await run({ command: ["/bin/echo", "hello "] }),
      await run({ ...EXEC, hosts: ["example.com"] }),
    ];
    assert(!same.output.startsWith("Refused"), same.output);
    assertEquals([near.status, host.status], ["refused", "refused"]);
    assertStringIncludes(near.output, "service grants add automation:aut_a exec");

    // Those of an earlier version make room for those of the new one.
    const again = await begin("aut_a", EDITED);
    const now = { id: "aut_a", digest: EDITED };
    await gate.act("read_file", { path: "a.txt" }, turnOf({ rehearsal: again, automation: now }));
    await grant(await finish(again), EDITED);
    assertEquals(gate.state.grants.list().map(({ automationDigest }) => automationDigest), [
      EDITED,
    ]);
    assertEquals((await read()).status, "refused");
    assertEquals((await read({ automation: now })).status, "ok");

    // A grant that an operator made by hand is not bound to a version; deleting takes both back.
    await gate.state.grants.add({
      subject: "automation:aut_a",
      capability: "fs.read",
      target: `${gate.workspace}/a.txt`,
      note: "",
    });
    assertEquals((await read()).status, "ok");
    assertEquals(await operate({ op: "commissions.revoke", automationId: "aut_a" }), {
      removed: 2,
    });
    assertEquals(gate.state.grants.list(), []);
    assertEquals((await read({ automation: now })).status, "refused");
    const gone = await assertRejects(
      () => operate({ op: "commissions.finding", automationId: "aut_a" }),
      ServiceError,
    );
    assertEquals(gone.code, "not_found");
    const records = await gate.records();
    assertEquals(records.filter(({ kind }) => kind === "grant.added").length, 4);
    assertEquals(records.filter(({ kind }) => kind === "grant.removed").length, 4);
    for (const { data } of records.filter(({ kind }) => kind === "grant.added").slice(0, 3)) {
      assertStringIncludes(String(data.by), "token:tok_");
    }
  },
);

Deno.test("operate() lets nobody begin, see or grant without the scope operate", async () => {
  await using gate = await gateFixture();
  const { begin, finish } = await operatorOf(gate);
  const finding = await finish(await begin());
  const { token } = await gate.state.tokens.issue({
    name: "most",
    scopes: ["read", "chat", "approve", "secrets"],
  });
  const automationId = "aut_a";
  const requests: OperationRequest[] = [
    { op: "commissions.begin", automationId, digest: DIGEST },
    { op: "commissions.finding", automationId },
    { op: "commissions.grant", automationId, digest: finding.digest, automationDigest: DIGEST },
  ];
  for (const request of requests) {
    const error = await assertRejects(
      () => gate.operator.operate(request, { kind: "token", token }),
      ServiceError,
    );
    assertEquals(error.code, "insufficient_scope");
    const unknown = await assertRejects(
      () => gate.operator.operate(request, { kind: "token", token: "sat_" + "x".repeat(43) }),
      ServiceError,
    );
    assertEquals(unknown.code, "invalid_token");
  }
});

Deno.test("G1 act() names the grant of the automation, and an automation cannot make automations", async () => {
  await using gate = await gateFixture();
  const { context } = turnOf({ sessionKey: CONTEXT.sessionKey });
  const result = await gate.act("read_file", { path: "a.txt" }, { context });
  assertStringIncludes(result.output, "service grants add automation:aut_a fs.read");
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { calls, hangs, says, scriptedModel } from "../../agent/testing/scripted_model.ts";
import { testAgent } from "../../agent/testing/test_agent.ts";
import { gateFixture } from "../../authority/testing/gate_fixture.ts";
import { newAutomation } from "../../schedule/automation_record.ts";
import { checkAutomation } from "../../schedule/check_automation.ts";
import { openJournal } from "../../journal/open.ts";
import type { Finding } from "../../contract/finding.ts";
import { createScrubber } from "../../secrets/scrubber.ts";
import { createCommission } from "../../operations/commission.ts";
import { describeTool, TOOLS } from "../../tools/mod.ts";
import { AUTOMATIONS } from "../../operations/automations.ts";
import { runGatewayOperation } from "../../operations/operations.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { gatewayRoutes } from "./operation_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";

const MESSAGE = "Look at notes.md and tell what is new.";

/** The routes over a real gate and the whole agent, with one automation. */
async function setUp(model = scriptedModel()) {
  const gate = await gateFixture();
  const journal = openJournal({ path: ":memory:" });
  const agent = testAgent({
    journal,
    model,
    act: gate.actions.act.bind(gate.actions),
    tools: TOOLS.map((tool) => ({ ...tool, ...describeTool(tool) })),
  });
  const store = journal.automations;
  const given = { name: "news", message: MESSAGE, schedule: { every: 3_600 } };
  const spec = checkAutomation(given, { now: 0 });
  const record = newAutomation("aut_a", spec, 0);
  await store.create(record);
  const state = { off: undefined as string | undefined };
  const commission = createCommission({
    store,
    turns: agent.turns,
    operate: gate.operator.operate,
    off: () => state.off,
    log: { warning: () => {} },
  });
  const [operator, reader] = await Promise.all([["operate"], ["read", "chat", "approve"]].map(
    async (scopes) =>
      // deno-lint-ignore no-explicit-any
      (await gate.state.tokens.issue({ name: scopes[0]!, scopes: scopes as any })).token,
  )) as [string, string];
  const web = createTestWebApp(
    gatewayRoutes(AUTOMATIONS, {
      ...someParts({ automations: { off: () => state.off } as never, commission }),
      scrubber: createScrubber(),
    }),
    { tokens: { [operator]: { scopes: ["operate"] }, [reader]: { scopes: ["read", "chat"] } } },
  );
  const ask = async (path: string, body?: unknown, more: Record<string, unknown> = {}) => {
    const response = await web.ask(`/api/webui/automations/${path}`, {
      method: path.endsWith("finding") ? "GET" : "POST",
      token: operator,
      body,
      ...more,
    });
    const text = await response.text();
    return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
  };
  return {
    gate,
    agent,
    store,
    record,
    state,
    ask,
    operator,
    reader,
    commission,
    async [Symbol.asyncDispose]() {
      await gate[Symbol.asyncDispose]();
      await journal.close();
    },
  };
}

const READ = calls(["read_file", { path: "notes.md" }], ["read_file", { path: ".env" }]);

Deno.test("G20 the routes rehearse an automation, show the finding, and grant it while nothing has changed", async () => {
  await using at = await setUp(scriptedModel([READ, says("Would tell what is new.")]));
  const { gate, ask, store, record } = at;
  await Deno.writeTextFile(`${gate.workspace}/notes.md`, "the content");
  assertEquals((await ask("aut_a/finding")).status, 404);

  const { status, json } = await ask("aut_a/commission");
  assertEquals(status, 200, JSON.stringify(json));
  assertEquals(json.text, "Would tell what is new.");
  const { finding } = json;
  assertEquals([finding.automation_id, finding.outcome, finding.left], ["aut_a", "done", 0]);
  assertEquals(finding.grants, [
    { capability: "fs.read", target: `${gate.workspace}/notes.md` },
  ]);
  assertEquals(finding.actions.map((each: { effect: string }) => each.effect).sort(), [
    "deny",
    "grant",
  ]);
  // The model was told in words, and got nothing of the file.
  const told = JSON.stringify(at.agent.journal.history(1, 0, 100));
  assertStringIncludes(told, "Dry run: nothing ran");
  assert(!told.includes("the content"));
  assertEquals(gate.state.grants.list(), []);

  assertEquals(await ask("aut_a/finding"), { status: 200, json: { finding, current: true } });
  const changed = { ...record, spec: { ...record.spec, message: `${MESSAGE}!` }, revision: 2 };
  await store.replace(changed, record);
  assertEquals((await ask("aut_a/finding")).json.current, false);
  const refused = await ask("aut_a/grant", { digest: finding.digest });
  assertEquals([refused.status, refused.json.error.code], [409, "conflict"]);
  assertEquals(gate.state.grants.list(), []);

  // Changed back, and switched off, which is no change: it is as it was rehearsed.
  await store.replace(
    { ...record, spec: { ...record.spec, enabled: false }, revision: 3 },
    changed,
  );
  const wrong = await ask("aut_a/grant", { digest: "0".repeat(64) });
  assertEquals(wrong.status, 409);
  assertEquals((await ask("aut_a/grant", { digest: 7 })).status, 400);
  assertEquals((await ask("aut_a/grant", {})).json.error.param, "digest");
  const granted = await ask("aut_a/grant", { digest: finding.digest, by: "nobody" });
  assertEquals(granted.status, 200);
  const { capability, target } = granted.json.grants[0];
  assertEquals([granted.json.grants.length, { capability, target }], [1, finding.grants[0]]);

  const automation = { id: "aut_a", digest: finding.automation_digest };
  const run = await gate.act("read_file", { path: "notes.md" }, {
    context: { sessionKey: "automation:aut_a", attended: false, automation },
  });
  assertEquals(run, { status: "ok", output: "the content" });
});

Deno.test("the routes refuse a caller without operate, an automation that is not there, and while automations are off", async () => {
  await using at = await setUp();
  const { ask, reader, state } = at;
  for (const path of ["commission", "finding", "grant"]) {
    const body = path === "grant" ? { digest: "0".repeat(64) } : undefined;
    assertEquals((await ask(`aut_a/${path}`, body, { token: reader })).status, 403);
    assertEquals((await ask(`aut_a/${path}`, body, { token: "none" })).status, 401);
    assertEquals((await ask(`aut_b/${path}`, body)).status, 404);
    state.off = "set automations.enabled to true";
    assertEquals((await ask(`aut_a/${path}`, body)).status, 503);
    state.off = undefined;
  }
  assertEquals(at.agent.journal.session("automation:aut_a.rehearsal"), undefined);
});

Deno.test("the routes refuse a second rehearsal at once, and end one whose caller leaves", async () => {
  const model = scriptedModel([hangs(), says("done")]);
  await using at = await setUp(model);
  const { ask, agent } = at;
  const controller = new AbortController();
  const first = ask("aut_a/commission", undefined, { signal: controller.signal });
  await model.asked(1);
  const second = await ask("aut_a/commission");
  assertEquals([second.status, second.json.error.code], [409, "conflict"]);
  controller.abort();
  await first;
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
  assertEquals((await ask("aut_a/finding")).status, 404);
  // Its place is free.
  assertEquals((await ask("aut_a/commission")).status, 200);
});

Deno.test("a rehearsal that fails is kept and grants nothing", async () => {
  const model = scriptedModel([READ]);
  await using at = await setUp(model);
  const { ask, gate, store, record } = at;
  const tight = { ...record, spec: { ...record.spec, maxSteps: 1 }, revision: 2 };
  await store.replace(tight, record);
  const failed = await ask("aut_a/commission");
  assertEquals([failed.status, failed.json.finding.outcome], [200, "failed"]);
  assertStringIncludes(failed.json.error, "model calls");
  const { digest } = failed.json.finding;
  assertEquals((await ask("aut_a/grant", { digest })).status, 409);
  assertEquals(gate.state.grants.list(), []);
});

Deno.test("G20 a rehearsal whose automation changes meanwhile leaves no finding", async () => {
  const began = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const model = scriptedModel([async function* (request) {
    began.resolve();
    await goOn.promise;
    yield* says("done")(request);
  }]);
  await using at = await setUp(model);
  const { ask, store, record } = at;
  const running = ask("aut_a/commission");
  await began.promise;
  await store.replace(
    { ...record, spec: { ...record.spec, message: `${MESSAGE} Now.` }, revision: 2 },
    record,
  );
  goOn.resolve();
  const { status, json } = await running;
  assertEquals([status, json.error.code], [409, "conflict"]);
  assertEquals((await ask("aut_a/finding")).status, 404);
});

Deno.test("G14 operations of the local socket take an operator's token", async () => {
  await using at = await setUp(scriptedModel([READ, says("Would.")]));
  const { commission, operator, reader } = at;
  const { signal } = new AbortController();
  const run = (token: string, request: { op: string; [field: string]: string }) =>
    runGatewayOperation(
      { ...request, id: "aut_a" } as { op: string },
      someParts({ automations: { off: () => undefined } as never, commission }),
      { credential: { kind: "token", token }, sees: {}, signal },
    );
  const codeOf = (answer: Promise<unknown>) =>
    answer.then(() => undefined, (error: { code: string }) => error.code);
  for (const token of [reader, "", "sat_x"]) {
    const code = token === reader ? "insufficient_scope" : "invalid_token";
    assertEquals(await codeOf(run(token, { op: "automations.commission" })), code);
    assertEquals(await codeOf(run(token, { op: "automations.finding" })), code);
    const digest = "0".repeat(64);
    assertEquals(await codeOf(run(token, { op: "automations.grant", digest })), code);
  }
  const report = await run(operator, { op: "automations.commission" });
  const { digest, grants } = (report as { finding: Finding }).finding;
  const granted = await run(operator, { op: "automations.grant", digest });
  assertEquals((granted as { grants: unknown[] }).grants.length, grants.length);
});

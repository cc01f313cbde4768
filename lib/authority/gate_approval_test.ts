import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { ServiceError } from "../base/errors.ts";
import type { ActionResult, ApprovalEvent, ApprovalView } from "../contract/actions.ts";
import { type ActOptions, type GateFixture, gateFixture } from "./testing/gate_fixture.ts";

/** A gate with an approver, and a file outside of its workspace. */
async function setUp(options: Parameters<typeof gateFixture>[0] = {}) {
  const clock = fakeClock(Date.now());
  const gate = await gateFixture({ clock, ...options });
  const { token } = await gate.state.tokens.issue({ name: "ann", scopes: ["approve"] });
  const outside = `${gate.root}/outside.txt`;
  await Deno.writeTextFile(outside, "outside");
  const operate = (request: Parameters<GateFixture["operator"]["operate"]>[0]) =>
    gate.operator.operate(request, { kind: "token", token });
  return {
    gate,
    clock,
    outside,
    operate,
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}

/** Acts, and resolves once it waits for a person. */
async function wait(
  gate: GateFixture,
  tool: string,
  args: unknown,
  more: Partial<ActOptions> = {},
): Promise<{ view: ApprovalView; events: ApprovalEvent[]; result: Promise<ActionResult> }> {
  const events: ApprovalEvent[] = [];
  const waits = Promise.withResolvers<ApprovalView>();
  const result = gate.act(tool, args, {
    ...more,
    onApproval(event) {
      events.push(event);
      if (event.type === "requested") waits.resolve(event.approval);
    },
  });
  result.then(
    (early) => waits.reject(new Error(`it did not wait: ${early.output}`)),
    (error) => waits.reject(error),
  );
  return { view: await waits.promise, events, result };
}

Deno.test("act() waits for a person, runs exactly what was approved, and says so on record", async () => {
  await using set = await setUp();
  const { gate, outside, operate } = set;
  const { view, events, result } = await wait(gate, "read_file", { path: outside });
  assertEquals([view.capability, view.target, view.session], ["fs.read", outside, "cli:test"]);
  assertEquals(gate.approvals.list(), [view]);
  await operate({ op: "approvals.approve", id: view.id, digest: view.digest });
  assertStringIncludes((await result).output, "outside");
  assertEquals(events.map(({ type }) => type), ["requested", "resolved"]);
  const records = await gate.records();
  const own = records.filter(({ kind }) => !/^(token|log)\./.test(kind));
  assertEquals(own.map(({ kind }) => kind), [
    "approval.requested",
    "approval.answered",
    "action.start",
    "action.end",
  ]);
  assertEquals((own[2]!.data.decision as { rule: string }).rule, `approval:${view.id}`);
  assertEquals(own[1]!.data.outcome, "approved");
  assert(String(own[1]!.data.by).startsWith("token:tok_"));
});

Deno.test("G5 act() goes on waiting after another digest, and after the first digits alone from a token", async () => {
  await using set = await setUp();
  const { gate, outside, operate } = set;
  const { view, result } = await wait(gate, "read_file", { path: outside });
  for (const digest of ["0".repeat(64), view.digest.slice(0, 8), "", `${view.digest}0`]) {
    const error = await assertRejects(
      () => operate({ op: "approvals.approve", id: view.id, digest }),
      ServiceError,
    );
    assertEquals(error.code, "approval_mismatch");
  }
  assertEquals(gate.approvals.size, 1);
  await operate({ op: "approvals.approve", id: view.id, digest: view.digest });
  assertEquals((await result).status, "ok");
  const refused = (await gate.records()).filter(({ kind }) => kind === "approval.refused");
  assertEquals(refused.map(({ data }) => data.why), Array(4).fill("another digest"));
});

Deno.test("G6 act() is approved by a listed sender alone, and never by whoever asked where that is set", async () => {
  await using set = await setUp({
    approvers: ["telegram:12345", "telegram:777"],
    verifiesSenders: (channel) => channel === "telegram",
    independentApprover: true,
  });
  const { gate, outside } = set;
  const context = { channel: "telegram", actor: "telegram:12345" };
  const { view, result } = await wait(gate, "read_file", { path: outside }, { context });
  const digest = view.digest.slice(0, 8);
  for (
    const sender of [
      "telegram:12345",
      "telegram:1234",
      "telegram:12345 ",
      "Telegram:12345",
      "telegram:１２３４５",
      "irc:777",
      "12345",
    ]
  ) {
    const error = await assertRejects(
      () =>
        gate.operator.operate(
          { op: "approvals.approve", id: view.id, digest },
          { kind: "sender", sender },
        ),
      ServiceError,
    );
    assertEquals(error.code, "insufficient_scope", sender);
  }
  assertEquals(gate.approvals.size, 1);
  const refused = (await gate.records()).filter(({ kind }) => kind === "approval.refused");
  assertEquals(refused.length, 7);
  await gate.operator.operate(
    { op: "approvals.approve", id: view.id, digest },
    { kind: "sender", sender: "telegram:777" },
  );
  assertEquals((await result).status, "ok");
});

Deno.test("G7 act() refuses when nobody answers in time; a late answer says so, and nothing is latched", async () => {
  await using set = await setUp();
  const { gate, clock, outside, operate } = set;
  const { view, result } = await wait(gate, "write_file", { path: outside, content: "x" });
  clock.tick(119_999);
  assertEquals(gate.approvals.size, 1);
  clock.tick(1);
  const { status, output, ...rest } = await result;
  assertEquals(status, "refused");
  assertStringIncludes(output, "nobody approved it in time");
  assertEquals("error" in rest && rest.error.code, "approval_expired");
  const late = await assertRejects(
    () => operate({ op: "approvals.approve", id: view.id, digest: view.digest }),
    ServiceError,
  );
  assertEquals(late.code, "approval_expired");
  assertEquals(await Deno.readTextFile(outside), "outside");
  assertEquals(gate.state.latches.list(), []);
  assertEquals(clock.timers(), 0);
});

Deno.test("G8 act() is void once its requester has left, and when its turn is cancelled", async () => {
  await using set = await setUp();
  const { gate, outside, operate } = set;
  const args = { path: outside, content: "x" };
  const left = new AbortController();
  const gone = await wait(gate, "write_file", args, { left: left.signal });
  left.abort();
  const result = await gone.result;
  assertEquals("error" in result && result.error.code, "approval_void");

  const cancelled = new AbortController();
  const cut = await wait(gate, "write_file", args, { signal: cancelled.signal });
  cancelled.abort(new Error("cancelled"));
  await assertRejects(() => cut.result, Error, "cancelled");
  for (const { view, events } of [gone, cut]) {
    assertEquals(events.at(-1), { type: "resolved", approvalId: view.id, outcome: "void" });
    const late = await assertRejects(
      () => operate({ op: "approvals.approve", id: view.id, digest: view.digest }),
      ServiceError,
    );
    assertEquals(late.code, "approval_void");
  }
  assertEquals(await Deno.readTextFile(outside), "outside");
});

Deno.test("G9 act() tells a denial's reason, and refuses that capability in that session unasked from then on", async () => {
  await using set = await setUp();
  const { gate, outside, operate } = set;
  const args = { path: outside, content: "x" };
  const first = await wait(gate, "write_file", args);
  const beside = await wait(gate, "write_file", { ...args, content: "y" });
  const reason = "use the\u202e workspace";
  await operate({ op: "approvals.deny", id: first.view.id, reason });
  assertStringIncludes((await first.result).output, "and said: use the\\u{202e} workspace");
  // What waited beside it is denied with it.
  assertStringIncludes((await beside.result).output, "and said: use the");
  const late = await assertRejects(
    () => operate({ op: "approvals.approve", id: beside.view.id, digest: beside.view.digest }),
    ServiceError,
  );
  assertEquals(late.code, "approval_answered");
  assertStringIncludes((await gate.act("write_file", args)).output, "rule latched");
  assertEquals((await gate.act("write_file", { path: "in.txt", content: "x" })).status, "ok");
  const others = [
    await wait(gate, "read_file", { path: outside }),
    await wait(gate, "write_file", args, { context: { sessionKey: "cli:two" } }),
  ];
  for (const { view, result } of others) {
    await operate({ op: "approvals.deny", id: view.id, reason: "" });
    assertStringIncludes((await result).output, "a person denied it)");
  }
  assertEquals(await Deno.readTextFile(outside), "outside");
});

Deno.test("act() refuses what has become another action while it waited", async () => {
  await using set = await setUp();
  const { gate, outside, operate } = set;
  const { view, result } = await wait(gate, "read_file", { path: outside });
  await Deno.writeTextFile(`${gate.root}/other.txt`, "another file");
  await Deno.rename(`${gate.root}/other.txt`, outside);
  await operate({ op: "approvals.approve", id: view.id, digest: view.digest });
  const { status, output, ...rest } = await result;
  assertEquals([status, "error" in rest && rest.error.code], ["refused", "approval_mismatch"]);
  assertStringIncludes(output, "something else");
});

Deno.test("act() lets 8 actions of a session wait and refuses the ninth, others not concerned", async () => {
  await using set = await setUp();
  const { gate, outside } = set;
  const left = new AbortController();
  const waiting = [];
  for (let count = 0; count < 8; count++) {
    waiting.push(
      await wait(gate, "write_file", { path: outside, content: `${count}` }, { left: left.signal }),
    );
  }
  const ninth = await gate.act("write_file", { path: outside, content: "9" });
  assertStringIncludes(ninth.output, "8 actions of this session wait");
  const context = { sessionKey: "cli:two" };
  const args = { path: outside, content: "x" };
  waiting.push(await wait(gate, "write_file", args, { context, left: left.signal }));
  left.abort();
  for (const { result } of waiting) assertEquals((await result).status, "refused");
  const next = await wait(gate, "write_file", args);
  await gate.approvals.close();
  assertEquals("error" in await next.result, true);
});

Deno.test("act() is answered by the terminal that opened the turn, and by no other", async () => {
  await using gate = await gateFixture();
  const outside = `${gate.root}/outside.txt`;
  await Deno.writeTextFile(outside, "outside");
  const refused = await gate.act("read_file", { path: outside });
  assertStringIncludes(refused.output, "nobody could be asked");
  const terminal = gate.operator.attachTerminal(() => "cli:test");
  const { view, result } = await wait(gate, "read_file", { path: outside });
  const approve = { op: "approvals.approve", id: view.id, digest: view.digest } as const;
  const other = await assertRejects(() => terminal.operate(approve, "turn-2"), ServiceError);
  assertEquals(other.code, "insufficient_scope");
  // G14: the service cannot speak for a terminal.
  const crossed = await assertRejects(
    () => gate.operator.operate(approve, { kind: "terminal", turnId: "turn-1" }),
    ServiceError,
  );
  assertEquals(crossed.code, "invalid_token");
  await terminal.operate(approve, "turn-1");
  assertEquals((await result).status, "ok");
  const elsewhere = { context: { sessionKey: "cli:other" } };
  assertStringIncludes(
    (await gate.act("read_file", { path: outside }, elsewhere)).output,
    "nobody could be asked",
  );
  terminal.detach();
  assertStringIncludes((await gate.act("read_file", { path: outside })).output, "nobody could be");
});

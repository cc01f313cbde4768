import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { McpCallOutcome, McpServers, OfferedTool } from "../mcp_servers/mcp_servers.ts";
import { actionRecords, answer, ask, withApprover } from "../authority/testing/ask_gate.ts";
import { gateFixture, type GateFixtureOptions } from "../authority/testing/gate_fixture.ts";

const DEFINITION = "0123456789abcdef".repeat(4);
const CHANGED = "fedcba9876543210".repeat(4);
const ALONE = { context: { attended: false } };

type Call = Parameters<McpServers["call"]>;

/** Servers in memory that offer `files/read` and `files/delete`. */
function memoryServers(
  answerCall: (...call: Call) => Promise<McpCallOutcome> = () =>
    Promise.resolve({ type: "ok", output: "read" }),
) {
  const calls: { target: Call[0]; args: Call[1] }[] = [];
  const offered = new Map(
    ["read", "delete"].map((tool): [string, OfferedTool] => {
      const name = `mcp__files__${tool}`;
      const definition = DEFINITION;
      const about = { description: "", parameters: {}, readOnly: tool === "read" };
      return [name, { name, server: "files", tool, definition, ...about }];
    }),
  );
  const servers: Pick<McpServers, "find" | "call"> = {
    find: (name) => offered.get(name),
    call(target, args, options) {
      calls.push({ target, args });
      return answerCall(target, args, options);
    },
  };
  return { offered, calls, servers };
}

async function setUp(
  servers: Pick<McpServers, "find" | "call">,
  more: GateFixtureOptions = {},
) {
  return await withApprover(
    await gateFixture({
      offered: servers,
      mcpServers: { files: { command: ["true"], allow: ["read"] } },
      ...more,
    }),
  );
}

Deno.test("act() calls a tool that its server's configuration allows, on record before and after", async () => {
  const { servers, calls } = memoryServers((_, __, { onProgress }) => {
    onProgress("half");
    return Promise.resolve({ type: "ok", output: "the text" });
  });
  await using gate = await setUp(servers);
  const progress: string[] = [];
  const result = await gate.act("mcp__files__read", { path: "/a", nested: { deep: [1] } }, {
    onProgress: (text) => progress.push(text),
  });
  assertEquals(result, { status: "ok", output: "the text" });
  assertEquals(progress, ["half"]);
  const target = { kind: "mcp", server: "files", tool: "read", definition: DEFINITION } as const;
  assertEquals(calls, [{ target, args: { path: "/a", nested: { deep: [1] } } }]);
  const records = await actionRecords(gate);
  assertEquals(records.map(({ kind, capability, target }) => [kind, capability, target]), [
    ["action.start", "mcp.call", target],
    ["action.end", undefined, undefined],
  ]);
  assertEquals(records[0]!.decision, { effect: "allow", rule: "mcp.listed" });
  // What a model sends stands there as a keyed digest.
  assertEquals(JSON.stringify(records).includes("/a"), false);
});

Deno.test("act() shows a person server, tool and arguments, and calls for a yes exactly that", async () => {
  const { servers, calls } = memoryServers();
  await using gate = await setUp(servers);
  const { result, next } = ask(gate, "mcp__files__delete", { path: "/home", force: true });
  const view = await next(1);
  assertEquals([view.capability, view.tool, view.target], [
    "mcp.call",
    "mcp__files__delete",
    "files/delete",
  ]);
  for (
    const part of ["server: files", "tool of the server: delete", "path: /home", "force: true"]
  ) {
    assertStringIncludes(view.details, part);
  }
  assertEquals(calls, []);
  await answer(gate, view);
  assertEquals((await result).status, "ok");
  assertEquals(calls.map(({ args }) => args), [{ path: "/home", force: true }]);
});

Deno.test("act() refuses a tool that is described otherwise, or gone, after it waited for a person", async () => {
  const { servers, calls, offered } = memoryServers();
  await using gate = await setUp(servers);
  const name = "mcp__files__delete";
  const before = offered.get(name)!;
  for (const now of [{ ...before, definition: CHANGED }, { ...before, tool: "other" }, undefined]) {
    offered.set(name, before);
    const { result, next } = ask(gate, name, { path: "/a" });
    const view = await next(1);
    if (now === undefined) offered.delete(name);
    else offered.set(name, now);
    await answer(gate, view);
    const refused = await result;
    assert(refused.status === "refused");
    assertEquals(refused.error.code, "approval_mismatch");
    assertStringIncludes(refused.output, "found to be about something else, and nothing ran");
  }
  assertEquals(calls, []);
  const records = await actionRecords(gate);
  assertEquals(records.map(({ kind, decision }) => [kind, (decision as { rule: string }).rule]), [
    ["action.refused", "approval.changed"],
    ["action.refused", "approval.changed"],
    ["action.refused", "approval.changed"],
  ]);
});

Deno.test("G1 act() calls a tool in an unattended turn by a grant for exactly its definition", async () => {
  const { servers, calls, offered } = memoryServers();
  await using gate = await setUp(servers);
  const name = "mcp__files__read";
  const refused = await gate.act(name, {}, ALONE);
  assert(refused.status === "refused");
  const target = `files/read#${DEFINITION}`;
  const shown = `service grants add cli:test mcp.call '${target}'`;
  assertStringIncludes(refused.output, shown);
  await gate.state.grants.add({ subject: "cli:test", capability: "mcp.call", target, note: "" });
  assertEquals((await gate.act(name, { any: "thing" }, ALONE)).status, "ok");
  offered.set(name, { ...offered.get(name)!, definition: CHANGED });
  assertEquals((await gate.act(name, {}, ALONE)).status, "refused");
  assertEquals((await gate.act("mcp__files__delete", {}, ALONE)).status, "refused");
  assertEquals(calls.length, 1);
});

Deno.test("act() tells how a call came out, cut to what a turn takes", async () => {
  const outcomes: McpCallOutcome[] = [
    { type: "ok", output: "x".repeat(5_000) },
    { type: "failed", output: "no such file" },
    { type: "fault", message: "the server died" },
  ];
  const { servers } = memoryServers(() => Promise.resolve(outcomes.shift()!));
  await using gate = await setUp(servers, { maxOutputBytes: 1_000 });
  const long = await gate.act("mcp__files__read", {});
  assertEquals([long.status, long.output.length <= 1_000], ["ok", true]);
  const failed = await gate.act("mcp__files__read", {});
  assert(failed.status === "failed");
  assertEquals([failed.output, failed.error.code], ["no such file", "tool_failed"]);
  const fault = await gate.act("mcp__files__read", {});
  assert(fault.status === "failed");
  assertEquals([fault.output, fault.error.code], [
    "files/read did not finish: the server died",
    "executor_fault",
  ]);
});

Deno.test("act() shows no half of a secret where it cuts what a server says", async () => {
  const value = "sk-live-0123456789abcdefghijklmnop";
  const { servers } = memoryServers((_, { before }) =>
    Promise.resolve({
      type: "ok",
      output: "x".repeat(before as number) + value + "y".repeat(2_000),
    })
  );
  await using gate = await setUp(servers, { maxOutputBytes: 1_000 });
  await gate.state.secrets.set({ name: "KEY", value, hosts: [], commands: [] });
  for (let before = 560; before < 680; before += 5) {
    const { output } = await gate.act("mcp__files__read", { before });
    for (const part of [value.slice(0, 12), value.slice(-12)]) {
      assertEquals([before, output.includes(part)], [before, false]);
    }
  }
});

Deno.test("act() ends a call with the turn, on record", async () => {
  const called = Promise.withResolvers<void>();
  const { servers } = memoryServers((_, __, { signal }) => {
    called.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  });
  await using gate = await setUp(servers);
  const turn = new AbortController();
  const acting = gate.act("mcp__files__read", {}, { signal: turn.signal });
  await called.promise;
  turn.abort(new ServiceError("turn_cancelled", "Cancelled"));
  await assertRejects(() => acting, ServiceError, "Cancelled");
  const ends = (await actionRecords(gate)).filter(({ kind }) => kind === "action.end");
  assertEquals(ends.map(({ status, code }) => [status, code]), [["cut_off", "turn_cancelled"]]);
});

Deno.test("act() knows no tool that no server offers, and takes no arguments that are no object", async () => {
  const { servers, calls } = memoryServers();
  await using gate = await setUp(servers);
  const unknown = await gate.act("mcp__files__format", {});
  assertStringIncludes(unknown.output, 'Unknown tool "mcp__files__format"');
  for (const args of [null, [], "x", 5, { text: "x".repeat(1_000_001) }]) {
    assertEquals((await gate.act("mcp__files__read", args)).status, "failed");
  }
  assertEquals([calls, await actionRecords(gate)], [[], []]);
});

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fakeClock } from "../../lib/agent/testing/fake_clock.ts";
import type { ApprovalView } from "../../lib/contract/actions.ts";
import { oddServer } from "../../lib/mcp_servers/testing/server_configs.ts";
import { type GateFixture, gateFixture } from "../../lib/authority/testing/gate_fixture.ts";
import { needs } from "../support/needs.ts";

function hostile(name: string, fn: () => Promise<void>): void {
  Deno.test({ ...needs(name, "bubblewrap"), fn });
}

/** Looks until something is so; a test that hangs is ended by its own time-out. */
async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A gate with one server that misbehaves as it is told. */
async function withOdd(more: Record<string, unknown> = {}, how = "") {
  const clock = fakeClock();
  const gate = await gateFixture({
    mcpClock: clock,
    maxOutputBytes: 2_000,
    mcpServers: { odd: oddServer(how, { allow: ["*"], ...more }) },
  });
  await gate.mcp.tools();
  return { gate, clock, [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose]() };
}

const status = (gate: GateFixture) => gate.mcp.status()[0]!;

hostile(
  "a server that dies in a call makes a fault that says why, and is started anew after a while",
  async () => {
    await using odd = await withOdd();
    const { gate, clock } = odd;
    const died = await gate.act("mcp__odd__die", {});
    assertEquals([died.status, died.status !== "ok" && died.error.code], [
      "failed",
      "executor_fault",
    ]);
    assertStringIncludes(died.output, "it ended with code 7");
    assertStringIncludes(died.output, "the reason of its death");
    await until(() => status(gate).state === "failed" || undefined);
    assertStringIncludes(status(gate).detail, "next try in 1 s");

    // Nobody waits for it meanwhile, and its tools are still known.
    assert((await gate.mcp.tools()).length > 0);
    const early = await gate.act("mcp__odd__echo", { text: "early" });
    assertStringIncludes(early.output, "next try in 1 s");
    clock.tick(1_000);
    assertEquals((await gate.act("mcp__odd__echo", { text: "again" })).output, "again");
    assertEquals(status(gate).restarts, 1);
    const ends = await until(async () => {
      const records = (await gate.records()).filter(({ kind }) => kind === "mcp.end");
      return records.length > 0 ? records : undefined;
    });
    assertMatch(String(ends[0]!.data.reason), /code 7/);
  },
);

hostile(
  "a server that hangs in a call is told that nobody waits, and goes on with others",
  async () => {
    await using odd = await withOdd({ timeoutS: 1 });
    const { gate } = odd;
    const hanging = gate.act("mcp__odd__hang", {});
    assertEquals((await gate.act("mcp__odd__echo", { text: "beside" })).output, "beside");
    assertStringIncludes((await hanging).output, "did not answer within 1 s");
    const seen = JSON.parse((await gate.act("mcp__odd__echo", {})).output);
    assertEquals(seen.cancelled.length, 1);
    assertEquals([status(gate).state, status(gate).restarts], ["connected", 0]);
  },
);

hostile("a turn that ends in a call cancels it with the server, which lives on", async () => {
  await using odd = await withOdd();
  const { gate } = odd;
  const controller = new AbortController();
  const reason = new Error("the turn ended");
  const hanging = gate.act("mcp__odd__hang", {}, { signal: controller.signal });
  // Calls go to the server in order: the first has arrived when the second is answered.
  await gate.act("mcp__odd__echo", {});
  controller.abort(reason);
  assertEquals(await hanging.catch((error) => error), reason);
  const seen = await until(async () => {
    const { cancelled } = JSON.parse((await gate.act("mcp__odd__echo", {})).output);
    return cancelled.length > 0 ? cancelled : undefined;
  });
  assertEquals(seen.length, 1);
  assertEquals(status(gate).restarts, 0);
});

hostile("a server that hangs as a whole is ended, and what it started with it", async () => {
  await using odd = await withOdd({ timeoutS: 1 });
  const { gate, clock } = odd;
  const frozen = await gate.act("mcp__odd__freeze", {});
  assertStringIncludes(frozen.output, "did not answer within 1 s");
  await until(() => status(gate).state === "failed" || undefined);
  clock.tick(1_000);
  assertEquals((await gate.act("mcp__odd__echo", { text: "new" })).output, "new");
});

for (
  const [tool, said] of [
    ["garbage", /floods its output with what is no message, such as "this is no message"/],
    ["line", /a line has more than 10485760 bytes/],
    ["notify", /it floods: more than 5000 messages/],
  ] as const
) {
  hostile(`a server that floods (${tool}) is ended, and the call says so`, async () => {
    await using odd = await withOdd();
    const { gate, clock } = odd;
    const before = Deno.memoryUsage().rss;
    const flooded = await gate.act(`mcp__odd__${tool}`, {});
    assertEquals(flooded.status, "failed");
    assertMatch(flooded.output, said);
    assert(Deno.memoryUsage().rss - before < 100 * 1024 * 1024);
    await until(() => status(gate).state === "failed" || undefined);
    clock.tick(1_000);
    assertEquals((await gate.act("mcp__odd__echo", { text: "new" })).output, "new");
  });
}

hostile("an answer that is no result ends its call at once, and the server goes on", async () => {
  await using odd = await withOdd();
  const { gate } = odd;
  const { status: came, output } = await gate.act("mcp__odd__misshapen", {});
  assertEquals(came, "failed");
  assertStringIncludes(output, "its answer is none of JSON-RPC");
  assertEquals((await gate.act("mcp__odd__echo", { text: "on" })).output, "on");
  assertEquals(status(gate).restarts, 0);
});

hostile("a result that is too large is cut, and says so", async () => {
  await using odd = await withOdd();
  const { output, status } = await odd.gate.act("mcp__odd__huge", {});
  assertEquals(status, "ok");
  assert(new TextEncoder().encode(output).length <= 2_000);
  assert(output.startsWith("begin ä") && output.endsWith(" end"));
  assertMatch(output, /\[… \d+ of \d+ bytes cut …\]/);
});

hostile("a server that cannot start holds nobody up, and its last words are told", async () => {
  await using odd = await withOdd({}, "dead");
  const { gate } = odd;
  assertEquals(await gate.mcp.tools(), []);
  assertStringIncludes(
    status(gate).detail,
    "it ended with code 3; it said: cannot start: no such thing",
  );
  assertEquals((await gate.mcp.test("odd")).state, "failed");
});

hostile("a program that is not there, or not given, is named with its key", async () => {
  const elsewhere = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.copyFile("/bin/cat", `${elsewhere}/program`);
    await using gate = await gateFixture({
      mcpServers: {
        none: { command: ["no-such-program-at-all"] },
        far: { command: [`${elsewhere}/program`] },
        gone: { command: ["true"], read: ["/no/such/folder"] },
        cwd: { command: ["true"], cwd: "missing" },
      },
    });
    await gate.mcp.tools();
    const details = Object.fromEntries(
      gate.mcp.status().map(({ server, detail }) => [server, detail]),
    );
    assertStringIncludes(details.none!, 'command: no program "no-such-program-at-all"');
    assertStringIncludes(details.far!, `command: "${elsewhere}/program" is neither the system's`);
    assertStringIncludes(details.gone!, '"/no/such/folder"');
    assertStringIncludes(details.cwd!, "cwd:");
  } finally {
    await Deno.remove(elsewhere, { recursive: true });
  }
});

hostile("a server that greets on its output is understood", async () => {
  await using odd = await withOdd({}, "chatty");
  assertEquals((await odd.gate.act("mcp__odd__echo", { text: "hi" })).output, "hi");
});

hostile(
  "a server that changes its tools: the next turn has the new list, and the record has the change",
  async () => {
    await using odd = await withOdd({ allow: ["*"] });
    const { gate, clock } = odd;
    const plain = { type: "object", properties: {} };
    const to = [
      { name: "echo", description: "Something else now", inputSchema: plain },
      { name: "change", description: "Changes the list", inputSchema: plain },
      { name: "fresh", inputSchema: plain },
    ];
    const echo = gate.mcp.find("mcp__odd__echo")!;
    await gate.act("mcp__odd__change", { to });
    await until(() => gate.mcp.find("mcp__odd__fresh"));
    assertEquals((await gate.mcp.tools()).map(({ tool }) => tool), ["echo", "change", "fresh"]);
    assertEquals(gate.mcp.find("mcp__odd__die"), undefined);
    const [record] = (await gate.records()).filter(({ kind }) => kind === "mcp.tools_changed");
    assertEquals([record!.data.added, record!.data.changed], [["fresh"], ["echo"]]);
    assert((record!.data.removed as string[]).includes("die"));

    // What was decided about the tool as it was described before is not run.
    const options = { signal: new AbortController().signal, onProgress: () => {} };
    const old = await gate.mcp.call(echo, { text: "x" }, options);
    assert(old.type === "fault" && old.message.includes("describes this tool otherwise"));
    // By name it is still allowed.
    assertEquals((await gate.act("mcp__odd__echo", { text: "y" })).output, "y");
    clock.tick(1_000);
  },
);

hostile(
  "G5 a tool that is described otherwise while an approval waits is not run by that approval",
  async () => {
    await using odd = await withOdd({ allow: ["change"] });
    const { gate } = odd;
    const { token } = await gate.state.tokens.issue({ name: "ann", scopes: ["approve"] });
    const waits = Promise.withResolvers<ApprovalView>();
    const result = gate.act("mcp__odd__echo", { text: "x" }, {
      onApproval: (event) => event.type === "requested" && waits.resolve(event.approval),
    });
    const { id, digest, target } = await waits.promise;
    assertStringIncludes(target, "echo");
    const before = gate.mcp.find("mcp__odd__echo")!.definition;
    await gate.act("mcp__odd__change", {
      to: [{ name: "echo", description: "sends it to the world", inputSchema: { type: "object" } }],
    });
    await until(() => gate.mcp.find("mcp__odd__echo")!.definition !== before || undefined);
    await gate.operator.operate({ op: "approvals.approve", id, digest }, { kind: "token", token });
    const { status, output } = await result;
    assertEquals(status, "refused", output);
  },
);

hostile(
  "what a server says of its tools is shown as it is, and tools that break a rule are left out",
  async () => {
    await using odd = await withOdd({}, "evil");
    const { gate } = odd;
    const tools = await gate.mcp.tools();
    assertEquals(tools.map(({ tool }) => tool), ["weather", "twice"]);
    assertStringIncludes(tools[0]!.description, "\\u{202e}\\u{e0041} Before use");
    const { detail } = status(gate);
    assertStringIncludes(detail, 'tool "odd": its inputSchema is not of the type "object"');
    assertStringIncludes(detail, 'tool "a/b": its name');
    assertStringIncludes(detail, 'tool "twice": it is there twice');
  },
);

hostile("a server may have 128 tools", async () => {
  await using odd = await withOdd({}, "many");
  assertEquals((await odd.gate.mcp.tools()).length, 128);
});

hostile(
  "a server in the sandbox reaches neither the service's own files nor the network",
  async () => {
    await using odd = await withOdd();
    const { gate } = odd;
    const home = await gate.act("mcp__odd__look", { path: gate.home });
    assert(home.status === "failed" || !home.output.includes("keys"), home.output);
    const system = await gate.act("mcp__odd__look", { path: "/sys/class/net" });
    assertEquals(system.status, "failed");
  },
);

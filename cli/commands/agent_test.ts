import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Operator, Terminal } from "../../lib/operations/operator.ts";
import type { OperationRequest, OperationResult } from "../../lib/operations/operations.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import { answering, FakeClient, type Script, stored, turnEnd } from "../testing/fake_client.ts";
import { FakeSignals } from "../testing/fake_signals.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { type AgentDeps, runAgent } from "./agent.ts";

/** Runs the command with these options; `piped` is standard input, a terminal when undefined. */
function setUp(
  options: Invocation["options"],
  { piped, json = false, turn = () => answering("Answer"), script, env, operator }: {
    piped?: string;
    json?: boolean;
    turn?: Script["turn"];
    script?: Script;
    env?: Record<string, string>;
    operator?: Pick<Operator, "attachTerminal">;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient({ ...script, turn });
  const order: string[] = [];
  const signals = new FakeSignals();
  const deps: AgentDeps = {
    sources: () => ({
      stdinIsTerminal: piped === undefined,
      readStdin: () => {
        order.push("stdin");
        return Promise.resolve(piped ?? "");
      },
      attach: (path) => {
        order.push(path);
        return Promise.resolve({ type: "file", name: path, data: "YQ==" });
      },
    }),
    signals,
    env: (name) => env?.[name],
    withService: (_, use) => {
      order.push("service");
      return use(client, operator);
    },
  };
  const globals = { lastGood: false, json, verbose: false };
  const run = () => runAgent({ args: [], options, globals, out }, deps);
  return { run, stdout, stderr, client, order, signals };
}

Deno.test("runAgent() asks in the default session and prints the answer", async () => {
  const { run, stdout, client } = setUp({ message: "hi" });
  assertEquals(await run(), EXIT.done);
  assertEquals(stdout.text, "Answer\n");
  assertEquals(client.seen[0]!.params, {
    sessionKey: "cli:default",
    input: [{ type: "text", text: "hi" }],
    model: undefined,
  });
});

Deno.test("runAgent() reads its input to the end before it opens the service", async () => {
  const { run, order, client } = setUp(
    { message: "hi", file: ["a.txt"], session: "work:1", model: "fast" },
    { piped: "log\n" },
  );
  await run();
  assertEquals(order, ["stdin", "a.txt", "service"]);
  assertEquals(client.seen[0]!.params, {
    sessionKey: "cli:work:1",
    input: [
      { type: "text", text: "hi" },
      { type: "text", text: "log", provenance: "file", from: "standard input" },
      { type: "file", name: "a.txt", data: "YQ==" },
    ],
    model: "fast",
  });
});

Deno.test("runAgent() opens nothing for a line that is wrong", async () => {
  for (const options of [{ session: "a/b", message: "x" }, { session: "" }, { message: "" }]) {
    const { run, order } = setUp(options);
    const error = await assertRejects(run, ServiceError);
    assertEquals([error.code, order.includes("service")], ["usage", false]);
  }
  const noText = setUp({}, { piped: "" });
  assertEquals((await assertRejects(noText.run, ServiceError)).code, "usage");
  assertEquals(noText.order, ["stdin"]);
});

Deno.test("runAgent() needs a terminal for a chat, and no --json", async () => {
  await assertRejects(setUp({}).run, ServiceError, "terminal");
  await assertRejects(setUp({}, { json: true }).run, ServiceError, "--json needs a message");
});

Deno.test("runAgent() prints events with --json", async () => {
  const { run, stdout } = setUp({ message: "hi" }, { json: true });
  assertEquals(await run(), EXIT.done);
  const types = stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line).event.type);
  assertEquals(types, ["turn_start", "text_delta", "segment_end", "turn_end"]);
});

Deno.test("W6 runAgent() fails when the turn fails, and gives Ctrl-C back", async () => {
  const { run, signals } = setUp({ message: "hi" }, { turn: () => stored(turnEnd("failed")) });
  assertEquals((await assertRejects(run, ServiceError)).code, "turn_failed");
  assertEquals(signals.listeners, 0);
});

/** A turn with an action that waits until it is answered; what was asked of the authority. */
function waitingTurn() {
  const asked: unknown[] = [];
  const answered = Promise.withResolvers<void>();
  const approval = {
    id: "apr_abcdefghijklmnop",
    digest: "ab".repeat(32),
    capability: "net.fetch" as const,
    tool: "web_fetch",
    target: "https://example.com/",
    details: "url: https://example.com/",
    isWhole: true,
    session: "cli:default",
    channel: "cli",
    actor: "cli:local",
    createdAt: 0,
    expiresAt: 120_000,
  };
  const { createdAt: _, expiresAt: __, isWhole: ___, ...same } = approval;
  const shown = { ...same, created_at: 0, expires_at: 120 };
  const operate = (request: OperationRequest): Promise<OperationResult> => {
    asked.push(request);
    if (request.op === "approvals.get") return Promise.resolve(shown);
    answered.resolve();
    return Promise.resolve({ id: approval.id, outcome: "approved" });
  };
  async function* turn() {
    const callId = "c";
    const [first, second, ...rest] = stored(
      { type: "tool_call", callId, tool: "web_fetch", args: {}, hint: "fetch" },
      { type: "approval_requested", callId, tool: "web_fetch", approval },
      { type: "approval_resolved", callId, approvalId: approval.id, outcome: "approved" },
      { type: "tool_result", callId, tool: "web_fetch", status: "ok", output: "" },
      { type: "text_delta", streamId: "s", text: "Fetched" },
      { type: "segment_end", streamId: "s", resuming: false },
      turnEnd(),
    );
    yield first!;
    yield second!;
    await answered.promise;
    yield* rest;
  }
  return { turn, operate, asked, answered };
}

Deno.test("runAgent() approves what the turn asks for with --yes, as the terminal that opened it", async () => {
  const { turn, operate, asked } = waitingTurn();
  const sessions: string[] = [];
  const turns: string[] = [];
  let detached = 0;
  const operator: Pick<Operator, "attachTerminal"> = {
    attachTerminal(session) {
      sessions.push(session());
      return {
        operate: ((request: OperationRequest, turnId: string) => {
          turns.push(turnId);
          return operate(request);
        }) as Terminal["operate"],
        detach: () => void detached++,
      };
    },
  };
  const { run, stdout } = setUp({ message: "hi", yes: true }, { turn, operator });
  assertEquals(await run(), EXIT.done);
  assertEquals(asked, [
    { op: "approvals.get", id: "apr_abcdefghijklmnop" },
    {
      op: "approvals.approve",
      id: "apr_abcdefghijklmnop",
      digest: "ab".repeat(32),
    },
  ]);
  assertEquals(turns, ["turn", "turn"]);
  assertEquals([sessions, detached, stdout.text], [["cli:default"], 1, "Fetched\n"]);
});

Deno.test("runAgent() answers nothing without --yes and a terminal, and says where it can be done", async () => {
  const { turn, asked, answered } = waitingTurn();
  const operator: Pick<Operator, "attachTerminal"> = {
    attachTerminal: () => {
      throw new Error("nobody sits there");
    },
  };
  const { run, stderr } = setUp({ message: "hi" }, { turn, operator });
  const running = run();
  while (!stderr.text.includes("service approvals approve apr_abcdefghijklmnop")) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  answered.resolve();
  assertEquals([await running, asked], [EXIT.done, []]);
});

Deno.test("runAgent() as a guest approves with --yes and an approver's token alone", async () => {
  const { turn, operate, asked, answered } = waitingTurn();
  const tokens: string[] = [];
  const script = {
    operate({ token, request }: { token: string; request: OperationRequest }) {
      tokens.push(token);
      return operate(request);
    },
  };
  const env = { SERVICE_APPROVER_TOKEN: " sat_token\n" };
  assertEquals(await setUp({ message: "hi", yes: true }, { turn, script, env }).run(), EXIT.done);
  assertEquals([tokens, asked.length], [["sat_token", "sat_token"], 2]);

  const without = setUp({ message: "hi", yes: true }, { turn, script });
  answered.resolve();
  assertEquals(await without.run(), EXIT.done);
  assertStringIncludes(without.stderr.text, "service approvals approve apr_abcdefghijklmnop");
  assertEquals(asked.length, 2);
});

import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import type { Params } from "../../lib/local/protocol.ts";
import type { Operator, Terminal } from "../../lib/operations/operator.ts";
import type { OperationRequest, OperationResult } from "../../lib/operations/operations.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import {
  answering,
  FakeClient,
  operations,
  type Script,
  stored,
  turnEnd,
} from "../testing/fake_client.ts";
import { FakeSignals } from "../testing/fake_signals.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { type AgentDeps, runAgent } from "./agent.ts";

/** Runs the command with these options; `piped` is standard input, a terminal when undefined. */
function setUp(
  options: Invocation["options"],
  {
    piped,
    args = [],
    json = false,
    turn = () => answering("Answer"),
    script,
    env,
    operator,
    folder,
  }: {
    folder?: string;
    piped?: string;
    args?: string[];
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
    openFolder: () => Promise.resolve(folder),
    withService: (_, use) => {
      order.push("service");
      return use(client, operator);
    },
  };
  const globals = { lastGood: false, json, verbose: false };
  const run = () => runAgent({ args, options, globals, out }, deps);
  return { run, stdout, stderr, client, order, signals };
}

Deno.test("runAgent() asks in a session of its own and prints the answer", async () => {
  const { run, stdout, client } = setUp({ message: "hi" });
  assertEquals(await run(), EXIT.done);
  assertEquals(stdout.text, "Answer\n");
  const { sessionKey, ...asked } = client.seen[0]!.params as Params<"turn">;
  assertMatch(sessionKey, /^cli:[a-z2-9]{8}$/);
  assertEquals(asked, {
    input: [{ type: "text", text: "hi" }],
    model: undefined,
    asks: false,
    folder: undefined,
  });
  const again = setUp({}, { args: ["hi", "there"] });
  assertEquals(await again.run(), EXIT.done);
  const { sessionKey: other, input } = again.client.seen[0]!.params as Params<"turn">;
  assertNotEquals(other, sessionKey);
  // Words without quotes around them are one message.
  assertEquals(input, [{ type: "text", text: "hi there" }]);
});

Deno.test("runAgent() continues the newest session of the command line with --continue", async () => {
  const all = [{ key: "api:a" }, { key: "cli:work:1" }, { key: "cli:old", folder: "/code" }];
  const script = operations({
    "sessions.list": ({ before = all.length }: { before?: number }) => ({
      sessions: [all.at(-before)],
      ...before > 1 && { before: before - 1 },
    }),
  });
  const { run, client } = setUp({ continue: true }, { args: ["go on"], script });
  assertEquals(await run(), EXIT.done);
  const { sessionKey } = client.seen.at(-1)!.params as Params<"turn">;
  assertEquals(sessionKey, "cli:work:1");
  const inProject = setUp({ continue: true }, {
    args: ["go on"],
    script,
    folder: "/code",
  });
  assertEquals(await inProject.run(), EXIT.done);
  const turn = inProject.client.seen.at(-1)!.params as Params<"turn">;
  assertEquals([turn.sessionKey, turn.folder], ["cli:old", "/code"]);

  const none = setUp({ continue: true, message: "x" }, {
    script: operations({ "sessions.list": () => ({ sessions: [] }) }),
  });
  assertEquals((await assertRejects(none.run, ServiceError)).code, "not_found");
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
    asks: false,
    folder: undefined,
  });
});

Deno.test("runAgent() opens nothing for a line that is wrong", async () => {
  const both = { session: "a", continue: true, message: "x" };
  for (
    const options of [{ session: "a/b", message: "x" }, { session: "" }, { message: "" }, both]
  ) {
    const { run, order } = setUp(options);
    const error = await assertRejects(run, ServiceError);
    assertEquals([error.code, order.includes("service")], ["usage", false]);
  }
  await assertRejects(setUp({ message: "a" }, { args: ["b"] }).run, ServiceError, "once");
  const noText = setUp({}, { piped: "" });
  assertEquals((await assertRejects(noText.run, ServiceError)).code, "usage");
  assertEquals(noText.order, ["stdin"]);
});

Deno.test("runAgent() needs a terminal for a chat, and no --json", async () => {
  await assertRejects(setUp({}).run, ServiceError, "terminal");
  await assertRejects(setUp({}, { json: true }).run, ServiceError, "JSON output needs a message");
});

Deno.test("runAgent() prints one value with --json, and events with --json-stream", async () => {
  const value = setUp({ message: "hi", session: "a" }, { json: true });
  assertEquals(await value.run(), EXIT.done);
  const { answer, session, status } = JSON.parse(value.stdout.text);
  assertEquals([answer, session, status], ["Answer", "a", "done"]);
  const { run, stdout } = setUp({ message: "hi", "json-stream": true });
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
  const { run, stdout } = setUp({ message: "hi", yes: true, session: "a" }, { turn, operator });
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
  assertEquals([sessions, detached, stdout.text], [["cli:a"], 1, "Fetched\n"]);
});

Deno.test("runAgent() with --wait answers nothing, and says where it can be done", async () => {
  const { turn, asked, answered } = waitingTurn();
  const operator: Pick<Operator, "attachTerminal"> = {
    attachTerminal: () => {
      throw new Error("nobody sits there");
    },
  };
  const { run, stderr, client } = setUp({ message: "hi", wait: true }, { turn, operator });
  const running = run();
  while (!stderr.text.includes("service approvals approve apr_abcdefghijklmnop")) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  answered.resolve();
  assertEquals([await running, asked], [EXIT.done, []]);
  assertEquals((client.seen[0]!.params as Params<"turn">).asks, true);
});

Deno.test("runAgent() as a guest approves with --yes and an approver's token alone", async () => {
  const { turn, operate, asked } = waitingTurn();
  const tokens: string[] = [];
  const script = {
    operate({ token, request }: { token?: string; request: { op: string } }) {
      tokens.push(token!);
      return operate(request as OperationRequest);
    },
  };
  const env = { SERVICE_APPROVER_TOKEN: " sat_token\n" };
  assertEquals(await setUp({ message: "hi", yes: true }, { turn, script, env }).run(), EXIT.done);
  assertEquals([tokens, asked.length], [["sat_token", "sat_token"], 2]);

  const without = setUp({ message: "hi", yes: true }, { turn, script });
  const error = await assertRejects(without.run, ServiceError, "SERVICE_APPROVER_TOKEN");
  assertEquals([error.code, without.client.seen, asked.length], ["invalid_token", [], 2]);
});

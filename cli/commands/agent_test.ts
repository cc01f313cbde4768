import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/errors.ts";
import { EXIT, type Invocation } from "../command.ts";
import { answering, FakeClient, stored, turnEnd } from "../testing/fake_client.ts";
import { FakeSignals } from "../testing/fake_signals.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { type AgentDeps, runAgent } from "./agent.ts";

/** Runs the command with these options; `piped` is standard input, a terminal when undefined. */
function setUp(
  options: Invocation["options"],
  { piped, json = false, turn = () => answering("Answer") }: {
    piped?: string;
    json?: boolean;
    turn?: () => ReturnType<typeof answering>;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient({ turn });
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
    withService: (_, use) => {
      order.push("service");
      return use(client);
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
    input: [{ type: "text", text: "hi\n\nlog" }, { type: "file", name: "a.txt", data: "YQ==" }],
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

Deno.test("runAgent() says that --yes has nothing to approve", async () => {
  const { run, stderr } = setUp({ message: "hi", yes: true });
  assertEquals(await run(), EXIT.done);
  assertStringIncludes(stderr.text, "--yes has nothing to approve yet");
});

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { OperationRequest, OperationResult } from "../../lib/operations/operations.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runOutbox } from "./outbox.ts";

type Row = OperationResult<"outbox.get">;

function row(id: number, changes: Partial<Row> = {}): Row {
  return {
    id,
    channel: "irc",
    chat_id: "#a",
    text: "hello\nthere",
    files: [],
    state: "dead",
    partial: false,
    created_at: Date.parse("2026-03-01T08:30:00Z") / 1_000,
    expires_at: Date.parse("2026-03-02T08:30:00Z") / 1_000,
    attempts: 3,
    error: "no such\u001b[31m chat",
    ...changes,
  };
}

const ROWS = [row(1), row(2, { state: "unknown", partial: true, files: ["a"] })];

function setUp(
  invocation: Partial<Pick<Invocation, "subcommand" | "args" | "options">>,
  { json = false, list = { messages: ROWS } }: {
    json?: boolean;
    list?: OperationResult<"outbox.list">;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient(operations({
    "outbox.list": () => list,
    "outbox.resend": ({ id }: OperationRequest<"outbox.resend">) => row(id, { state: "pending" }),
    "outbox.drop": ({ id }: OperationRequest<"outbox.drop">) => row(id, { state: "expired" }),
  }));
  const run = () =>
    runOutbox({
      args: [],
      options: {},
      globals: { lastGood: false, json, verbose: false },
      out,
      ...invocation,
    }, { withService: (_, use) => use(client) });
  const asked = () => client.seen.map(({ params }) => (params as { request: unknown }).request);
  return { run, asked, stdout, stderr };
}

Deno.test("runOutbox() lists what is not delivered, one line each, safe to look at", async () => {
  const { run, asked, stdout } = setUp({});
  assertEquals(await run(), EXIT.done);
  assertEquals(asked(), [{ op: "outbox.list" }]);
  const lines = stdout.text.trimEnd().split("\n");
  assertEquals(lines.length, 3);
  assertStringIncludes(lines[1]!, "dead");
  assertEquals(lines[1]!.includes("\u001b"), false);
  assertStringIncludes(lines[2]!, "unknown (part)");
  assertStringIncludes(lines[2]!, "(1 file)");
});

Deno.test("runOutbox() asks for what the options name, and says when there are more", async () => {
  const { run, asked, stderr } = setUp({
    subcommand: "list",
    options: { state: ["dead", "unknown,sent"], channel: "irc.b", limit: "2", after: "0" },
  }, { list: { messages: ROWS, after: 2 } });
  await run();
  assertEquals(asked(), [{
    op: "outbox.list",
    limit: 2,
    after: 0,
    state: ["dead", "unknown", "sent"],
    channel: "irc.b",
  }]);
  assertStringIncludes(stderr.text, "service outbox list --after 2");
});

Deno.test("runOutbox() --json prints each message as it is", async () => {
  const { run, stdout } = setUp({}, { json: true });
  await run();
  assertEquals(stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line)), ROWS);
});

Deno.test("runOutbox() resends and drops one", async () => {
  const resend = setUp({ subcommand: "resend", args: ["17"] });
  assertEquals(await resend.run(), EXIT.done);
  assertEquals(resend.asked(), [{ op: "outbox.resend", id: 17 }]);
  assertStringIncludes(resend.stderr.text, "Message 17 for irc #a is pending again");
  const drop = setUp({ subcommand: "drop", args: ["17"] }, { json: true });
  await drop.run();
  assertEquals(drop.asked(), [{ op: "outbox.drop", id: 17 }]);
  assertEquals(JSON.parse(drop.stdout.text).state, "expired");
});

Deno.test("runOutbox() refuses what it cannot use before it asks", async () => {
  const cases: [Parameters<typeof setUp>[0], string][] = [
    [{ subcommand: "resend", args: ["m17"] }, 'ID is "m17"; expected a whole number'],
    [{ subcommand: "drop", args: ["0"] }, "ID is 0; expected a whole number of at least 1"],
    [{ options: { state: ["dead", "lost"] } }, '--state is "lost"; expected one of pending'],
    [{ options: { limit: "0" } }, "--limit is 0"],
    [{ options: { limit: "1001" } }, "--limit is 1001; expected a whole number from 1 to 1000"],
    [{ options: { after: "-1" } }, '--after is "-1"'],
  ];
  for (const [invocation, words] of cases) {
    const { run, asked } = setUp(invocation);
    const error = await assertRejects(run, ServiceError, words);
    assertEquals([error.code, asked()], ["usage", []]);
  }
});

Deno.test("runOutbox() says so when there is nothing", async () => {
  const { run, stdout, stderr } = setUp({}, { list: { messages: [] } });
  assertEquals(await run(), EXIT.done);
  assertEquals(stdout.text, "");
  assertStringIncludes(stderr.text, "No undelivered messages");
});

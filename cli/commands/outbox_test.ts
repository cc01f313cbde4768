import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { OutboxRow } from "../../lib/contract/journal.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, type Script } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runOutbox } from "./outbox.ts";

function row(rowid: number, changes: Partial<OutboxRow> = {}): OutboxRow {
  return {
    rowid,
    id: `m${rowid}`,
    channel: "irc",
    chatId: "#a",
    content: "hello\nthere",
    state: "dead",
    createdAt: Date.parse("2026-03-01T08:30:00Z"),
    expiresAt: Date.parse("2026-03-02T08:30:00Z"),
    attempts: 3,
    error: "no such\u001b[31m chat",
    ...changes,
  };
}

const FILE = { name: "a", path: "/a" };

function setUp(
  invocation: Partial<Pick<Invocation, "subcommand" | "args" | "options">>,
  { json = false, script = {} }: { json?: boolean; script?: Script } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient({
    outbox: () => [row(1), row(2, { state: "unknown", isPiece: true, media: [FILE] })],
    outbox_resend: ({ message }) => row(message, { state: "pending" }),
    outbox_drop: ({ message }) => row(message, { state: "expired" }),
    ...script,
  });
  const run = () =>
    runOutbox({
      args: [],
      options: {},
      globals: { lastGood: false, json, verbose: false },
      out,
      ...invocation,
    }, { withService: (_, use) => use(client) });
  return { run, client, stdout, stderr };
}

Deno.test("runOutbox() lists what is not delivered, one line each, safe to look at", async () => {
  const { run, client, stdout } = setUp({});
  assertEquals(await run(), EXIT.done);
  assertEquals(client.seen[0]!.params, {
    limit: 50,
    states: ["pending", "sending", "unknown", "dead", "expired"],
  });
  const lines = stdout.text.trimEnd().split("\n");
  assertEquals(lines.length, 3);
  assertStringIncludes(lines[1]!, "dead");
  assertEquals(lines[1]!.includes("\u001b"), false);
  assertStringIncludes(lines[2]!, "unknown (part)");
  assertStringIncludes(lines[2]!, "(1 file)");
});

Deno.test("runOutbox() asks for what the options name, and says when there may be more", async () => {
  const { run, client, stderr } = setUp({
    subcommand: "list",
    options: { state: ["dead", "unknown", "dead"], channel: "irc.b", limit: "2", after: "0" },
  });
  await run();
  assertEquals(client.seen[0]!.params, {
    limit: 2,
    after: 0,
    states: ["dead", "unknown"],
    channel: "irc.b",
  });
  assertStringIncludes(stderr.text, "service outbox list --after 2");
  const all = setUp({ options: { state: ["all"] } });
  await all.run();
  const { states } = all.client.seen[0]!.params as { states: string[] };
  assertEquals(states.length, 6);
});

Deno.test("runOutbox() --json prints each message as it is", async () => {
  const { run, stdout } = setUp({}, { json: true });
  await run();
  assertEquals(stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line)), [
    row(1),
    row(2, { state: "unknown", isPiece: true, media: [FILE] }),
  ]);
});

Deno.test("runOutbox() resends and drops one", async () => {
  const resend = setUp({ subcommand: "resend", args: ["17"] });
  assertEquals(await resend.run(), EXIT.done);
  assertEquals(resend.client.seen, [{
    op: "outbox_resend",
    params: { message: 17 },
    stop: undefined,
  }]);
  assertStringIncludes(resend.stderr.text, "Message 17 for irc #a is pending again");
  const drop = setUp({ subcommand: "drop", args: ["17"] }, { json: true });
  await drop.run();
  assertEquals(drop.client.seen[0]!.op, "outbox_drop");
  assertEquals(JSON.parse(drop.stdout.text).state, "expired");
});

Deno.test("runOutbox() refuses what it cannot use before it asks", async () => {
  const cases: [Parameters<typeof setUp>[0], string][] = [
    [{ subcommand: "resend", args: ["m17"] }, "MESSAGE is"],
    [{ subcommand: "drop", args: ["0"] }, "MESSAGE is"],
    [{ options: { state: ["lost"] } }, "--state is"],
    [{ options: { limit: "0" } }, "--limit is"],
    [{ options: { after: "-1" } }, "--after is"],
  ];
  for (const [invocation, words] of cases) {
    const { run, client } = setUp(invocation);
    const error = await assertRejects(run, ServiceError, words);
    assertEquals([error.code, client.seen], ["usage", []]);
  }
});

Deno.test("runOutbox() says so when there is nothing", async () => {
  const { run, stdout, stderr } = setUp({}, { script: { outbox: () => [] } });
  assertEquals(await run(), EXIT.done);
  assertEquals(stdout.text, "");
  assertStringIncludes(stderr.text, "No undelivered messages");
});

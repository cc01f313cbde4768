import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Session, StoredMessage } from "../../lib/contract/journal.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, type Script, stored, turnEnd } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { fullKey } from "../operator/full_key.ts";
import { runSessions } from "./sessions.ts";

function session(key: string, updatedAt: number): Session {
  return { id: 1, key, title: `About ${key}`, createdAt: 0, updatedAt, turns: 2, lastSeq: 9 };
}

const MESSAGES: StoredMessage["message"][] = [
  { role: "summary", text: "Before that." },
  {
    role: "user",
    parts: [
      { type: "text", text: "Look at this" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "image", mediaType: "image/gif", file: { sha256: "0", bytes: 9 } },
      {
        type: "document",
        name: "a.pdf",
        mediaType: "application/pdf",
        file: { sha256: "1", bytes: 1_234 },
        text: "[page 1]\n" + "y".repeat(1_000),
      },
    ],
  },
  { role: "assistant", text: "", calls: [{ callId: "1", tool: "read_file", args: { path: "a" } }] },
  {
    role: "tool",
    results: [{ callId: "1", tool: "read_file", output: "x".repeat(1_000), failed: true }],
  },
  { role: "assistant", text: "It is a cat.\n", calls: [] },
];

function storedMessage(at: number): StoredMessage {
  return { id: at + 1, turnId: "t", message: MESSAGES[at]!, tokens: 1 };
}

function setUp(
  invocation: Partial<Pick<Invocation, "subcommand" | "args" | "options">>,
  { script = {}, json = false, verbose = false, answer, terminal = true }: {
    script?: Script;
    json?: boolean;
    verbose?: boolean;
    answer?: string;
    terminal?: boolean;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient({
    sessions: () => [session("cli:b", 2_000), session("cli:a", 1_000)],
    session: ({ key, limit }) => [
      {
        session: session(key, 1_000),
        ...limit !== undefined && { page: { userIndex: 1, before: 5 } },
      },
      ...MESSAGES.map((_, at) => ({ message: storedMessage(at) })).slice(-(limit ?? Infinity)),
    ],
    rename: ({ key, title }) => ({ ...session(key, 1_000), title }),
    fork: ({ key, as }) => session(as ?? `${key}-2`, 1_000),
    delete: () => ({ deleted: true }),
    ...script,
  });
  let opened = 0;
  const run = () =>
    runSessions({
      args: [],
      options: {},
      globals: { lastGood: false, json, verbose },
      out,
      ...invocation,
    }, {
      confirm: (out) => ({ out, isTerminal: terminal, readLine: () => Promise.resolve(answer) }),
      withService: (_, use) => {
        opened++;
        return use(client);
      },
    });
  return { run, stdout, stderr, client, opened: () => opened };
}

Deno.test("runSessions() lists the latest first, and how to go on", async () => {
  const { run, stdout, stderr, client } = setUp({ options: { limit: "2" } });
  assertEquals(await run(), EXIT.done);
  assertEquals(client.seen[0]!.params, { limit: 2, before: undefined });
  assertEquals(
    stdout.text,
    `SESSION  TURNS  UPDATED               TITLE
cli:b    2      1970-01-01T00:00:02Z  About cli:b
cli:a    2      1970-01-01T00:00:01Z  About cli:a
`,
  );
  assertStringIncludes(stderr.text, "--before 1000");
});

Deno.test("runSessions() lists as JSON lines, and takes a page's cursor", async () => {
  const { run, stdout, client } = setUp(
    { subcommand: "list", options: { before: "5000" } },
    { json: true },
  );
  await run();
  assertEquals(client.seen[0]!.params, { limit: 20, before: 5_000 });
  const keys = stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line).key);
  assertEquals(keys, ["cli:b", "cli:a"]);
});

Deno.test("runSessions() says so when there is nothing to list", async () => {
  const { run, stdout, stderr } = setUp({}, { script: { sessions: () => [] } });
  assertEquals(await run(), EXIT.done);
  assertEquals([stdout.text, stderr.text], ["", "No sessions yet\n"]);
});

Deno.test("runSessions() refuses a page size out of range before it opens anything", async () => {
  for (const limit of ["0", "1001", "-1", "1.5", "x", ""]) {
    const { run, opened } = setUp({ options: { limit } });
    const error = await assertRejects(run, ServiceError, "whole number from 1 to 1000");
    assertEquals([error.code, opened()], ["usage", 0]);
  }
});

Deno.test("runSessions() shows the messages of a session", async () => {
  const { run, stdout } = setUp({ subcommand: "show", args: ["default"] });
  await run();
  assertEquals(
    stdout.text,
    `cli:default  About cli:default
2 turns, 1970-01-01T00:00:00Z to 1970-01-01T00:00:01Z

summary of what was before:
Before that.

user:
Look at this
[image: image/png]
[image: image/gif]
[file: a.pdf (application/pdf, 1234 bytes)]
[page 1]
${"y".repeat(291)}…

agent:
[calls read_file {"path":"a"}]

read_file (failed):
${"x".repeat(300)}…

agent:
It is a cat.
`,
  );
});

Deno.test("runSessions() shows the last messages alone when told how many", async () => {
  const { run, stdout, stderr } = setUp({
    subcommand: "show",
    args: ["cli:a"],
    options: { limit: "1" },
  });
  await run();
  assertEquals(stdout.text.split("\n\n")[1], "agent:\nIt is a cat.\n");
  assertEquals(
    stderr.text,
    "Earlier ones: service sessions show cli:a --limit 1 --before 5\n",
  );
});

Deno.test("runSessions() shows messages before an id, twenty unless told", async () => {
  const { run, client } = setUp({
    subcommand: "show",
    args: ["cli:a"],
    options: { before: "5" },
  });
  await run();
  assertEquals(client.seen[0]!.params, { key: "cli:a", limit: 20, before: 5 });
});

Deno.test("runSessions() renames, and says what the session is called now", async () => {
  const { run, stderr, client } = setUp({ subcommand: "rename", args: ["a", "On trains"] });
  assertEquals(await run(), EXIT.done);
  assertEquals(client.seen[0]!.params, { key: "cli:a", title: "On trains" });
  assertEquals(stderr.text, `cli:a is now "On trains"\n`);
  const json = setUp({ subcommand: "rename", args: ["a", "T"] }, { json: true });
  await json.run();
  assertEquals(JSON.parse(json.stdout.text).title, "T");
});

Deno.test("runSessions() forks before a message, and prints the new key", async () => {
  const { run, stdout, client } = setUp({
    subcommand: "fork",
    args: ["a"],
    options: { before: "3", as: "other" },
  });
  assertEquals(await run(), EXIT.done);
  assertEquals(client.seen[0]!.params, { key: "cli:a", beforeUserIndex: 3, as: "cli:other" });
  assertEquals(stdout.text, "cli:other\n");
  const json = setUp({ subcommand: "fork", args: ["api:x"], options: { before: "0" } }, {
    json: true,
  });
  await json.run();
  assertEquals(JSON.parse(json.stdout.text).key, "api:x-2");
  for (const before of [undefined, "x", "-1", "1.5", ""]) {
    const options = before === undefined ? {} : { before };
    const bad = setUp({ subcommand: "fork", args: ["a"], options });
    const error = await assertRejects(bad.run, ServiceError, "--before");
    assertEquals([error.code, bad.opened()], ["usage", 0]);
  }
});

Deno.test("runSessions() shows whole tool outputs with verbose, and JSON as it is", async () => {
  const verbose = setUp({ subcommand: "show", args: ["a"] }, { verbose: true });
  await verbose.run();
  assertStringIncludes(verbose.stdout.text, "x".repeat(1_000));
  const json = setUp({ subcommand: "show", args: ["a"] }, { json: true });
  await json.run();
  const [head, ...messages] = json.stdout.text.trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
  assertEquals(head.session.key, "cli:a");
  assertEquals(messages.map(({ message }) => message.message), MESSAGES);
});

Deno.test("runSessions() exports everything as JSON lines", async () => {
  const records = [
    { kind: "session" as const, session: session("api:x", 1) },
    { kind: "event" as const, event: stored(turnEnd())[0]! },
  ];
  const { run, stdout, client } = setUp({ subcommand: "export", args: ["api:x"] }, {
    script: { export: () => records },
  });
  await run();
  assertEquals(client.seen[0]!.params, { key: "api:x" });
  assertEquals(stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line)), records);
});

Deno.test("runSessions() deletes with --yes, or after a yes", async () => {
  const forced = setUp({ subcommand: "delete", args: ["a"], options: { yes: true } }, {
    terminal: false,
    json: true,
  });
  assertEquals(await forced.run(), EXIT.done);
  assertEquals(JSON.parse(forced.stdout.text), { key: "cli:a", deleted: true });
  const asked = setUp({ subcommand: "delete", args: ["a"] }, { answer: "y" });
  assertEquals(await asked.run(), EXIT.done);
  assertEquals(asked.client.seen.map(({ op }) => op), ["session", "delete"]);
});

Deno.test("runSessions() deletes nothing without a yes", async () => {
  const no = setUp({ subcommand: "delete", args: ["a"] }, { answer: "n" });
  assertEquals(await no.run(), EXIT.failed);
  assertEquals(no.client.seen.map(({ op }) => op), ["session"]);
  const nobody = setUp({ subcommand: "delete", args: ["a"] }, { terminal: false });
  assertEquals((await assertRejects(nobody.run, ServiceError, "--yes")).code, "usage");
  assertEquals(nobody.client.seen.map(({ op }) => op), ["session"]);
});

Deno.test("runSessions() asks nothing about a session that there is not", async () => {
  const session = () => {
    throw new ServiceError("not_found", `No session "cli:a"`);
  };
  const { run, stderr } = setUp({ subcommand: "delete", args: ["a"] }, {
    answer: "y",
    script: { session },
  });
  assertEquals((await assertRejects(run, ServiceError)).code, "not_found");
  assertEquals(stderr.text, "");
});

Deno.test("runSessions() says which session there is not", async () => {
  const { run } = setUp({ subcommand: "delete", args: ["a"], options: { yes: true } }, {
    script: { delete: () => ({ deleted: false }) },
  });
  const error = await assertRejects(run, ServiceError, `No session "cli:a"`);
  assertEquals(error.code, "not_found");
});

Deno.test("fullKey() takes a name alone for a session of the command line", () => {
  assertEquals(fullKey("default"), "cli:default");
  assertEquals(fullKey("api:default"), "api:default");
});

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { Params } from "../../lib/local/protocol.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runSessions } from "./sessions.ts";

type SessionRow = OperationResult<"sessions.get">;
type MessageRow = OperationResult<"sessions.messages">["messages"][number];

function session(key: string, updatedAt: number): SessionRow {
  return {
    key,
    channel: "cli",
    title: `About ${key}`,
    model_preset: null,
    created_at: 0,
    updated_at: updatedAt,
    turns: 2,
    last_seq: 9,
    running: false,
  };
}

const ROWS = [
  { role: "summary", text: "Before that." },
  {
    role: "user",
    user_index: 1,
    text: "Look at this",
    attachments: [
      { type: "image", media_type: "image/png", bytes: 3 },
      { type: "image", media_type: "image/gif", bytes: 9 },
      { type: "document", name: "a.pdf", media_type: "application/pdf", bytes: 1_234 },
    ],
    media_urls: [],
  },
  {
    role: "assistant",
    text: "",
    tool_calls: [{ call_id: "1", tool: "read_file", args: { path: "a" } }],
  },
  {
    role: "tool",
    results: [{ call_id: "1", tool: "read_file", output: "x".repeat(1_000), failed: true }],
  },
  { role: "assistant", text: "It is a cat.\n", tool_calls: [] },
] as const;
const MESSAGES = ROWS.map((row, at) => ({ id: at + 1, turn_id: "t", ...row })) as MessageRow[];

function setUp(
  invocation: Partial<Pick<Invocation, "subcommand" | "args" | "options">>,
  { script = {}, json = false, verbose = false, answer, terminal = true }: {
    script?: Parameters<typeof operations>[0];
    json?: boolean;
    verbose?: boolean;
    answer?: string;
    terminal?: boolean;
  } = {},
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient(operations({
    "sessions.list": ({ limit }: { limit?: number }) => ({
      sessions: [session("cli:b", 2), session("cli:a", 1)],
      ...limit === 2 && { before: 1_000 },
    }),
    "sessions.search": ({ q, limit }: { q: string; limit?: number }) => ({
      sessions: q === "none" ? [] : ["cli:b", "cli:a"].map((key) => ({
        ...session(key, 2),
        count: 5,
        matches: [{
          id: 1,
          turn_id: "t",
          role: "assistant",
          snippet: [{ text: "a fine ", match: false }, { text: "day", match: true }],
        }],
      })),
      ...limit === 2 && { before: 1_000 },
    }),
    "sessions.get": ({ key }: { key: string }) => session(key, 1),
    "sessions.messages": ({ key, limit }: { key: string; limit?: number }) => ({
      key,
      messages: MESSAGES.slice(-(limit ?? Infinity)),
      user_index: 1,
      ...limit !== undefined && { before: 5 },
    }),
    "sessions.rename": ({ key, title }: { key: string; title: string }) => ({
      ...session(key, 1),
      title,
    }),
    "sessions.fork": ({ key, new_key: to = `${key}-2` }: { key: string; new_key?: string }) =>
      session(to, 1),
    "sessions.delete": ({ key }: { key: string }) => ({ key, deleted: true }),
    ...script,
  }));
  let opened = 0;
  const run = async () =>
    await runSessions({
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
      files: { read: () => Promise.reject(), write: () => Promise.reject() },
    });
  const asked = () => client.seen.map(({ params }) => (params as Params<"operate">).request);
  return { run, stdout, stderr, asked, opened: () => opened };
}

Deno.test("runSessions() lists the latest first, and how to go on", async () => {
  const { run, stdout, stderr, asked } = setUp({ options: { limit: "2" } });
  assertEquals(await run(), EXIT.done);
  assertEquals<unknown>(asked(), [{ op: "sessions.list", limit: 2 }]);
  assertEquals(
    stdout.text,
    `SESSION  TURNS  UPDATED               TITLE
cli:b    2      1970-01-01T00:00:02Z  About cli:b
cli:a    2      1970-01-01T00:00:01Z  About cli:a
`,
  );
  assertEquals(stderr.text, "Earlier ones: service sessions list --before 1000\n");
});

Deno.test("runSessions() searches, with matches in brackets where there is no colour", async () => {
  const { run, stdout, stderr, asked } = setUp({
    subcommand: "search",
    args: ["day"],
    options: { limit: "2" },
  });
  assertEquals(await run(), EXIT.done);
  assertEquals<unknown>(asked(), [{ op: "sessions.search", q: "day", limit: 2 }]);
  assertEquals(
    stdout.text,
    ["b", "a"].map((name) =>
      `cli:${name}  About cli:${name}\n  agent: a fine [day]\n  and 4 more matches\n`
    ).join("\n"),
  );
  assertEquals(stderr.text, `Earlier ones: service sessions search "day" --before 1000\n`);
  const none = setUp({ subcommand: "search", args: ["none"] });
  assertEquals([await none.run(), none.stdout.text], [EXIT.done, ""]);
  const json = setUp({ subcommand: "search", args: ["day"] }, { json: true });
  await json.run();
  assertEquals(json.stdout.text.trim().split("\n").map((line) => JSON.parse(line).key), [
    "cli:b",
    "cli:a",
  ]);
});

Deno.test("runSessions() lists as JSON lines, and takes a page's cursor", async () => {
  const { run, stdout, stderr, asked } = setUp(
    { subcommand: "list", options: { before: "5000", limit: "2" } },
    { json: true },
  );
  await run();
  assertEquals<unknown>(asked(), [{ op: "sessions.list", limit: 2, before: 5_000 }]);
  const rows = stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(rows, [session("cli:b", 2), session("cli:a", 1)]);
  // No row has the cursor in it.
  assertStringIncludes(stderr.text, "--before 1000");
});

Deno.test("runSessions() says so when there is nothing to list", async () => {
  const { run, stdout, stderr } = setUp({}, {
    script: { "sessions.list": () => ({ sessions: [] }) },
  });
  assertEquals(await run(), EXIT.done);
  assertEquals([stdout.text, stderr.text], ["", "No sessions\n"]);
});

Deno.test("runSessions() refuses a page size out of range before it opens anything", async () => {
  for (const limit of ["0", "101", "-1", "1.5", "x", ""]) {
    const { run, opened } = setUp({ options: { limit } });
    const error = await assertRejects(run, ServiceError, "a whole number");
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
    "Earlier ones: service sessions show cli:a --before 5\n",
  );
});

Deno.test("runSessions() shows messages before an id", async () => {
  const { run, asked } = setUp({
    subcommand: "show",
    args: ["cli:a"],
    options: { before: "5" },
  });
  await run();
  assertEquals<unknown>(asked()[1], { op: "sessions.messages", key: "cli:a", before: 5 });
});

Deno.test("runSessions() renames, and says what the session is called now", async () => {
  const { run, stderr, asked } = setUp({ subcommand: "rename", args: ["a", "On trains"] });
  assertEquals(await run(), EXIT.done);
  assertEquals<unknown>(asked(), [{ op: "sessions.rename", key: "cli:a", title: "On trains" }]);
  assertEquals(stderr.text, `cli:a is now "On trains"\n`);
  const json = setUp({ subcommand: "rename", args: ["a", "T"] }, { json: true });
  await json.run();
  assertEquals(JSON.parse(json.stdout.text).title, "T");
});

Deno.test("runSessions() forks before a message, and prints the new key", async () => {
  const { run, stdout, asked } = setUp({
    subcommand: "fork",
    args: ["a"],
    options: { before: "3", as: "other" },
  });
  assertEquals(await run(), EXIT.done);
  assertEquals<unknown>(asked(), [
    { op: "sessions.fork", key: "cli:a", before_user_index: 3, new_key: "cli:other" },
  ]);
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
  const rows = json.stdout.text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(rows, MESSAGES);
});

Deno.test("runSessions() exports everything as JSON lines", async () => {
  const records = [{ kind: "session", session: { key: "api:x" } }, { kind: "event", event: {} }];
  const { run, stdout, asked } = setUp({ subcommand: "export", args: ["api:x"] }, {
    script: { "sessions.export": () => records },
  });
  await run();
  assertEquals<unknown>(asked(), [{ op: "sessions.export", key: "api:x" }]);
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
  assertEquals(asked.asked().map(({ op }) => op), ["sessions.get", "sessions.delete"]);
});

Deno.test("runSessions() deletes nothing without a yes", async () => {
  const no = setUp({ subcommand: "delete", args: ["a"] }, { answer: "n" });
  assertEquals(await no.run(), EXIT.failed);
  assertEquals(no.asked().map(({ op }) => op), ["sessions.get"]);
  const nobody = setUp({ subcommand: "delete", args: ["a"] }, { terminal: false });
  assertEquals((await assertRejects(nobody.run, ServiceError, "--yes")).code, "usage");
  assertEquals(nobody.asked().map(({ op }) => op), ["sessions.get"]);
});

Deno.test("runSessions() asks nothing about a session that there is not", async () => {
  const { run, stderr } = setUp({ subcommand: "delete", args: ["a"] }, {
    answer: "y",
    script: {
      "sessions.get": () => {
        throw new ServiceError("not_found", `There is no session "cli:a"`);
      },
    },
  });
  assertEquals((await assertRejects(run, ServiceError)).code, "not_found");
  assertEquals(stderr.text, "");
});

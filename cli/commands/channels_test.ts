import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { WorkerSource } from "../../lib/channel_worker/worker_source.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { ShownConnection } from "../../lib/operations/channels/connects.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import type { ChannelsDeps } from "../channels/deps.ts";
import { readTerminalQr } from "../../tests/support/read_qr.ts";
import { durationOf } from "../channels/status.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { testPackages } from "../testing/channel_packages.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import channels, { runChannels } from "./channels.ts";

type ChannelStatus = OperationResult<"channels.status">["channels"][number];
type MissedRow = OperationResult<"missed.list">["messages"][number];
type Verification = OperationResult<"channels.verify">;
type OutboxRow = OperationResult<"outbox.get">;

const CANCELLED: ShownConnection = { state: "cancelled", message: "The connection was cancelled" };

interface Played {
  missed?: MissedRow[];
  statuses?: ChannelStatus[];
  /** Of the message that is sent, one a look. */
  rows?: OutboxRow[];
  section?: Record<string, unknown>;
  login?: (asked: { source: WorkerSource; force: boolean }) => Promise<boolean>;
  isRunning?: boolean;
  /** Of a connection, one an answer to start, poll or cancel. */
  standings?: ShownConnection[];
  /** Whether what it brings changes the settings. */
  hasWritten?: boolean;
  /** Typed at the terminal. */
  typed?: string[];
  interrupts?: boolean;
  /** How the session is verified, one a look. */
  verifications?: Verification[];
  /** What is typed to a question; absent: there is no terminal. */
  line?: string;
}

function play(
  { missed = [], statuses = [], rows = [], section, login, isRunning = true, ...more }: Played = {},
) {
  const { standings = [], typed = [], interrupts = false, hasWritten = true } = more;
  const { verifications = [], line } = more;
  const steps: unknown[] = [];
  let looked = 0;
  let shown = 0;
  let elapsed = 0;
  const client = new FakeClient(operations({
    "channels.status": () => ({ channels: statuses }),
    "service.status": () => ({}),
    "missed.list": () => ({ count: missed.length, messages: missed }),
    "missed.clear": () => ({ cleared: missed.length }),
    "missed.answer": () => ({ kind: "turn", turn_id: "t" }),
    "channels.verify": () => verifications[Math.min(shown++, verifications.length - 1)],
    "outbox.send": () => rows[0],
    "outbox.get": () => rows[Math.min(++looked, rows.length - 1)],
  }));
  const deps: ChannelsDeps = {
    withRunning(_, use) {
      if (!isRunning) {
        return Promise.reject(new ServiceError("not_found", "No service runs in /home"));
      }
      return use(client);
    },
    configured: async () => ({
      registry: await withConnector(standings.length > 0),
      config: configSchema.parse({ channels: section === undefined ? {} : { chat: section } }),
      dataDir: "/data",
    }),
    login: (asked) => login?.(asked) ?? Promise.resolve(true),
    connect: (asked, _globals, _out, use) =>
      use({
        ask(action, query = {}) {
          steps.push([asked.instanceId ?? "", action, query]);
          return Promise.resolve(action === "cancel" ? CANCELLED : standings.shift()!);
        },
        hasWritten: () => hasWritten,
      }),
    async withInterrupts(work) {
      const interrupted = new AbortController();
      if (interrupts) interrupted.abort();
      return await work(interrupted.signal);
    },
    readLine: () => Promise.resolve(typed.shift()),
    confirm: (out) => ({
      out,
      isTerminal: line !== undefined,
      readLine: () => Promise.resolve(line),
    }),
    now: () => 100_000,
    elapsed: () => elapsed,
    sleep(ms) {
      elapsed += ms;
      return Promise.resolve();
    },
  };
  return {
    asked: () => client.seen.map(({ params }) => (params as { request: unknown }).request),
    elapsed: () => elapsed,
    /** Instance, action and query of each step of a connection. */
    steps,
    async run(...line: string[]) {
      const { out, stdout, stderr } = memoryOutput();
      const parsed = parseCommand("channels", channels, parseHead(["channels", ...line]));
      const exit = await runChannels({ ...parsed, out }, deps);
      return { exit, stdout: stdout.text, stderr: stderr.text };
    },
  };
}

async function withConnector(connects: boolean) {
  const registry = await testPackages();
  if (!connects) return registry;
  const connector = { module: "never:/chat/connect.ts", exportName: "connector" };
  const usable = new Map([...registry.usable].map(([name, one]) => [name, { ...one, connector }]));
  return { ...registry, usable };
}

const STATUS: ChannelStatus = {
  channel: "chat",
  runtime_name: "chat",
  display_name: "Chat",
  state: "running",
  detail: "connected as @bot",
  since: 9,
  restarts: 1,
  missed: 3,
  deliveries: { waiting: 2, retrying: 1, sent: 7, unknown: 1, dead: 0 },
};

function row(state: OutboxRow["state"], more: Partial<OutboxRow> = {}): OutboxRow {
  return {
    id: 5,
    channel: "chat",
    chat_id: "#room",
    text: "hi",
    files: [],
    state,
    partial: false,
    created_at: 0,
    expires_at: 1,
    attempts: 1,
    ...more,
  };
}

Deno.test("channels status shows each instance, what went wrong, and what waits for a decision", async () => {
  const failed: ChannelStatus = {
    ...STATUS,
    runtime_name: "chat.work",
    state: "failed",
    problem: "server is not set\x1b[2J",
    detail: undefined,
  };
  const { run } = play({
    statuses: [STATUS, failed, { ...failed, runtime_name: "x", state: "off" }],
  });
  const { exit, stdout, stderr } = await run("status");
  assertEquals(exit, 0);
  const lines = stdout.split("\n");
  assertEquals(lines[1]!.split(/\s{2,}/), [
    "chat",
    "running",
    "1 min 31 s",
    "1",
    "2 (1 again)",
    "7",
    "1",
    "0",
    "3",
    "connected as @bot",
  ]);
  assertEquals(lines.filter((line) => line.includes("server is not set")).length, 1);
  assert(!stdout.includes("\x1b"));
  assertStringIncludes(stderr, "service outbox");
  assertStringIncludes(stderr, "Missed messages: 9. List them with: service channels missed");
  const json = (await run("status", "chat.work", "--json")).stdout.trim().split("\n");
  assertEquals(json.map((line) => JSON.parse(line).runtime_name), ["chat.work"]);
  assertEquals((await run("status", "chat", "--json")).stdout.trim().split("\n").length, 3);
  const error = await assertRejects(() => run("status", "chatt"), ServiceError);
  assertEquals(error.code, "not_found");
  assertStringIncludes(error.message, "expected one of chat, chat.work, x");
});

Deno.test("channels status says plainly that no service runs, or that it has no channels", async () => {
  const { run } = play({ isRunning: false });
  await assertRejects(() => run("status"), ServiceError, "No service runs");
  await assertRejects(() => run("send", "chat", "#room", "hi"), ServiceError, "No service runs");
  assertStringIncludes((await play().run("status")).stderr, "service plugins list");
});

Deno.test("channels send tells what became of the message", async () => {
  const retried = play({
    rows: [
      row("pending", { attempts: 0 }),
      row("pending", { error: "no link" }),
      row("sent", { attempts: 2 }),
    ],
  });
  const sent = await retried.run("send", "chat", "#room", "hi there", "--wait", "5");
  assertEquals(retried.asked(), [
    { op: "outbox.send", channel: "chat", chat_id: "#room", text: "hi there" },
    { op: "outbox.get", id: 5 },
    { op: "outbox.get", id: 5 },
  ]);
  assertEquals([sent.exit, sent.stdout], [0, ""]);
  assertEquals(
    sent.stderr,
    "Attempt 1 failed: no link; retrying\nDelivered to chat #room with attempt 2\n",
  );
  for (
    const [state, words] of [
      ["dead", "not retried: gone. Fix the cause, then run: service outbox resend 5"],
      ["unknown", "Unknown whether it arrived"],
      [
        "pending",
        "yet: gone. Retries go on for 24 hours. Check the channel with: service channels status",
      ],
      ["expired", "given up"],
    ] as const
  ) {
    const { exit, stderr } = await play({ rows: [row(state, { error: "gone" })] })
      .run("send", "chat", "#room", "hi");
    assertEquals(exit, 1);
    assertStringIncludes(stderr, words);
  }
  const json = await play({ rows: [row("sent")] }).run("send", "chat", "#room", "hi", "--json");
  assertEquals(JSON.parse(json.stdout).state, "sent");
  const late = play({ rows: [row("pending")] });
  assertEquals((await late.run("send", "chat", "#room", "hi", "--wait", "2")).exit, 1);
  assertEquals(late.elapsed(), 2_000);
});

Deno.test("channels missed lists what came too late, drops it, and has one answered", async () => {
  const missed: MissedRow = {
    id: 17,
    channel: "chat.work",
    chat_id: "#room",
    sender_id: "ann",
    sender_name: "Ann\x1b[2J",
    text: "Where are you?\nI wait",
    truncated: true,
    files: ["a.png"],
    sent_at: 1,
    received_at: 90_000,
  };
  const { run, asked } = play({ missed: [missed] });
  const { exit, stdout, stderr } = await run("missed", "chat.work");
  assertEquals(exit, 0);
  assert(!stdout.includes("\x1b"));
  for (const part of ["17", "1970-01-01T00:00:01Z", "Where are you?", "(files: a.png)", "(ann)"]) {
    assertStringIncludes(stdout, part);
  }
  assertStringIncludes(stderr, "service channels missed --answer N");
  assertEquals(JSON.parse((await run("missed", "--json")).stdout), missed);
  assertEquals((await run("missed", "--clear", "chat.work")).stderr, "Dropped 1 message\n");
  assertEquals(JSON.parse((await run("missed", "--clear", "--json")).stdout), { cleared: 1 });
  assertStringIncludes((await run("missed", "--answer", "17")).stderr, "is being answered");
  const page = { op: "missed.list", after: 0, limit: 200 };
  assertEquals(asked(), [
    { ...page, name: "chat.work" },
    { ...page, name: undefined },
    { op: "missed.clear", name: "chat.work" },
    { op: "missed.clear", name: undefined },
    { op: "missed.answer", id: 17, name: undefined },
  ]);
  assertStringIncludes((await play().run("missed")).stderr, "No missed messages");
});

Deno.test("channels takes each option where it belongs, and values in their range", async () => {
  const { run } = play();
  const usage = async (...line: string[]) => {
    const { code } = await assertRejects(() => run(...line), ServiceError);
    assertEquals(code, "usage", line.join(" "));
  };
  await usage("status", "--force");
  await usage("send", "a", "b", "c", "--instance", "x");
  await usage("login", "chat", "--wait", "1");
  await usage("status", "--clear");
  await usage("missed", "--answer", "x");
  await usage("missed", "--answer", "0");
  await usage("missed", "--clear", "--answer", "1");
  for (const wait of ["-1", "601", "x", "1.5"]) {
    await usage("send", "a", "b", "c", `--wait=${wait}`);
  }
  await usage("send", "a", "b");
  await usage("login");
});

Deno.test("channels login fails when the channel is not logged in, and names the channels (C32)", async () => {
  const asked: { source: WorkerSource; force: boolean }[] = [];
  const section = { server: "irc.example", botToken: "s3cret-token" };
  let answer = false;
  const { run } = play({
    section,
    login(each) {
      asked.push(each);
      return Promise.resolve(answer);
    },
  });
  const refused = await run("login", "chat", "--force");
  assertEquals(refused.exit, 1);
  assertStringIncludes(refused.stderr, "chat is not logged in");
  answer = true;
  const done = await run("login", "chat");
  assertEquals(done.exit, 0);
  // It is off, and may be logged in all the same.
  assertStringIncludes(done.stderr, "service plugins enable chat");
  assertEquals(asked.map(({ force, source: { boot } }) => [force, boot.runtimeName, boot.kind]), [
    [true, "chat", "runtime"],
    [false, "chat", "runtime"],
  ]);
  assertEquals(JSON.parse((await run("login", "chat", "--json")).stdout), {
    channel: "chat",
    loggedIn: true,
  });
  const unknown = await assertRejects(() => run("login", "chatt"), ServiceError);
  assertEquals(unknown.code, "not_found");
  assertStringIncludes(unknown.message, "there are chat, bad, other");
  await assertRejects(() => run("login", "chat", "--instance", "x"), ServiceError, "it has none");
  await assertRejects(() => run("login", "bad"), ServiceError, "no such thing");
  await assertRejects(() => play().run("login", "chat"), ServiceError, "server is not set");
});

Deno.test("channels login shows the QR code of a channel that is connected step by step, each one once", async () => {
  const uri = "sgnl://linkdevice?uuid=a&pub_key=b";
  const waiting: ShownConnection = { state: "waiting", message: "Scan it", show: { qr: uri } };
  const { run, steps } = play({
    standings: [
      waiting,
      waiting,
      { state: "waiting", message: "A code was sent", asks: "Code" },
      { state: "connected", message: "Connected as +4915112345678" },
    ],
    typed: [" 123 \n"],
  });
  const { exit, stderr } = await run("login", "chat");
  assertEquals(exit, 0);
  assertEquals(readTerminalQr(stderr), uri);
  assertStringIncludes(stderr, "Code: Connected as +4915112345678");
  assertStringIncludes(stderr, "It is off; switch it on with: service plugins enable chat\n");
  assertEquals(steps, [
    ["", "start", {}],
    ["", "poll", {}],
    ["", "poll", {}],
    ["", "poll", { answer: "123" }],
  ]);
});

Deno.test("channels login says how to start a channel anew whose settings a connection leaves as they are", async () => {
  const section = { enabled: true, server: "irc.example", botToken: "s3cret-token" };
  const standings: ShownConnection[] = [{ state: "connected", message: "Connected" }];
  const { stderr } = await play({ section, standings, hasWritten: false }).run("login", "chat");
  assertStringIncludes(stderr, "To have it start anew: service plugins disable chat, then enable");
});

Deno.test("channels login cancels by Ctrl-C, and fails where the connection does", async () => {
  const waiting: ShownConnection = { state: "waiting", message: "Scan it" };
  const cancelled = await play({ standings: [waiting], interrupts: true }).run("login", "chat");
  assertEquals([cancelled.exit, cancelled.stderr], [
    1,
    "Scan it\nThe connection was cancelled\n",
  ]);
  const late = play({ standings: [{ state: "failed", message: "It took too long" }] });
  const { exit, stdout } = await late.run("login", "chat", "--instance", "x", "--json");
  assertEquals([exit, JSON.parse(stdout)], [1, { channel: "chat", loggedIn: false }]);
  assertEquals(late.steps, [["x", "start", {}]]);
});

const SESSION: Verification = {
  device_id: "DEVICE",
  key: "abc+/\x1b[2J",
  is_verified: true,
  state: "idle",
};
const ANN = { with: "@ann:example.org" };
const COMPARE: Verification = {
  ...{ ...SESSION, ...ANN, state: "compare" },
  emoji: [{ symbol: "🐶", name: "Dog" }, { symbol: "🔑", name: "Key" }],
};

Deno.test("channels verify waits for a client, shows the emoji, and says what the person says", async () => {
  const verifications: Verification[] = [
    SESSION,
    { ...SESSION, ...ANN, state: "waiting" },
    COMPARE,
    { ...SESSION, ...ANN, state: "waiting" },
    { ...SESSION, ...ANN, state: "done" },
  ];
  const { run, asked } = play({ verifications, line: "y" });
  const { exit, stderr } = await run("verify", "chat");
  assertEquals(exit, 0);
  const lines = stderr.split("\n");
  assertEquals(lines.slice(0, 2), [
    "Session DEVICE, verified by its account",
    "Key     abc+/\\u{001b}[2J",
  ]);
  assertStringIncludes(stderr, "  🐶  Dog\n  🔑  Key\n");
  assertEquals(lines.at(-2), "Are they the same? [y/N] Verified with @ann:example.org");
  assertEquals(asked().map((request) => (request as { action: string }).action), [
    ...["show", "show", "show", "confirm", "show"],
  ]);
});

Deno.test("channels verify fails where the emoji differ, and tells once how it stands without a terminal", async () => {
  const message = "the emoji were not the same";
  const failed: Verification = { ...SESSION, ...ANN, state: "failed", message };
  const differ = play({ verifications: [COMPARE, failed], line: "n" });
  const { exit, stderr } = await differ.run("verify", "chat");
  assertEquals([exit, stderr.split("\n").at(-2)], [
    ...[1, `Are they the same? [y/N] Not verified: ${message}`],
  ]);
  assertEquals((differ.asked()[1] as { action: string }).action, "cancel");
  const quiet = play({ verifications: [SESSION] });
  assertStringIncludes((await quiet.run("verify", "chat")).stderr, "No client has asked");
  const json = await play({ verifications: [SESSION], line: "y" }).run("verify", "chat", "--json");
  assertEquals(JSON.parse(json.stdout), SESSION);
});

Deno.test("durationOf() has two units at most", () => {
  assertEquals([0, 59_999, 60_000, 3_601_000, 90_061_000].map(durationOf), [
    "0 s",
    "59 s",
    "1 min",
    "1 h",
    "1 d 1 h",
  ]);
});

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { toolUrls } from "../agent/hosts.ts";
import type { Message } from "../contract/messages.ts";
import { ServiceError } from "../base/errors.ts";
import { message } from "../tools/message.ts";
import type { AllowedMessage, OutboxPort } from "../contract/ports.ts";
import type { ActionResult, PathTarget } from "../contract/actions.ts";
import type { AuditLog } from "../audit/log.ts";
import type { Executor } from "../executor/executor.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { GatewayPorts } from "../authority/gateway_ports.ts";
import { sendMessage } from "./send_message.ts";
import { ask } from "../authority/testing/ask_gate.ts";
import { CONTEXT, gateFixture } from "../authority/testing/gate_fixture.ts";
import { rounds } from "../../tests/support/rounds.ts";

const ARGS = { content: "the build is green", channel: "telegram", chat_id: "12345" };
const LISTED = { messageTargets: ["telegram:12345"] };

/** An executor that a message has no use for. */
const NO_CHILDREN: Executor = {
  run: ({ task }) => Promise.reject(new Error(`a child was started for ${task.tool}`)),
  childUser: () => Promise.resolve({ reason: "" }),
  confinement: () => Promise.resolve({ confined: true, reason: "" }),
  status: () => Promise.resolve({ confined: true, reason: "" }),
  open: () => Promise.reject(new Error("no session is wanted here")),
  spawn: () => Promise.reject(new Error("no process is wanted here")),
  turnEnded() {},
  counts: () => ({ running: 0, waiting: 0, sessions: 0 }),
  shutdown: () => Promise.resolve(),
};

function codeOf(result: ActionResult): string | undefined {
  return result.status === "ok" ? undefined : result.error.code;
}

Deno.test("message goes to the outbox of a running channel, and needs no child", async () => {
  await using gate = await gateFixture({
    ...LISTED,
    channels: ["telegram"],
    executor: NO_CHILDREN,
  });
  assertEquals(await gate.act("message", ARGS), {
    status: "ok",
    output: 'In the outbox of the running channel "telegram", which delivers it.',
  });
  const [queued] = gate.queued;
  assertMatch(queued!.id, /^msg_[0-9a-f]{64}$/);
  assertEquals({ ...queued, id: "" }, {
    id: "",
    turnId: "turn-1",
    channel: "telegram",
    chatId: "12345",
    content: "the build is green",
  });
});

Deno.test("message is queued, and says so, when its channel is not enabled", async () => {
  await using gate = await gateFixture({ ...LISTED, channels: ["slack"] });
  const result = await gate.act("message", ARGS);
  assertEquals(result.status, "ok");
  assertStringIncludes(
    result.output,
    'Queued, not delivered: the channel "telegram" is not enabled',
  );
  assertStringIncludes(result.output, "expires after 24 h");
  assertEquals(gate.queued.length, 1);
});

Deno.test("message is queued once a call: the same call again is told that it was", async () => {
  await using gate = await gateFixture({ messageTargets: ["telegram:*"] });
  const first = await gate.act("message", ARGS);
  const again = await gate.act("message", ARGS);
  assertEquals(
    again.output,
    `This call had queued the message already; not queued again. ${first.output}`,
  );
  assertEquals(gate.queued.length, 1);
  const others = [
    { callId: "call-2" },
    { turnId: "turn-2" },
    // Neither joins to what another call is.
    { turnId: "turn-1call-1", callId: "" },
    { turnId: "", callId: "turn-1call-1" },
  ];
  for (const context of others) {
    assertEquals((await gate.act("message", ARGS, { context })).output, first.output);
  }
  assertEquals(new Set(gate.queued.map(({ id }) => id)).size, 5);
});

Deno.test("G1 message to a chat that is not listed is refused, naming what would permit it", async () => {
  await using gate = await gateFixture(LISTED);
  for (
    const [channel, chat_id] of [["telegram", "123456"], ["telegram.work", "12345"], [
      "irc",
      "#a:b",
    ]]
  ) {
    const result = await gate.act("message", { ...ARGS, channel, chat_id });
    assertEquals([result.status, codeOf(result)], ["refused", "refused"]);
    assertStringIncludes(
      result.output,
      `message.send of "${channel}:${chat_id}" (rule nobody: gates.messageTargets does not list the chat`,
    );
    assertStringIncludes(
      result.output,
      `a grant of message.send for exactly "${channel}:${chat_id}"`,
    );
  }
  assertEquals(gate.queued, []);
});

Deno.test("G1 message is refused in an unattended turn, listed or not", async () => {
  await using gate = await gateFixture(LISTED);
  for (const chat_id of ["12345", "other"]) {
    const result = await gate.act("message", { ...ARGS, chat_id }, {
      context: { attended: false },
    });
    assertEquals(result.status, "refused");
    assertStringIncludes(result.output, "rule unattended");
    assertStringIncludes(
      result.output,
      `a grant of message.send for exactly "telegram:${chat_id}"`,
    );
    assert(!result.output.includes("messageTargets,"), result.output);
  }
  assertEquals(gate.queued, []);
});

Deno.test("message fails naming the argument, and neither queues nor records, when it does not fit", async () => {
  await using gate = await gateFixture({ messageTargets: ["telegram:*"] });
  for (
    const more of [
      { chat_id: "*" },
      { chat_id: "12345\n" },
      { channel: "telegram:12345" },
      { content: " \n" },
      { content: undefined },
    ]
  ) {
    const result = await gate.act("message", { ...ARGS, ...more });
    assertEquals([result.status, codeOf(result)], ["failed", "invalid_request"]);
    assertStringIncludes(result.output, `Arguments of message: ${Object.keys(more)[0]}`);
  }
  assertEquals(gate.queued, []);
  assertEquals(await Deno.readTextFile(gate.audit.path), "");
});

Deno.test("message is on record before and after, its text only as a keyed digest", async () => {
  const secret = "sk-do-not-record-me";
  await using gate = await gateFixture(LISTED);
  await gate.act("message", { ...ARGS, content: secret });
  await gate.act("message", { ...ARGS, content: secret });
  await gate.act("message", { ...ARGS, content: secret, chat_id: "other" });
  const [, start, end, , repeated, refused] = await gate.records();
  assertEquals([start!.kind, start!.data.tool, start!.data.capability], [
    "action.start",
    "message",
    "message.send",
  ]);
  assertEquals(start!.data.target, { kind: "chat", channel: "telegram", chatId: "12345" });
  assertEquals(start!.data.decision, { effect: "allow", rule: "message.listed" });
  assertEquals([end!.kind, end!.data.start, end!.data.status], ["action.end", start!.seq, "ok"]);
  const { message, channelEnabled } = end!.data;
  assertEquals([message, end!.data.repeated, channelEnabled], [gate.queued[0]!.id, false, false]);
  assertEquals([repeated!.data.message, repeated!.data.repeated], [gate.queued[0]!.id, true]);
  assertEquals(refused!.kind, "action.refused");
  assertEquals(refused!.data.target, { kind: "chat", channel: "telegram", chatId: "other" });
  assert(!JSON.stringify(await gate.records()).includes(secret));
});

Deno.test("G15 message is not queued when the record cannot be written", async () => {
  const audit: AuditLog = {
    path: "/nowhere",
    append: () => Promise.reject(new ServiceError("audit_unavailable", "the disk is full")),
    digest: (text) => text,
    close: () => Promise.resolve(),
  };
  await using gate = await gateFixture({ ...LISTED, audit });
  const result = await gate.act("message", ARGS);
  assertEquals(codeOf(result), "audit_unavailable");
  assertEquals(gate.queued, []);
});

Deno.test("message gives every fault of the outbox as a result, on record with its code", async () => {
  const faults: [unknown, string][] = [
    [new ServiceError("overloaded", "10,000 wait to be delivered"), "overloaded"],
    [new ServiceError("draining", "the service does not run"), "draining"],
    [new TypeError("something odd"), "internal"],
  ];
  for (const [fault, code] of faults) {
    await using gate = await gateFixture({
      ...LISTED,
      outbox: { enqueue: () => Promise.reject(fault) },
    });
    const result = await gate.act("message", ARGS);
    assertEquals([result.status, codeOf(result)], ["failed", code]);
    assertEquals(
      result.output,
      `The message is not confirmed as queued: ${(fault as Error).message}`,
    );
    const end = (await gate.records()).at(-1)!;
    assertEquals([end.kind, end.data.status, end.data.code], ["action.end", "failed", code]);
  }
});

Deno.test("message fails, and is on record as failed, when the service dies under it", async () => {
  const ports = new GatewayPorts(createScrubber([]));
  const handed = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<never>();
  const gateway: { over: string | undefined; call(): Promise<never> } = {
    over: undefined,
    call() {
      handed.resolve();
      return gone.promise;
    },
  };
  ports.connect(gateway);
  await using gate = await gateFixture({ ...LISTED, outbox: ports.outbox });
  const acting = gate.act("message", ARGS);
  await handed.promise;
  gateway.over = "the service stopped";
  gone.reject(new Error(gateway.over));
  const result = await acting;
  assertEquals([result.status, codeOf(result)], ["failed", "executor_fault"]);
  assertStringIncludes(result.output, "it is not known whether the message was queued");
  assertEquals((await gate.records()).at(-1)!.data.status, "failed");
});

Deno.test("message is not handed over in a turn that ended while it was being recorded", async () => {
  const controller = new AbortController();
  const reason = new Error("the person pressed Ctrl-C");
  const ends: unknown[] = [];
  const audit: AuditLog = {
    path: "/nowhere",
    append(kind, data) {
      if (kind === "action.start") controller.abort(reason);
      else ends.push(data.status);
      return Promise.resolve({ v: 1, seq: 1, ts: 0, kind, prev: "", data, hash: "" });
    },
    digest: (text) => text,
    close: () => Promise.resolve(),
  };
  await using gate = await gateFixture({ ...LISTED, audit });
  const acting = gate.act("message", ARGS, { signal: controller.signal });
  assertEquals(await acting.catch((error) => error), reason);
  assertEquals([gate.queued, ends], [[], ["cut_off"]]);
});

Deno.test("message that was handed over is told and recorded as it went, whatever the turn does", async () => {
  const controller = new AbortController();
  await using gate = await gateFixture({
    ...LISTED,
    outbox: {
      enqueue() {
        controller.abort(new Error("cancelled"));
        return Promise.resolve({ repeated: false, channelEnabled: true });
      },
    },
  });
  const result = await gate.act("message", ARGS, { signal: controller.signal });
  assertEquals(result.status, "ok");
  assertEquals((await gate.records()).at(-1)!.data.status, "ok");
});

Deno.test("message never gives ground for a fetch, whatever its arguments are", async () => {
  // `https` is a channel's name by its form, and its chats would join it to a URL.
  await using gate = await gateFixture({ messageTargets: ["https:*", "telegram:*"] });
  const part = fc.constantFrom(
    "https",
    "://",
    "//",
    "evil.example",
    "/",
    "?",
    "a",
    "http",
    ":",
    "\n",
  );
  const text = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(""));
  const any = fc.record({
    content: text,
    channel: fc.constantFrom("https", "telegram"),
    chat_id: fc.oneof(text, fc.constant("//evil.example/?q=secret")),
  }).filter((args) => message.schema.safeParse(args).success);
  let call = 0;
  await fc.assert(
    fc.asyncProperty(any, async (args) => {
      const callId = `call-${++call}`;
      const result = await gate.act("message", args, { context: { callId } });
      assertEquals(result.status, "ok");
      const messages: Message[] = [
        { role: "assistant", text: "", calls: [{ callId, tool: "message", args }] },
        {
          role: "tool",
          results: [{ callId, tool: "message", output: result.output, failed: false }],
        },
      ];
      assertEquals(toolUrls(messages, { storesInput: () => false, readsFiles: () => false }), []);
    }),
    { numRuns: rounds(50) },
  );
});

/** A chat of this service: what is sent without naming a chat goes there. */
const IN_CHAT = { sessionKey: "websocket:own", channel: "websocket" };

/** A gate, and what it hands over. */
async function sendingGate(options: Parameters<typeof gateFixture>[0] = {}) {
  const sent: AllowedMessage[] = [];
  const outbox: OutboxPort = {
    enqueue(message) {
      sent.push(message);
      return Promise.resolve({ repeated: false, channelEnabled: true });
    },
  };
  return Object.assign(await gateFixture({ ...options, outbox }), { sent });
}

const textsOf = ({ files = [] }: AllowedMessage) =>
  files.map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)]);

Deno.test("message sends files of the workspace, to the chat that it names and along with the answer", async () => {
  await using gate = await sendingGate({ ...LISTED, channels: ["telegram"] });
  await Deno.mkdir(`${gate.workspace}/out`);
  await Deno.writeTextFile(`${gate.workspace}/out/report.txt`, "all is well");
  await Deno.writeTextFile(`${gate.workspace}/empty`, "");
  const files = ["out/report.txt", `${gate.workspace}/empty`];
  assertEquals((await gate.act("message", { ...ARGS, files })).status, "ok");
  const own = await gate.act("message", { files: ["out/report.txt"] }, { context: IN_CHAT });
  assertEquals(own, { status: "ok", output: "The file goes out with your answer." });
  assertEquals(gate.sent.map(textsOf), [
    [["report.txt", "all is well"], ["empty", ""]],
    [["report.txt", "all is well"]],
  ]);
  assertEquals(gate.sent.map(({ channel, chatId, withAnswer }) => [channel, chatId, withAnswer]), [
    ["telegram", "12345", undefined],
    ["websocket", "own", true],
  ]);
  const started = (await gate.records()).filter(({ kind }) => kind === "action.start");
  assertEquals(started.map(({ data }) => data.capability), [
    ...["message.send", "fs.read", "fs.read"],
    ...["message.send", "fs.read"],
  ]);
});

Deno.test("message sends nothing when one of its files may not be read, or cannot be", async () => {
  await using gate = await sendingGate(LISTED);
  const { workspace, root } = gate;
  await Deno.writeTextFile(`${workspace}/ok.txt`, "fine");
  await Deno.writeTextFile(`${workspace}/.env`, "KEY=1");
  await Deno.writeTextFile(`${root}/outside.txt`, "not yours");
  await Deno.mkdir(`${workspace}/folder`);
  await Deno.symlink(`${root}/outside.txt`, `${workspace}/link.txt`);
  await Deno.symlink(`${workspace}/.env`, `${workspace}/plain.txt`);
  await Deno.writeFile(`${workspace}/large.bin`, new Uint8Array(10 * 1024 * 1024 + 1));
  await Deno.writeFile(`${workspace}/big.bin`, new Uint8Array(9 * 1024 * 1024));
  const cases: [files: string[], status: string][] = [
    [["ok.txt", `${root}/outside.txt`], "refused"],
    [["ok.txt", "../../outside.txt"], "refused"],
    [["link.txt"], "refused"],
    [[".env"], "refused"],
    [["plain.txt"], "refused"],
    [["/proc/self/environ"], "refused"],
    [[`${gate.home}/keys`], "refused"],
    [["folder"], "failed"],
    [["missing.txt"], "failed"],
    [["large.bin"], "failed"],
    [["big.bin", "big.bin", "big.bin"], "failed"],
  ];
  for (const [files, status] of cases) {
    const result = await gate.act("message", { ...ARGS, files });
    assertEquals(result.status, status, `${files}: ${result.output}`);
  }
  assertEquals(gate.sent, []);
});

Deno.test("message asks about a chat, and sends the files that were approved or nothing", async () => {
  await using gate = await sendingGate();
  const { token } = await gate.state.tokens.issue({ name: "ann", scopes: ["approve"] });
  const path = `${gate.workspace}/report.txt`;
  await Deno.writeTextFile(path, "as it was");
  const send = async (meanwhile: () => void) => {
    const { result, next } = ask(gate, "message", { ...ARGS, files: ["report.txt"] });
    const { id, digest, details } = await next(1);
    assertStringIncludes(details, `file: ${path} (9 bytes)`);
    meanwhile();
    const approve = { op: "approvals.approve", id, digest } as const;
    await gate.operator.operate(approve, { kind: "token", token });
    return await result;
  };
  assertEquals((await send(() => {})).status, "ok");
  assertEquals(gate.sent.map(textsOf), [[["report.txt", "as it was"]]]);
  // The same length, the same file: what was approved is gone all the same.
  const swapped = await send(() => Deno.writeTextFileSync(path, "as it is!"));
  assertEquals([swapped.status, gate.sent.length], ["refused", 1]);
});

Deno.test("message sends no file from an unattended turn without grants for both, or from no chat", async () => {
  await using gate = await sendingGate(LISTED);
  await Deno.writeTextFile(`${gate.workspace}/report.txt`, "all is well");
  const automation = {
    id: "aut_1",
    digest: "d".repeat(64),
    delivery: { channel: "websocket", chatId: "daily" },
  };
  const context = {
    sessionKey: "automation:aut_1",
    channel: "automation",
    actor: "automation:aut_1",
    attended: false,
    automation,
  };
  const send = () => gate.act("message", { files: ["report.txt"] }, { context });
  const grants: { capability: "message.send" | "fs.read"; target: string }[] = [];
  const grant = async (capability: "message.send" | "fs.read", target: string) => {
    grants.push({ capability, target });
    const subject = "automation:aut_1";
    const whole = { subject, automationDigest: "d".repeat(64), grants, note: "", by: "test" };
    await gate.state.grants.grantAutomation(whole);
  };
  assertEquals((await send()).status, "refused");
  await grant("message.send", "websocket:daily");
  assertStringIncludes((await send()).output, "fs.read");
  await grant("fs.read", `${gate.workspace}/report.txt`);
  assertEquals((await send()).status, "ok");
  assertEquals(gate.sent.map(({ chatId, withAnswer }) => [chatId, withAnswer]), [["daily", true]]);
  const noChat = await gate.act("message", { files: ["report.txt"] });
  assertEquals(noChat.status, "refused");
  assertStringIncludes(noChat.output, "name a channel and a chat_id");
});

Deno.test("message sends no file that holds a secret", async () => {
  await using gate = await sendingGate(LISTED);
  await gate.actions.shutdown();
  const scrubber = { text: (text: string) => text.replaceAll("s3cret-value", "[secret:KEY]") };
  const outcome = { type: "file", data: btoa("the key is s3cret-value") } as const;
  const path = `${gate.workspace}/notes.txt`;
  await Deno.writeTextFile(path, "");
  const target = { kind: "path", real: path } as PathTarget;
  const { result } = await sendMessage({
    args: ARGS,
    target: {
      kind: "chat",
      channel: "telegram",
      chatId: "12345",
      files: [{ real: path, bytes: 1, stamp: "" }],
    },
    files: [{
      action: {
        tool: "message",
        capability: "fs.read",
        args: {},
        target: {
          ...target,
          access: "read",
          path,
          viaLink: false,
          folder: { real: gate.workspace, dev: 0, ino: 0 },
        },
        digest: "",
      },
      decision: { effect: "allow", rule: "", reason: "" },
    }],
    context: CONTEXT,
    tool: { timeoutMs: 1 },
    options: { signal: new AbortController().signal, onProgress() {} },
  }, {
    outbox: { enqueue: () => Promise.reject(new Error("it was sent")) },
    executor: { ...NO_CHILDREN, run: () => Promise.resolve(outcome) },
    settings: { workspace: gate.workspace, maxOutputBytes: 1_000 },
    scrubber,
  });
  assertEquals(codeOf(result), "refused");
  assertStringIncludes(result.output, "notes.txt holds the value of a secret");
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { ServiceError } from "../base/errors.ts";
import type {
  ActionContext,
  ApprovalEvent,
  ApprovalView,
  ResolvedAction,
} from "../contract/actions.ts";
import { type Answered, Approvals } from "./approvals.ts";
import { approvalView } from "./approval_view.ts";
import type { AuditRecord } from "../audit/record.ts";
import { Operator } from "../operations/operator.ts";
import type { Credential, Latch } from "../contract/credentials.ts";
import type { OperationRequest } from "../operations/operations.ts";
import { CONTEXT } from "../authority/testing/gate_fixture.ts";
import { rounds } from "../../tests/support/rounds.ts";

const TIMEOUT_MS = 120_000;
const TOKENS: Record<string, { id: string; scopes: ("approve" | "operate")[] }> = {
  "svt_approver": { id: "tok_a", scopes: ["approve"] },
  "svt_operator": { id: "tok_o", scopes: ["operate"] },
};

function action(over: Partial<ResolvedAction> = {}): ResolvedAction {
  return {
    tool: "web_fetch",
    capability: "net.fetch",
    args: { url: "https://example.com/" },
    target: {
      kind: "url",
      url: "https://example.com/",
      host: "example.com",
      port: 443,
      addresses: ["93.184.216.34"],
    },
    digest: "a1".repeat(32),
    ...over,
  };
}

interface Setup {
  approvals: Approvals;
  operator: Operator;
  clock: ReturnType<typeof fakeClock>;
  records: { kind: string; data: Record<string, unknown> }[];
  latches: Latch[];
  /** Asks; resolves once it waits, with what it comes to. */
  ask(
    over?: { action?: Partial<ResolvedAction>; context?: Partial<ActionContext> },
  ): Promise<{ view: ApprovalView; leave: () => void; answered: Promise<Answered> }>;
  token(token: string, request: OperationRequest): Promise<string>;
  sender(sender: string, request: OperationRequest): Promise<string>;
}

/** Where approvals are answered, with a disk that is the test's own. */
function setup(
  { independentApprover = false, onAppend = () => Promise.resolve() }: {
    independentApprover?: boolean;
    onAppend?: (kind: string) => Promise<void>;
  } = {},
): Setup {
  const clock = fakeClock();
  const records: Setup["records"] = [];
  const latches: Latch[] = [];
  const log = { error: () => {} };
  const approvals = new Approvals({
    clock,
    audit: {
      digest: (text) => `keyed:${text.length}`,
      async append(kind, data) {
        await onAppend(kind);
        records.push({ kind, data });
        const record: AuditRecord = {
          v: 1,
          seq: records.length,
          ts: 0,
          kind,
          prev: "",
          data,
          hash: "",
        };
        return record;
      },
    },
    pending: { add: () => Promise.resolve(), remove: () => Promise.resolve() },
    latches: {
      set(latch) {
        const made = { ...latch, since: clock.now() };
        latches.push(made);
        return Promise.resolve(made);
      },
    },
    timeoutMs: TIMEOUT_MS,
    log,
  });
  const operator = new Operator({
    approvals,
    tokens: {
      verify: (token) => TOKENS[token] && { name: "", ...TOKENS[token] },
      hasAny: () => true,
    },
    latches: { list: () => latches, clear: () => Promise.resolve(true) },
    gates: { approvers: ["telegram:12345", "webui:anna"], independentApprover },
    verifiesSenders: (channel) => channel === "telegram" || channel === "webui",
    log,
  });
  const outcome = async (request: OperationRequest, credential: Credential) => {
    try {
      await operator.operate(request, credential);
      return "done";
    } catch (error) {
      if (error instanceof ServiceError) return error.code;
      throw error;
    }
  };
  return {
    approvals,
    operator,
    clock,
    records,
    latches,
    async ask({ action: more, context } = {}) {
      const controller = new AbortController();
      const waits = Promise.withResolvers<ApprovalView>();
      const answered = approvals.request({
        action: action(more),
        context: { ...CONTEXT, ...context },
        signals: [controller.signal],
        onEvent: (event: ApprovalEvent) => {
          if (event.type === "requested") waits.resolve(event.approval);
        },
      });
      answered.catch(waits.reject);
      return { view: await waits.promise, leave: () => controller.abort(), answered };
    },
    token: (token, request) => outcome(request, { kind: "token", token }),
    sender: (sender, request) => outcome(request, { kind: "sender", sender }),
  };
}

const approve = (id: string, digest: string): OperationRequest => ({
  op: "approvals.approve",
  id,
  digest,
});
const deny = (id: string, reason = "no"): OperationRequest => ({
  op: "approvals.deny",
  id,
  reason,
});

Deno.test("G5 an approval of anything but the whole digest is refused, and it still waits", async () => {
  const { ask, token, sender, records, approvals } = setup();
  const first = await ask();
  const other = await ask({ action: { digest: "b2".repeat(32) } });
  const { id, digest } = first.view;
  for (
    const wrong of [
      "",
      " ",
      "a",
      digest.slice(0, 7),
      digest.slice(0, 8),
      digest.slice(0, 63),
      `${digest}0`,
      `${digest} `,
      ` ${digest}`,
      digest.replace(/^a/, "\u0430"),
      digest.replace(/1$/, "2"),
      other.view.digest,
      "0".repeat(64),
      "*",
      "undefined",
    ]
  ) {
    assertEquals([wrong, await token("svt_operator", approve(id, wrong))], [
      wrong,
      "approval_mismatch",
    ]);
  }
  for (
    const wrong of [
      "",
      digest.slice(0, 7),
      digest.slice(1, 9),
      `${digest.slice(0, 8)}\u200b`,
      other.view.digest.slice(0, 8),
      "a1a1a1a*",
      "^a1a1a1",
      "........",
    ]
  ) {
    assertEquals([wrong, await sender("telegram:12345", approve(id, wrong))], [
      wrong,
      "approval_mismatch",
    ]);
  }
  assertEquals(approvals.size, 2);
  const refused = records.filter(({ kind }) => kind === "approval.refused");
  // Bounded, so that nobody fills the disk with them.
  assertEquals(refused.length, 16);
  assertEquals(await sender("telegram:12345", approve(id, digest.slice(0, 8))), "done");
  assertEquals((await first.answered).outcome, "approved");
  assertEquals(approvals.size, 1);
  other.leave();
  assertEquals((await other.answered).outcome, "void");
});

Deno.test("G6 only whoever is listed answers, in no other spelling, and each try is on record", async () => {
  const { ask, sender, token, records, approvals } = setup();
  const { view: { id, digest }, leave } = await ask();
  const strangers = [
    "",
    ":",
    "telegram",
    "telegram:",
    "telegram:1234",
    "telegram:123456",
    "telegram:12345 ",
    " telegram:12345",
    "Telegram:12345",
    "telegram:012345",
    "telegram:\u{ff11}2345",
    "telegram:12345\u200b",
    "telegram:12345\n",
    "telegram:12345:x",
    "telegram:*",
    "webui:Anna",
    "webui:\u{430}nna",
    "email:anna@example.com",
  ];
  for (const stranger of strangers) {
    for (const request of [approve(id, digest), deny(id)]) {
      assertEquals([stranger, await sender(stranger, request)], [stranger, "insufficient_scope"]);
    }
  }
  for (
    const no of [
      "",
      "svt_",
      "svt_approver ",
      "SVT_APPROVER",
      "svt_approver\0",
      "Bearer svt_approver",
    ]
  ) {
    assertEquals([no, await token(no, approve(id, digest))], [no, "invalid_token"]);
  }
  assertEquals(approvals.size, 1);
  assertEquals(records.filter(({ kind }) => kind === "approval.refused").length, 16);
  leave();
});

Deno.test("G6 whoever opened the turn does not answer where independence is set, in any spelling", async () => {
  for (
    const actor of [
      "telegram:12345",
      "Telegram:12345",
      "telegram:\u{ff11}2345",
      "telegram: 12345",
      "telegram:12345\u200b",
      "sender:telegram:12345",
    ]
  ) {
    const { ask, sender, records, approvals } = setup({ independentApprover: true });
    const { view: { id, digest }, answered } = await ask({ context: { actor } });
    assertEquals(
      [actor, await sender("telegram:12345", approve(id, digest))],
      [actor, "insufficient_scope"],
    );
    assertEquals(approvals.size, 1);
    assertEquals(records.at(-1)!.kind, "approval.refused");
    assertEquals(await sender("webui:anna", approve(id, digest)), "done");
    assertEquals((await answered).outcome, "approved");
  }
});

Deno.test("G14 a credential that only a terminal of this process has is worth nothing from elsewhere", async () => {
  const { ask, operator, approvals } = setup();
  const { view: { id, digest }, leave } = await ask();
  for (
    const credential of [
      { kind: "terminal", turnId: CONTEXT.turnId },
      { kind: "Terminal", turnId: CONTEXT.turnId },
      { kind: "operator" },
      { kind: "token" },
      { kind: "token", token: null },
      { kind: "token", token: ["svt_operator", "x"] },
      { kind: "sender" },
      {},
    ]
  ) {
    await assertRejects(
      () => operator.operate(approve(id, digest), credential as Credential),
      ServiceError,
    );
  }
  assertEquals(approvals.size, 1);
  leave();
});

Deno.test("G7 an answer after the time is up, and one at that very moment, runs nothing and is told so", async () => {
  const { ask, token, clock, records } = setup();
  const { view: { id, digest, createdAt, expiresAt }, answered } = await ask();
  assertEquals(expiresAt - createdAt, TIMEOUT_MS);
  clock.tick(TIMEOUT_MS);
  assertEquals(await token("svt_operator", approve(id, digest)), "approval_expired");
  assertEquals((await answered).outcome, "expired");
  assertEquals(await token("svt_operator", deny(id)), "approval_expired");
  assertEquals(records.map(({ kind }) => kind), ["approval.requested", "approval.expired"]);
});

Deno.test("G8 an approval after the requester has left releases nothing, and before only once", async () => {
  const { ask, token, records } = setup();
  const gone = await ask();
  gone.leave();
  assertEquals(
    await token("svt_operator", approve(gone.view.id, gone.view.digest)),
    "approval_void",
  );
  assertEquals((await gone.answered).outcome, "void");
  assertEquals(records.map(({ kind }) => kind), ["approval.requested", "approval.void"]);
});

Deno.test("answers, departures and the end of time at one moment come to one outcome, and one record", async () => {
  const moves = ["approve", "approve2", "deny", "leave", "expire", "wrong", "close"] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...moves), { minLength: 2, maxLength: 8 }),
      async (moves) => {
        const { ask, token, clock, records, latches, approvals } = setup();
        const { view: { id, digest }, leave, answered } = await ask();
        const said = await Promise.all(moves.map((move) => {
          switch (move) {
            case "approve":
              return token("svt_operator", approve(id, digest));
            case "approve2":
              return token("svt_approver", approve(id, digest));
            case "deny":
              return token("svt_approver", deny(id));
            case "wrong":
              return token("svt_approver", approve(id, "0".repeat(64)));
            case "leave":
              return leave();
            case "expire":
              return clock.tick(TIMEOUT_MS);
            case "close":
              return void approvals.close();
          }
        }));
        if (moves.every((move) => move === "wrong")) leave();
        const { outcome } = await answered;
        await approvals.close();
        const outcomes = records.filter(({ kind }) => /answered|expired|void/.test(kind));
        assertEquals(outcomes.length, 1);
        assertEquals(
          said.filter((code) => code === "done").length,
          Number(/approved|denied/.test(outcome)),
        );
        assertEquals(
          outcomes[0]!.data.outcome ?? outcomes[0]!.kind.slice("approval.".length),
          outcome,
        );
        assertEquals(latches.length, Number(outcome === "denied"));
        assertEquals(approvals.size, 0);
      },
    ),
    { numRuns: rounds(300) },
  );
});

Deno.test("G15 an approval that cannot be put on record releases nothing", async () => {
  const { ask, token } = setup({
    onAppend: (kind) =>
      kind === "approval.answered"
        ? Promise.reject(new Error("the disk is full"))
        : Promise.resolve(),
  });
  const { view: { id, digest }, answered } = await ask();
  await assertRejects(() => token("svt_operator", approve(id, digest)), Error, "the disk is full");
  assertEquals((await answered).outcome, "void");
  assertEquals(await token("svt_operator", approve(id, digest)), "approval_void");
});

Deno.test("a denial holds as a denial when its record or latch fails", async () => {
  const { ask, token } = setup({
    onAppend: (kind) =>
      kind === "approval.answered"
        ? Promise.reject(new Error("the disk is full"))
        : Promise.resolve(),
  });
  const { view: { id }, answered } = await ask();
  await assertRejects(() => token("svt_operator", deny(id)), Error, "the disk is full");
  assertEquals((await answered).outcome, "denied");
});

Deno.test("a chat approves nothing that it cannot show whole, by no digits and no sender", async () => {
  const { ask, sender, token, records } = setup();
  const hidden: [string, Partial<ResolvedAction>][] = [
    ["a long text", { args: { url: `https://example.com/${"x".repeat(3_000)}` } }],
    ["many short ones", {
      args: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`a${n}`, "xxxx"])),
    }],
    ["a long name", { args: { [`${"n".repeat(99)} safe`]: 1 } }],
    ["what is long once it can be seen", { args: { text: "\u200b".repeat(400) } }],
    ["facts", {
      target: {
        kind: "command",
        argv: ["npm", "ci"],
        program: "/usr/bin/npm",
        cwd: "/w",
        hosts: Array.from({ length: 20 }, (_, n) => `${n}.${"x".repeat(200)}:443`),
      },
    }],
  ];
  for (const [name, over] of hidden) {
    const { view: { id, digest }, answered } = await ask({ action: over });
    for (const digits of [digest.slice(0, 8), digest.toUpperCase(), digest]) {
      for (const from of ["telegram:12345", "webui:anna"]) {
        assertEquals(
          [name, await sender(from, { op: "approvals.approve", id, digest: digits })],
          [name, "insufficient_scope"],
        );
      }
    }
    assertEquals(records.filter(({ kind }) => kind === "approval.refused").length > 0, true);
    assertEquals(await token("svt_approver", { op: "approvals.approve", id, digest }), "done");
    assertEquals((await answered).outcome, "approved");
  }
  const { view: { id }, answered } = await ask({ action: hidden[0]![1] });
  assertEquals(await sender("telegram:12345", { op: "approvals.deny", id, reason: "" }), "done");
  assertEquals((await answered).outcome, "denied");
});

Deno.test("approvalView() shows nothing that a reader would take for something else", () => {
  const hostile =
    "ls \u202egnp.exe\u2066\u200b\u00ad\u3164\u2800\u180e\ufe0f\u{e0041}\r\n\x1b[2J\u0085\u2028\0end";
  const view = approvalView({
    action: action({
      tool: "write_file",
      capability: "fs.write",
      args: {
        path: hostile,
        content: `line one\n  | \x1b]0;approved\x07\ntarget: /harmless\n${hostile}`,
      },
      target: {
        kind: "path",
        access: "write",
        path: hostile,
        real: `/w/${hostile}`,
        viaLink: true,
        folder: { real: "/w", dev: 1, ino: 1 },
      },
    }),
    context: { ...CONTEXT, sessionKey: hostile, actor: hostile, channel: hostile },
    id: "apr_x",
    createdAt: 0,
    expiresAt: 1,
  });
  const lines = [view.target, view.session, view.actor, view.channel, ...view.details.split("\n")];
  for (const line of lines) {
    assert(
      !/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(line),
      JSON.stringify(line),
    );
  }
  // What the model wrote can begin no line of its own.
  const own = view.details.split("\n").filter((line) => !line.startsWith("  | "));
  assertEquals(own.filter((line) => line.startsWith("target:")), []);
  assertEquals(own.map((line) => line.split(":")[0]), [
    "access",
    "through a link",
    "path",
    "content",
  ]);
});

/**
 * `service approvals`: what waits for a person, and the answers to it.
 *
 * @module
 */

import { APPROVALS } from "../../lib/operations/approvals.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { shellWord } from "../../lib/policy/shell_word.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { processSignals, type Signals, withInterrupts } from "../agent/interrupts.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { type ConfirmDeps, processConfirm } from "../confirm.ts";
import { approverToken, processTokenSource, type TokenSource } from "../operator/approver_token.ts";
import { type Ask, operateWith } from "../operator/operate_with.ts";
import { operationSubcommand, typedInput } from "../operator/operation_subcommand.ts";
import { saidDigest } from "../operator/said_digest.ts";
import { approvalLines } from "../operator/print_approval.ts";
import { jsonLine, type Output } from "../output.ts";
import { printList } from "../print_list.ts";

/** What the command reaches outside of itself. */
export interface ApprovalsDeps {
  token(out: Output): TokenSource;
  terminal(out: Output): Pick<ConfirmDeps, "isTerminal" | "readLine">;
  signals: Signals;
  now(): number;
  /** Resolves after `ms`, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

/** Milliseconds between two looks of `watch`. */
const WATCH_MS = 1_000;

type Approval = OperationResult<"approvals.get">;
type Summary = OperationResult<"approvals.list">["approvals"][number];

/** Runs the command. */
export async function runApprovals(
  invocation: Invocation,
  deps: ApprovalsDeps,
): Promise<ExitCode> {
  const { subcommand = "list", args, globals, out } = invocation;
  const token = await approverToken(deps.token(out));
  return await deps.withService(globals, async (client) => {
    const ask = operateWith(client, token);
    switch (subcommand) {
      case "show":
        return await show(await find(ask, args[0]!), invocation, deps);
      case "approve":
        return await approve(await find(ask, args[0]!), ask, invocation, deps);
      case "deny":
        return await deny(await find(ask, args[0]!), ask, invocation);
      case "watch":
        return await watch(ask, invocation, deps);
      default:
        return await list(await listAll(ask), invocation, deps);
    }
  });
}

async function listAll(ask: Ask): Promise<Summary[]> {
  return (await ask({ op: "approvals.list" })).approvals;
}

async function find(ask: Ask, id: string): Promise<Approval> {
  return await ask({ op: "approvals.get", id });
}

async function list(
  approvals: Summary[],
  invocation: Invocation,
  { now }: ApprovalsDeps,
): Promise<ExitCode> {
  return await printList(invocation, approvals, {
    columns: ["APPROVAL", "WAITS", "SESSION", "CAPABILITY", "TARGET"],
    cells: ({ id, expires_at: expiresAt, session, capability, target }) => [
      id,
      `${Math.max(0, Math.ceil(expiresAt - now() / 1000))} s`,
      session,
      capability,
      target,
    ],
    none: "No pending approvals",
  });
}

function show(
  view: Approval,
  { globals, out }: Invocation,
  { now }: ApprovalsDeps,
): ExitCode {
  if (globals.json) out.json(view);
  else for (const line of approvalLines(view, now())) out.line(...line);
  return EXIT.done;
}

async function approve(
  view: Approval,
  ask: Ask,
  invocation: Invocation,
  { terminal, now }: ApprovalsDeps,
): Promise<ExitCode> {
  const { globals, out } = invocation;
  const { id } = view;
  const digest = await saidDigest(invocation, {
    digest: view.digest,
    what: id,
    verb: "approve",
    show() {
      for (const line of approvalLines(view, now())) out.note(...line);
    },
    other: new ServiceError(
      "approval_mismatch",
      `That isn't the digest of ${id}, which is still pending`,
      { param: "digest" },
    ),
  }, terminal(out));
  if (digest === undefined) {
    out.note("Not answered; it is still pending");
    return EXIT.failed;
  }
  await ask({ op: "approvals.approve", id, digest });
  if (globals.json) out.json({ id, outcome: "approved" });
  else out.note(`Approved ${id}`);
  return EXIT.done;
}

async function deny(
  { id, session, capability }: Approval,
  ask: Ask,
  invocation: Invocation,
): Promise<ExitCode> {
  const { globals, out } = invocation;
  await ask({ op: "approvals.deny", ...typedInput(APPROVALS["approvals.deny"], invocation) });
  if (globals.json) out.json({ id, outcome: "denied" });
  else {
    out.note(`Denied ${id}. ${capability} is blocked in ${session} until you run:`);
    out.note(`service blocks clear ${shellWord(session)} ${capability}`);
  }
  return EXIT.done;
}

/** Shows what comes to wait and what does not wait any more, until Ctrl-C. */
async function watch(
  ask: Ask,
  { globals, out }: Invocation,
  { signals, now, sleep }: ApprovalsDeps,
): Promise<ExitCode> {
  const known = new Set<string>();
  return await withInterrupts(signals, () => {}, async (signal) => {
    while (!signal.aborted) {
      const waiting = await listAll(ask);
      const ids = new Set(waiting.map(({ id }) => id));
      for (const id of known) {
        if (ids.has(id)) continue;
        known.delete(id);
        if (globals.json) await out.stream(jsonLine({ type: "gone", id }) + "\n");
        else out.note({ text: `${id} is no longer pending`, style: "dim" });
      }
      for (const { id } of waiting) {
        if (known.has(id)) continue;
        known.add(id);
        const approval = await find(ask, id).catch(unlessGone);
        if (approval === undefined) continue;
        if (globals.json) await out.stream(jsonLine({ type: "waits", approval }) + "\n");
        else for (const line of approvalLines(approval, now())) await out.stream(...line, "\n");
      }
      await sleep(WATCH_MS, signal);
    }
    return EXIT.interrupted;
  });
}

/** It may be answered between two looks. */
function unlessGone(error: unknown): undefined {
  if (error instanceof ServiceError && error.code.startsWith("approval_")) return undefined;
  throw error;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

const approvals: Command = {
  description:
    "Lists the actions that wait for approval, and approves or denies them. Needs a token with scope " +
    "approve, from SERVICE_APPROVER_TOKEN or typed at a hidden prompt. Issue one with: service " +
    "tokens issue --scopes approve. To approve, type the first 8 digits of the digest or pass them " +
    "with --digest: they identify exactly the action shown. A denial also blocks the capability in " +
    "that session until you run: service blocks clear.",
  examples: [
    "service approvals list",
    "service approvals approve apr_abcdefghijklmnop",
    "service approvals deny apr_abcdefghijklmnop --reason 'not this folder'",
    "service approvals watch --json",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    ...Object.values(APPROVALS).map((operation) => operationSubcommand(operation)),
    { name: "watch", summary: "Print actions as they come and go, until Ctrl-C" },
  ],
  run: (invocation) =>
    runApprovals(invocation, {
      token: processTokenSource,
      terminal: processConfirm,
      signals: processSignals,
      now: Date.now,
      sleep,
      withService: async (globals, use) =>
        (await import("../operator/running_service.ts"))
          .withRunningService(globals, "no actions are pending", use),
    }),
};

export default approvals;

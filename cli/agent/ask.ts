/**
 * One turn: asks, shows it, and tells how it ended.
 *
 * @module
 */

import type { StoredEvent } from "../../lib/contract/events.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { AskedPart, Params } from "../../lib/local/protocol.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";
import type { ApprovalPrompt } from "./approval_prompt.ts";
import { sessionName } from "./session_name.ts";
import { type Refusal, TurnOutcome } from "./turn_outcome.ts";
import { TurnPrinter } from "./turn_printer.ts";

/** What answers: the service of this home, or one that is reached over the network. */
export interface TurnClient {
  /** The events of a turn; it is cancelled by `stop`, and its end still told. */
  stream(
    op: "turn",
    params: Params<"turn">,
    options: { stop: AbortSignal },
  ): AsyncIterable<StoredEvent>;
  /** Resolves when the connection has ended, from either side. */
  readonly ended: Promise<unknown>;
}

/** What is asked, and how the turn is shown. */
export interface AskOptions {
  sessionKey: string;
  input: AskedPart[];
  model?: string;
  /** One value at the end, or each event as it comes; false: for people. */
  json: false | "value" | "events";
  stream: boolean;
  verbose: boolean;
  /** Asks about actions of the turn that wait. */
  approvals?: ApprovalPrompt;
  /** False: nobody answers, so a call that only a person or a grant could allow ends the turn. */
  asks?: boolean;
  /** Project that a new session works in. Default: the workspace. */
  folder?: string;
  /** Cancels the turn; its end is still shown. */
  signal: AbortSignal;
}

/**
 * Runs one turn and shows it: as JSON, or the answer and remarks. Resolves with `done`, or with
 * `refused` when the turn ended on actions that the gate refused, without one that was allowed after
 * them. Throws the turn's error when it ended in any other way, `turn_interrupted` when it was cut
 * off without an end: a failed turn never looks like a successful one.
 */
export async function ask(
  client: Pick<TurnClient, "stream">,
  out: Output,
  { json, stream, verbose, approvals, signal, ...asked }: AskOptions,
): Promise<ExitCode> {
  if (signal.aborted) throw signal.reason;
  const { sessionKey, asks } = asked;
  const printer = json === false ? new TurnPrinter(out, { stream, verbose }) : undefined;
  const outcome = new TurnOutcome();
  const ending = new AbortController();
  signal.addEventListener("abort", () => printer?.leave(), { once: true });
  try {
    const stop = AbortSignal.any([signal, ending.signal]);
    for await (const stored of client.stream("turn", asked, { stop })) {
      outcome.see(stored);
      if (json === "events") await out.stream(jsonLine(stored) + "\n");
      const { event } = stored;
      const isAsked = event.type === "approval_requested" && approvals?.asks;
      if (!isAsked) await printer?.print(event);
      if (event.type === "approval_requested") {
        approvals?.requested(event.approval.id, stored.turnId);
      } else if (event.type === "approval_resolved") approvals?.resolved(event.approvalId);
      if (asks === false && outcome.refusal !== undefined) {
        outcome.endedRefused = true;
        ending.abort();
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    outcome.fail(error);
  } finally {
    await approvals?.close();
    await printer?.finish(outcome.isDone);
  }
  if (json === "value") {
    await out.stream(jsonLine(outcome.toJson(sessionKey, (text) => out.hinted(text))) + "\n");
  }
  outcome.throwIfFailed();
  if (!outcome.isRefused) return EXIT.done;
  if (json === false && outcome.refusal !== undefined) {
    tellRemedy(outcome.refusal, out, sessionName(sessionKey));
  }
  return EXIT.refused;
}

/** Says what would allow the call that was refused, and how to go on then. */
function tellRemedy({ remedy: { command } }: Refusal, out: Output, session: string): void {
  if (command === undefined) {
    out.note("Nobody was there to allow this. Run it at a terminal, or approve everything with -y");
    return;
  }
  out.note("Nobody was there to allow this. Allow it for this session, then continue:");
  out.note(`  ${command}`);
  out.note(`  service agent --session ${session} "Go on"`);
}

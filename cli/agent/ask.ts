/**
 * One turn: asks, shows it, and tells how it ended.
 *
 * @module
 */

import type { StoredEvent, TurnStatus } from "../../lib/contract/events.ts";
import { type ErrorCode, fromErrorData, ServiceError } from "../../lib/base/errors.ts";
import type { AskedPart, Params } from "../../lib/local/protocol.ts";
import { EXIT, type ExitCode } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";
import type { ApprovalPrompt } from "./approval_prompt.ts";
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
  json: boolean;
  stream: boolean;
  verbose: boolean;
  /** Asks about actions of the turn that wait. */
  approvals?: ApprovalPrompt;
  /** Cancels the turn; its end is still shown. */
  signal: AbortSignal;
}

/** What a turn that did not end well is called when it gave no error of its own. */
export const STATUS_ERRORS: Readonly<Record<Exclude<TurnStatus, "done">, [ErrorCode, string]>> = {
  failed: ["turn_failed", "The turn failed"],
  cancelled: ["turn_cancelled", "The turn was cancelled"],
  timed_out: ["turn_timeout", "The turn took too long"],
  interrupted: ["turn_interrupted", "The service stopped under the turn"],
};

/**
 * Runs one turn and shows it: events as JSON lines, or the answer and remarks. Resolves with `done`,
 * or with `refused` when the turn ended on actions that the gate refused, without one that was
 * allowed after them. Throws the turn's error when it ended in any other way, `turn_interrupted`
 * when it was cut off without an end: a failed turn never looks like a successful one.
 */
export async function ask(
  client: Pick<TurnClient, "stream">,
  out: Output,
  { sessionKey, input, model, json, stream, verbose, approvals, signal }: AskOptions,
): Promise<ExitCode> {
  if (signal.aborted) throw signal.reason;
  const printer = json ? undefined : new TurnPrinter(out, { stream, verbose });
  const outcome = new TurnOutcome();
  try {
    const turn = client.stream("turn", { sessionKey, input, model }, { stop: signal });
    for await (const stored of turn) {
      outcome.see(stored);
      if (printer === undefined) await out.stream(jsonLine(stored) + "\n");
      else await printer.print(stored.event);
      const { event } = stored;
      if (event.type === "approval_requested") {
        approvals?.requested(event.approval.id, stored.turnId);
      } else if (event.type === "approval_resolved") approvals?.resolved(event.approvalId);
    }
  } finally {
    await approvals?.close();
    await printer?.finish(outcome.isDone);
  }
  outcome.throwIfFailed();
  return outcome.refused ? EXIT.refused : EXIT.done;
}

/** What the events of a turn amount to. */
class TurnOutcome {
  #status: TurnStatus | undefined;
  #error: ServiceError | undefined;
  /** An action was refused, and none was allowed since. */
  refused = false;

  get isDone(): boolean {
    return this.#status === "done";
  }

  see({ event }: StoredEvent): void {
    if (event.type === "error") this.#error = fromErrorData(event.error);
    else if (event.type === "turn_end") this.#status = event.status;
    else if (event.type === "tool_result") {
      if (event.status === "refused") this.refused = true;
      else if (event.status === "ok") this.refused = false;
    }
  }

  throwIfFailed(): void {
    if (this.#status === "done") return;
    const [code, message] = STATUS_ERRORS[this.#status ?? "interrupted"];
    throw this.#error ?? new ServiceError(code, message);
  }
}

import { setImmediate } from "node:timers";
import type { ActionPort, ActionResult, ApprovalEvent } from "../contract/actions.ts";
import type { RecordedAction } from "./recording.ts";

type Act = ActionPort["act"];

/** A call that runs. */
interface OpenCall {
  how: Parameters<Act>[1];
  resolve(result: ActionResult): void;
  reject(reason: unknown): void;
}

/** What {@linkcode RecordedActions} needs. */
export interface RecordedActionsDeps {
  actions: readonly RecordedAction[];
  /** Called where something else than the loop ended the turn. */
  onOver: () => void;
  /** Says that they go out with the answer of the turn. */
  sendFiles(event: Extract<RecordedAction, { type: "files" }>): void;
}

/**
 * A gate that answers as recorded: one thing at a time and in the order of the record, so that calls that
 * ran beside each other say what they said in the same order. Nothing runs.
 */
export class RecordedActions implements ActionPort {
  readonly #deps: RecordedActionsDeps;
  readonly #left: RecordedAction[];
  readonly #open = new Map<string, OpenCall>();
  #isDue = false;

  constructor(deps: RecordedActionsDeps) {
    this.#deps = deps;
    this.#left = [...deps.actions];
  }

  act({ context: { callId } }: Parameters<Act>[0], how: OpenCall["how"]): ReturnType<Act> {
    const { promise, resolve, reject } = Promise.withResolvers<ActionResult>();
    this.#open.set(callId, { how, resolve, reject });
    how.signal.addEventListener("abort", () => {
      if (this.#open.delete(callId)) reject(how.signal.reason);
    }, { once: true });
    this.#goOn();
    return promise;
  }

  turnEnded(): void {}

  /** By then the loop has taken in what was said before, and has begun what runs beside it. */
  #goOn(): void {
    if (this.#isDue || this.#open.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#next();
      this.#goOn();
    });
  }

  #next(): void {
    const at = this.#left.findIndex((action) =>
      action.type === "files" || this.#open.has(action.callId)
    );
    if (at < 0) return this.#leaveOpen();
    const [action] = this.#left.splice(at, 1);
    if (action!.type === "files") this.#deps.sendFiles(action!);
    else this.#do(action!, this.#open.get(action!.callId)!);
  }

  #do(
    action: Exclude<RecordedAction, { type: "files" }>,
    { how, resolve, reject }: OpenCall,
  ): void {
    switch (action.type) {
      case "progress":
        return how.onProgress(action.text);
      case "approval_requested":
      case "approval_resolved":
        return how.onApproval?.(approvalEvent(action));
      case "broken":
        this.#open.delete(action.callId);
        return reject(new Error("It broke off"));
      case "result":
        this.#open.delete(action.callId);
        return resolve(toResult(action));
    }
  }

  /** The turn was ended while these ran; or they ran to no end before, and now they do. */
  #leaveOpen(): void {
    this.#deps.onOver();
    for (const [callId, { resolve }] of this.#open) {
      this.#open.delete(callId);
      resolve(failed(`Nothing more is on record of the call ${callId}`));
    }
  }
}

function approvalEvent(
  action: Extract<RecordedAction, { type: "approval_requested" | "approval_resolved" }>,
): ApprovalEvent {
  if (action.type === "approval_resolved") {
    const { approvalId, outcome } = action;
    return { type: "resolved", approvalId, outcome };
  }
  const { approval, brief } = action;
  return { type: "requested", approval, brief };
}

function toResult(
  { status, output, remedy }: Extract<RecordedAction, { type: "result" }>,
): ActionResult {
  if (status === "ok") return { status, output };
  if (status === "failed") return failed(output);
  return { status, output, error: { code: "refused", message: output }, remedy };
}

function failed(output: string): ActionResult {
  return { status: "failed", output, error: { code: "tool_failed", message: output } };
}

/**
 * What the events of a turn amount to.
 *
 * @module
 */

import type { AgentEvent, StoredEvent, TurnStatus, Usage } from "../../lib/contract/events.ts";
import type { Remedy } from "../../lib/contract/actions.ts";
import { type ErrorCode, fromErrorData, ServiceError, toErrorData } from "../../lib/base/errors.ts";
import { AnswerText } from "./answer_text.ts";
import { sessionName } from "./session_name.ts";

/** A refused call that a person or a grant would have allowed. */
export interface Refusal {
  /** What was refused, and why. */
  reason: string;
  remedy: Remedy;
}

/** A tool that the turn used, as `--json` shows it. */
interface UsedTool {
  tool: string;
  args: unknown;
  status?: Extract<AgentEvent, { type: "tool_result" }>["status"];
  /** The command that would have allowed it. */
  allow?: string;
}

/** What a turn that did not end well is called when it gave no error of its own. */
export const STATUS_ERRORS: Readonly<Record<Exclude<TurnStatus, "done">, [ErrorCode, string]>> = {
  failed: ["turn_failed", "The turn failed"],
  cancelled: ["turn_cancelled", "The turn was cancelled"],
  timed_out: ["turn_timeout", "The turn took too long"],
  interrupted: ["turn_interrupted", "The service stopped during the turn"],
};

/** Takes the events of a turn in their order. */
export class TurnOutcome {
  #status: TurnStatus | undefined;
  #error: ServiceError | undefined;
  #answer = "";
  #model: string | undefined;
  #usage: Usage | undefined;
  readonly #text = new AnswerText();
  readonly #tools = new Map<string, UsedTool>();
  /** An action was refused, and none was allowed since. */
  #refused = false;
  /** The last call that could have been allowed. */
  refusal: Refusal | undefined;
  /** The turn was ended because of {@linkcode refusal}. */
  endedRefused = false;

  get isDone(): boolean {
    return this.#status === "done";
  }

  get isRefused(): boolean {
    return this.endedRefused || this.#refused;
  }

  see({ event }: StoredEvent): void {
    switch (event.type) {
      case "turn_start":
        this.#model = event.model;
        return;
      case "text_delta":
        this.#answer += this.#text.add(event.text);
        return;
      case "segment_end":
        return this.#text.endSegment();
      case "tool_call": {
        const { callId, tool, args } = event;
        this.#tools.set(callId, { tool, args });
        return;
      }
      case "tool_result":
        return this.#seeResult(event);
      case "error":
        this.#error = fromErrorData(event.error);
        return;
      case "turn_end":
        this.#status = event.status;
        this.#usage = event.usage;
    }
  }

  /** Nothing more is heard of the turn, for this reason. */
  fail(error: ServiceError): void {
    this.#status = undefined;
    this.#error = error;
  }

  /** Throws the turn's error when it ended in any other way than done or refused. */
  throwIfFailed(): void {
    const error = this.#failure;
    if (error !== undefined) throw error;
  }

  /** All of it as one value, for `--json`; `hinted` makes commands work as they stand there. */
  toJson(sessionKey: string, hinted: (text: string) => string): Record<string, unknown> {
    const error = this.#failure ??
      (this.endedRefused ? new ServiceError("refused", this.refusal!.reason) : undefined);
    return {
      status: this.isRefused ? "refused" : this.#status ?? "interrupted",
      answer: this.#answer,
      session: sessionName(sessionKey),
      model: this.#model ?? null,
      usage: this.#usage ?? null,
      tools: [...this.#tools.values()].map(({ allow, ...used }) => ({
        ...used,
        ...allow !== undefined && { allow: hinted(allow) },
      })),
      error: error === undefined ? null : toErrorData(error),
    };
  }

  get #failure(): ServiceError | undefined {
    if (this.#status === "done" || this.endedRefused) return undefined;
    const [code, message] = STATUS_ERRORS[this.#status ?? "interrupted"];
    return this.#error ?? new ServiceError(code, message);
  }

  #seeResult(event: Extract<AgentEvent, { type: "tool_result" }>): void {
    const { callId, status, output, remedy } = event;
    const used = this.#tools.get(callId);
    if (used !== undefined) used.status = status;
    if (status === "ok") this.#refused = false;
    if (status !== "refused") return;
    this.#refused = true;
    if (remedy === undefined) return;
    if (used !== undefined && remedy.command !== undefined) used.allow = remedy.command;
    // The first sentence says what was refused and why; the rest is for the model.
    this.refusal = { reason: output.split(". It would take ")[0]!, remedy };
  }
}

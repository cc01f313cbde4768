/**
 * What a turn came to: its answer as one text, or why there is none.
 *
 * @module
 */

import type { AgentEvent, FinishReason, TurnStatus } from "../../contract/events.ts";
import { type ErrorCode, fromErrorData, ServiceError } from "../../base/errors.ts";

/** Characters of an answer that are kept. */
const MAX_ANSWER_CHARS = 1_000_000;

/** What a turn that did not end well is called when it gave no error of its own. */
const FAILURES: Readonly<Record<Exclude<TurnStatus, "done">, [ErrorCode, string]>> = {
  failed: ["turn_failed", "The turn failed"],
  cancelled: ["turn_cancelled", "The turn was cancelled"],
  timed_out: ["turn_timeout", "The turn took too long"],
  interrupted: ["turn_interrupted", "The service stopped during the turn"],
};

/** Takes the events of one turn, in order. */
export class TurnAnswer {
  readonly #texts = new Map<string, string>();
  #chars = 0;
  #cut = 0;
  #error: ServiceError | undefined;
  #end: { status: TurnStatus; finishReason: FinishReason } | undefined;

  add(event: AgentEvent): void {
    if (event.type === "text_delta") {
      const text = event.text.slice(0, MAX_ANSWER_CHARS - this.#chars);
      this.#chars += text.length;
      this.#cut += event.text.length - text.length;
      this.#texts.set(event.streamId, (this.#texts.get(event.streamId) ?? "") + text);
    } else if (event.type === "error") {
      this.#error = fromErrorData(event.error);
    } else if (event.type === "turn_end") {
      this.#end = event;
    }
  }

  /** The texts of all steps, a blank line between them. Throws the turn's ServiceError. */
  result(): { answer: string; finishReason: FinishReason } {
    if (this.#end?.status !== "done") {
      const [code, message] = FAILURES[this.#end?.status ?? "interrupted"];
      throw this.#error ?? new ServiceError(code, message);
    }
    const texts = [...this.#texts.values()].map((text) => text.replace(/^[\r\n]+|[\r\n]+$/g, ""));
    const note = this.#cut === 0 ? [] : [`[… ${this.#cut} more characters cut …]`];
    const answer = [...texts.filter((text) => text !== ""), ...note].join("\n\n");
    return { answer, finishReason: this.#end.finishReason };
  }
}

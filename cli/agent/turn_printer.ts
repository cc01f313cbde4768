/**
 * Shows a turn to a person: the answer on standard output, what happens meanwhile on standard error.
 *
 * @module
 */

import type { AgentEvent } from "../../lib/contract/events.ts";
import type { ApprovalOutcome } from "../../lib/contract/actions.ts";
import type { Output, Style } from "../output.ts";
import type { AnswerView } from "../terminal/answer_view.ts";
import { AnswerText } from "./answer_text.ts";
import { readRefusal } from "./refusal.ts";

/** How a turn is shown. */
export interface TurnPrinterOptions {
  /** Print the answer as it comes; otherwise whole, once it is certain that the turn is done. */
  stream: boolean;
  /** Show reasoning also where standard error is no terminal. */
  verbose: boolean;
}

const APPROVAL_OUTCOMES: Readonly<Record<ApprovalOutcome, string>> = {
  approved: "approved",
  denied: "denied",
  expired: "nobody answered in time",
  void: "the approval is void",
};

/** Longest remark, characters. */
const MAX_REMARK_CHARS = 200;

/**
 * Prints the events of one turn in their order; await each call before the next. The answer ends
 * with exactly one line end, and nothing else goes to standard output. On a terminal with colours
 * its Markdown is rendered.
 */
export class TurnPrinter {
  readonly #out: Output;
  readonly #options: TurnPrinterOptions;
  readonly #showsReasoning: boolean;
  readonly #answer = new AnswerText();
  /** The answer so far, when it is not streamed. */
  #whole = "";
  /** Answer and remarks share a terminal, so that a remark has to leave the answer's line. */
  readonly #sharesTerminal: boolean;
  #midAnswer = false;
  #midReasoning = false;
  #view: AnswerView | undefined;

  constructor(out: Output, options: TurnPrinterOptions) {
    this.#out = out;
    this.#options = options;
    this.#showsReasoning = options.verbose || out.isErrorTerminal;
    this.#sharesTerminal = out.isTerminal && out.isErrorTerminal;
  }

  /** Shows one event. Rejects with OutputClosedError when nobody reads the answer any more. */
  async print(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "text_delta":
        return await this.#text(this.#answer.add(event.text));
      case "segment_end":
        this.#view?.endSegment();
        return this.#answer.endSegment();
      case "reasoning_delta":
        return this.#reasoning(event.text);
      case "reasoning_end":
        return this.#endReasoning();
      case "tool_call":
        return this.#remark(`· ${event.hint || event.tool}`);
      case "tool_progress":
        return this.#remark(`  ${event.text}`);
      case "tool_result":
        // The result itself is for the model; a person wants to know what went wrong.
        if (event.status === "ok") return;
        if (event.status === "refused") return this.#refusal(event);
        return this.#remark(`  ${withStatus(event.status, event.output)}`, "yellow");
      case "approval_requested": {
        const { id, capability, target } = event.approval;
        return this.#remark(`  waits for approval ${id}: ${capability} of ${target}`, "yellow");
      }
      case "approval_resolved":
        return this.#remark(`  ${APPROVAL_OUTCOMES[event.outcome]}`);
      case "notice":
        return this.#remark(event.text);
      case "files":
        return this.#remark(`  sends ${event.files.map(({ name }) => name).join(", ")}`);
      case "summary":
        return this.#remark("Older messages were summarized");
      case "turn_end":
        if (event.status === "done" && event.finishReason === "length") {
          this.#remark("The answer was cut at the model's output limit", "yellow");
        }
        return;
      case "turn_start":
      case "usage":
      case "error":
      case "session_updated":
      case "message":
        return;
      default:
        event satisfies never;
    }
  }

  /** Makes room for what another one prints. */
  leave(): void {
    this.#view?.leave();
  }

  /** Ends the output of the turn; `done` says whether the turn ended well. */
  async finish(done: boolean): Promise<void> {
    this.#endReasoning();
    if (this.#out.hasColor) {
      if (!this.#options.stream && done && this.#answer.hasText) {
        (await this.#openView()).add(this.#whole);
      }
      this.#view?.endSegment();
    } else if (this.#options.stream) {
      // A remark may have left the answer's line already.
      if (this.#midAnswer || (this.#answer.hasText && !this.#sharesTerminal)) {
        await this.#out.stream("\n");
      }
      this.#midAnswer = false;
    } else if (done && this.#answer.hasText) {
      await this.#out.stream(this.#whole + "\n");
    }
    if (done && !this.#answer.hasText) this.#remark("The model answered without any text");
  }

  async #text(text: string): Promise<void> {
    if (text === "") return;
    this.#endReasoning();
    if (!this.#options.stream) {
      this.#whole += text;
      return;
    }
    if (this.#out.hasColor) return (await this.#openView()).add(text);
    // After a remark the answer is on a new line already.
    const broken = this.#sharesTerminal && !this.#midAnswer;
    this.#midAnswer = true;
    await this.#out.stream(broken ? text.replace(/^\n/, "") : text);
  }

  // Loaded at the first word, so that a pipe doesn't wait for it.
  async #openView(): Promise<AnswerView> {
    const { AnswerView } = await import("../terminal/answer_view.ts");
    return this.#view ??= new AnswerView(this.#out);
  }

  #reasoning(text: string): void {
    if (!this.#showsReasoning) return;
    this.#leaveAnswer();
    this.#midReasoning = true;
    this.#out.writeNote({ text, style: "dim" });
  }

  #endReasoning(): void {
    if (this.#midReasoning) this.#out.note();
    this.#midReasoning = false;
  }

  #remark(text: string, style: Style = "dim"): void {
    this.#endReasoning();
    this.#leaveAnswer();
    this.#out.note({ text: oneLine(text), style });
  }

  #refusal({ status, output, remedy: told }: Extract<AgentEvent, { type: "tool_result" }>): void {
    const { reason, remedy } = readRefusal(output);
    this.#remark(`  ${withStatus(status, reason)}`, "yellow");
    // What only a grant allows is told once the turn has ended.
    if (remedy === undefined || told !== undefined) return;
    this.#remark(`  ${remedy.lead}`);
    this.#out.note(`  ${remedy.command}`);
  }

  #leaveAnswer(): void {
    this.leave();
    if (this.#sharesTerminal && this.#midAnswer) {
      this.#out.write("\n");
      this.#midAnswer = false;
    }
  }
}

/** What a tool said, with how it ended in front unless it says so itself. */
function withStatus(status: string, output: string): string {
  return output.toLowerCase().startsWith(status) ? output : `${status}: ${output}`;
}

/** A text as a remark: one line, cut; what stands before its first word stays. */
function oneLine(text: string): string {
  // Cut first, so that a text of megabytes is not searched whole.
  const line = text.slice(0, 4 * MAX_REMARK_CHARS).replace(/\s*[\r\n]\s*/g, " ").trimEnd();
  return line.length > MAX_REMARK_CHARS ? line.slice(0, MAX_REMARK_CHARS - 1) + "…" : line;
}

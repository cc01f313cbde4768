/**
 * Shows what happens in a session: one turn at a time, and what others say in it.
 *
 * @module
 */

import type { ApprovalView } from "../../lib/contract/actions.ts";
import type { Happening, SaidMessage } from "../../lib/local/protocol.ts";
import { type Line, LOOK, piece } from "./look.ts";
import { renderMarkdown } from "./markdown.ts";
import { TurnView, type TurnViewDeps } from "./turn_view.ts";
import { wordWrap } from "./wrap.ts";

/** What a view works with. */
export interface SessionViewDeps extends Omit<TurnViewDeps, "answer"> {
  /** Takes the answer's text instead of the screen, where standard output is no terminal. */
  answer?: (text: string) => Promise<void>;
  /** This terminal asked for the turn. */
  isOwn(turnId: string): boolean;
  /** Shows a message of another client. */
  echo(text: string, from: string): void;
  requested(approval: ApprovalView, turnId: string): void;
  resolved(approvalId: string): void;
  /** A turn is over, whether it ran or not. */
  ended(turnId: string): void;
}

export class SessionView {
  readonly #deps: SessionViewDeps;
  /** Turns that nothing more is told of. */
  readonly #over = new Set<string>();
  #shown: { turnId: string; view: TurnView } | undefined;
  #lastOutput = "";
  #answering: Promise<void> = Promise.resolve();

  constructor(deps: SessionViewDeps) {
    this.#deps = deps;
  }

  /** The turn that runs. */
  get turnId(): string | undefined {
    return this.#shown?.turnId;
  }

  /** What still changes. */
  get lines(): Line[] {
    return this.#shown?.view.lines() ?? [];
  }

  /** The last tool's output, whole; empty for none. */
  get lastOutput(): string {
    return this.#shown?.view.lastOutput || this.#lastOutput;
  }

  /** The terminal has another width. */
  resized(): void {
    this.#shown?.view.resized();
  }

  /** Shows what happened next. */
  show({ stored: { turnId, event }, said }: Happening): void {
    const { print, requested, resolved, ended } = this.#deps;
    if (event.type === "turn_start") {
      if (this.#shown === undefined) return this.#begin(turnId, said);
      // It was cancelled while it waited: that turn begins and ends while another one runs.
      this.#over.add(turnId);
    }
    if (event.type === "message") {
      return print([], [piece("Message", LOOK.dim)], ...this.#rendered(event.text));
    }
    if (event.type !== "session_updated" && !this.#over.has(turnId)) {
      // A turn that was cancelled before it began has nothing but an end.
      const isEnd = event.type === "error" || event.type === "turn_end";
      if (this.#shown?.turnId !== turnId && !isEnd) this.#begin(turnId, undefined);
      if (this.#shown?.turnId === turnId) this.#shown.view.show(event);
      if (event.type === "approval_requested") requested(event.approval, turnId);
      if (event.type === "approval_resolved") resolved(event.approvalId);
    }
    if (event.type !== "turn_end") return;
    if (this.#shown?.turnId === turnId) this.#close();
    ended(turnId);
  }

  /** Nothing more is heard of the turn that runs; `isLost` says so. */
  leave({ isLost }: { isLost: boolean }): void {
    const shown = this.#shown;
    if (shown === undefined) return;
    this.#over.add(shown.turnId);
    if (isLost) shown.view.end("interrupted");
    this.#close();
  }

  /** Resolves when every answer is where it goes. */
  async settle(): Promise<void> {
    await this.#answering;
  }

  #begin(turnId: string, said: SaidMessage | undefined): void {
    const { answer, isOwn, echo, report } = this.#deps;
    if (said !== undefined && !isOwn(turnId)) {
      const files = said.files.map((name) => `[${name}]`);
      echo([said.text, ...files].join(" ").trim(), "(elsewhere)");
    }
    const view = new TurnView({
      ...this.#deps,
      answer: answer && ((text) => {
        this.#answering = this.#answering.then(() => answer(text)).catch(report);
      }),
    });
    this.#shown = { turnId, view };
  }

  #close(): void {
    this.#lastOutput = this.lastOutput;
    this.#shown = undefined;
  }

  #rendered(text: string): Line[] {
    const { isRendered, width } = this.#deps;
    return isRendered ? renderMarkdown(text, width()) : wordWrap([piece(text)], width());
  }
}

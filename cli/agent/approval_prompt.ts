/**
 * Asks the person at the terminal about actions that wait, one at a time, in the place where the turn
 * is shown. What is shown comes from the authority itself, and not with the turn.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import { toErrorData } from "../../lib/base/errors.ts";
import { approvalLines } from "../operator/print_approval.ts";
import type { Output } from "../output.ts";
import type { Approver } from "./approver.ts";
import type { LineReader } from "./line_reader.ts";

/** What asking needs. */
export interface ApprovalPromptDeps {
  /** Undefined: this command may not answer, and says where it can be done. */
  approver: Approver | undefined;
  /** Undefined: nobody types, and everything is approved, as `--yes` says. */
  reader: (() => Promise<Pick<LineReader, "read" | "abandon">>) | undefined;
  out: Output;
  now(): number;
  /** Ctrl-C at the question ends the turn. */
  interrupt(): void;
}

/** An answer that comes sooner was typed before anybody could read what it is about. */
const MIN_READING_MS = 500;

const QUESTION = "[a]pprove, [d]eny with a reason, or Enter to leave it waiting: ";

/** The approvals of one turn. */
export class ApprovalPrompt {
  readonly #deps: ApprovalPromptDeps;
  readonly #settled = new Set<string>();
  #closed = false;
  #asking: Promise<void> = Promise.resolve();
  #current: { id: string; reader: Pick<LineReader, "abandon"> } | undefined;

  constructor(deps: ApprovalPromptDeps) {
    this.#deps = deps;
  }

  /** An action waits; it is asked about when those before it are through. */
  requested(id: string, turnId: string): void {
    this.#asking = this.#asking.then(() => this.#ask(id, turnId)).catch((error) =>
      this.#deps.out.note({ text: `Not answered: ${toErrorData(error).message}`, style: "yellow" })
    );
  }

  /** One does not wait any more, whoever saw to that. */
  resolved(id: string): void {
    this.#settled.add(id);
    if (this.#current?.id === id) this.#current.reader.abandon();
  }

  /** The turn is over: nothing is asked any more. Resolves when the terminal is free. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#current?.reader.abandon();
    await this.#asking;
  }

  async #ask(id: string, turnId: string): Promise<void> {
    if (this.#isOver(id)) return;
    const { approver, reader: openReader, out, now } = this.#deps;
    if (approver === undefined) {
      out.note({ text: `  Answer it with: service approvals approve ${id}`, style: "yellow" });
      return;
    }
    const approval = await approver.operate({ op: "approvals.get", id }, turnId);
    if (openReader === undefined) return await this.#approve(approver, approval, turnId);
    const reader = await openReader();
    if (this.#isOver(id)) return;
    for (const line of approvalLines(approval, now())) out.note(...line);
    this.#current = { id, reader };
    try {
      await this.#readAnswer(approver, reader, approval, turnId);
    } finally {
      this.#current = undefined;
    }
  }

  async #readAnswer(
    approver: Approver,
    reader: Pick<LineReader, "read">,
    approval: OperationResult<"approvals.get">,
    turnId: string,
  ): Promise<void> {
    const { out, interrupt, now } = this.#deps;
    const { id } = approval;
    while (!this.#isOver(id)) {
      const askedAt = now();
      const line = await reader.read(QUESTION);
      if (line.kind === "abandoned" || this.#isOver(id)) return;
      if (line.kind === "interrupt") {
        out.note();
        return interrupt();
      }
      if (line.kind === "line" && now() - askedAt < MIN_READING_MS) {
        out.note({ text: "Typed before the question was there: no answer to it", style: "dim" });
        continue;
      }
      const [, word = "", reason = ""] = /^\s*(\S*)\s*([^]*)$/.exec(
        line.kind === "line" ? line.text : "",
      )!;
      if (word === "") {
        out.note({ text: `It still waits: service approvals approve ${id}`, style: "dim" });
        return;
      }
      if (/^(a|approve|y|yes)$/i.test(word) && reason === "") {
        return await this.#approve(approver, approval, turnId);
      }
      if (/^(d|deny|n|no)$/i.test(word)) {
        await approver.operate({ op: "approvals.deny", id, reason: reason.trim() }, turnId);
        return;
      }
    }
  }

  #isOver(id: string): boolean {
    return this.#closed || this.#settled.has(id);
  }

  async #approve(
    approver: Approver,
    { id, digest }: OperationResult<"approvals.get">,
    turnId: string,
  ): Promise<void> {
    await approver.operate({ op: "approvals.approve", id, digest }, turnId);
  }
}

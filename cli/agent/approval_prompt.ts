/**
 * Asks the person at the terminal about actions that wait, one at a time, in the place where the turn
 * is shown. What is shown comes from the authority itself, and not with the turn.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import { toErrorData } from "../../lib/base/errors.ts";
import { ANSWERS, answersTo, type SessionGrant } from "../operator/approval_choices.ts";
import { actionLines } from "../operator/print_approval.ts";
import type { Output } from "../output.ts";
import type { Approver } from "./approver.ts";
import type { LineReader } from "./line_reader.ts";

/** What asking needs. */
export interface ApprovalPromptDeps {
  /** Undefined: this command may not answer, and says where it can be done. */
  approver: Approver | undefined;
  /** Undefined: nobody types, and everything is approved, as `--yes` says. */
  reader: (() => Promise<Pick<LineReader, "read" | "abandon">>) | undefined;
  /** Allows exactly this action of the session from now on. */
  addGrant(grant: Pick<SessionGrant, "capability" | "target">): Promise<void>;
  out: Output;
  now(): number;
  /** Ctrl-C at the question ends the turn. */
  interrupt(): void;
}

/** An answer that comes sooner was typed before anybody could read what it is about. */
const MIN_READING_MS = 500;

const QUESTION = "Type a number, or Enter to leave it waiting: ";

const REASON = "Reason: ";

/** The approvals of one turn. */
export class ApprovalPrompt {
  readonly #deps: ApprovalPromptDeps;
  readonly #settled = new Set<string>();
  /** What is allowed until this command ends. */
  readonly #allowed = new Set<string>();
  #closed = false;
  #asking: Promise<void> = Promise.resolve();
  #current: { id: string; reader: Pick<LineReader, "abandon"> } | undefined;

  constructor(deps: ApprovalPromptDeps) {
    this.#deps = deps;
  }

  /** A person is asked here, and shown what it is about. */
  get asks(): boolean {
    return this.#deps.approver !== undefined && this.#deps.reader !== undefined;
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
    const { approver, reader: openReader, out } = this.#deps;
    if (approver === undefined) {
      out.note({ text: `  Answer it with: service approvals approve ${id}`, style: "yellow" });
      return;
    }
    const approval = await approver.operate({ op: "approvals.get", id }, turnId);
    const isAllowed = this.#allowed.has(keyOf(approval));
    if (isAllowed) out.note({ text: "  allowed for this session", style: "dim" });
    if (openReader === undefined || isAllowed) {
      return await this.#approve(approver, approval, turnId);
    }
    const reader = await openReader();
    if (this.#isOver(id)) return;
    for (const line of actionLines(approval)) out.note(...line);
    answersTo(approval).forEach((each, at) => out.note(`  ${at + 1}. ${ANSWERS[each]}`));
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
    const { out, interrupt, now, addGrant } = this.#deps;
    const { id, capability, grant } = approval;
    let question = QUESTION;
    while (!this.#isOver(id)) {
      const askedAt = now();
      const line = await reader.read(question);
      if (line.kind === "abandoned" || this.#isOver(id)) return;
      if (line.kind === "interrupt") {
        out.note();
        return interrupt();
      }
      if (line.kind === "line" && now() - askedAt < MIN_READING_MS) {
        out.note({ text: "Typed before the question was there: no answer to it", style: "dim" });
        continue;
      }
      if (question === REASON && line.kind === "line") {
        await approver.operate({ op: "approvals.deny", id, reason: line.text.trim() }, turnId);
        return;
      }
      const [, word = "", reason = ""] = /^\s*(\S*)\s*([^]*)$/.exec(
        line.kind === "line" ? line.text : "",
      )!;
      if (word === "") {
        out.note({ text: `It still waits: service approvals approve ${id}`, style: "dim" });
        return;
      }
      const answer = reason === "" ? answersTo(approval)[Number(word) - 1] : undefined;
      if (answer === "session") this.#allowed.add(keyOf(approval));
      if (answer === "always") {
        await addGrant({ capability, target: grant! });
        out.note("  A grant for exactly this was added; see it with: service grants list");
      }
      if (answer === "reason") question = REASON;
      const allows = answer === "once" || answer === "session" || answer === "always";
      if (allows || (/^(a|approve|y|yes)$/i.test(word) && reason === "")) {
        return await this.#approve(approver, approval, turnId);
      }
      if (answer === "deny" || /^(d|deny|n|no)$/i.test(word)) {
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

/** The same action again has the same. */
function keyOf({ id, capability, grant }: OperationResult<"approvals.get">): string {
  return JSON.stringify(grant === undefined ? [id] : [capability, grant]);
}

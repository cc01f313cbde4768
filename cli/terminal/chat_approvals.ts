/**
 * The actions of a chat that wait for a person, and their answers.
 *
 * @module
 */

import type { ApprovalView } from "../../lib/contract/actions.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import type { Terminal } from "../../lib/operations/operator.ts";
import { answersTo, type SessionGrant } from "../operator/approval_choices.ts";
import { actionLines } from "../operator/print_approval.ts";
import { ApprovalDialog, type Choice } from "./approval_dialog.ts";
import { Editor } from "./editor.ts";
import { type Line, LOOK, type Look, piece } from "./look.ts";
import type { AskedLine } from "./question.ts";
import { wordWrap } from "./wrap.ts";

/** Answers approvals; rejects with the authority's ServiceError. */
export interface ChatApprover {
  operate: Terminal["operate"];
  /** It answers for turns that this terminal opened, and for no others. */
  isOwnTurnsOnly: boolean;
}

type Shown = OperationResult<"approvals.get">;

/** What the approvals of a chat work with. */
export interface ChatApprovalsDeps {
  /** The connection, with who answers over it; undefined while there is none. */
  connected(): { approver?: ChatApprover } | undefined;
  sessionKey(): string;
  /** This terminal opened the turn. */
  isOwn(turnId: string): boolean;
  isRunning(turnId: string): boolean;
  /** Every action of the own turns is approved. */
  yes: boolean;
  /** An approver by a token that was typed; absent where approvals are answered in another way. */
  approverOf?: (token: string) => ChatApprover;
  /** Allows exactly this action of a session from now on; absent where this terminal can't. */
  addGrant?: (grant: SessionGrant) => Promise<void>;
  print(...lines: Line[]): void;
  note(text: string, look?: Look): void;
  report(error: unknown): void;
  update(): void;
  width(): number;
  now(): number;
}

/** What is typed instead of a message. */
export interface Question extends AskedLine {
  /** Id of the approval that it is about. */
  about: string;
  done(text: string | undefined): void;
}

/** The approvals of a chat. */
export class ChatApprovals {
  readonly #deps: ChatApprovalsDeps;
  /** What is allowed until this terminal leaves. */
  readonly #allowed = new Set<string>();
  /** Those that wait for this person, the oldest first. */
  #waiting: readonly ApprovalDialog[] = [];
  /** Those that are put off: a command still answers them. */
  readonly #putOff = new Set<string>();
  question: Question | undefined;

  constructor(deps: ChatApprovalsDeps) {
    this.#deps = deps;
  }

  /** What the person is asked about now. */
  get dialog(): ApprovalDialog | undefined {
    return this.#waiting.find(({ view }) => !this.#putOff.has(view.id));
  }

  /** Nothing waits here any more. */
  clear(): void {
    this.#waiting = [];
    this.question = undefined;
  }

  /** An action waits: it is answered as was said before, or the person is asked. */
  async requested(shown: ApprovalView, turnId: string): Promise<void> {
    const approver = this.#deps.connected()?.approver;
    const isOwn = this.#deps.isOwn(turnId);
    if (approver === undefined && this.#deps.approverOf === undefined) {
      this.#deps.note(
        `  Waits for approval ${shown.id}. Answer it with: service approvals approve ${shown.id}`,
        LOOK.yellow,
      );
      return;
    }
    if (!isOwn && (approver === undefined || approver.isOwnTurnsOnly)) {
      this.#deps.note(
        `  Waits for approval in the other terminal: ${shown.capability} of ${shown.target}`,
      );
      return;
    }
    try {
      const view = approver === undefined
        ? shownApproval(shown)
        : await approver.operate({ op: "approvals.get", id: shown.id }, turnId);
      const isAllowed = view.grant !== undefined && this.#allowed.has(this.#allowedKey(view));
      if (approver !== undefined && isOwn && (this.#deps.yes || isAllowed)) {
        await approver.operate(
          { op: "approvals.approve", id: view.id, digest: view.digest },
          turnId,
        );
        if (isAllowed) this.#deps.note("  allowed for this session");
        return;
      }
      if (!this.#deps.isRunning(turnId)) return;
      this.#deps.print(
        [],
        ...actionLines(view).flatMap((line) => this.#spans(line)),
      );
      this.#waiting = [...this.#waiting, this.#dialog(view, turnId, approver !== undefined)];
      this.#deps.update();
    } catch (error) {
      this.#deps.report(error);
    }
  }

  #dialog(view: Shown, turnId: string, mayAnswer: boolean): ApprovalDialog {
    const all: readonly Choice[] = mayAnswer ? answersTo(view) : ["token", "later"];
    const choices = all.filter((each) => each !== "always" || this.#deps.addGrant !== undefined);
    return new ApprovalDialog(view, turnId, choices, this.#deps.now());
  }

  #spans(line: readonly (string | { text: string; style?: string })[]): Line[] {
    const pieces = line.map((span) =>
      typeof span === "string"
        ? piece(span)
        : piece(span.text, span.style === "bold" ? LOOK.bold : "")
    );
    return wordWrap([piece("  "), ...pieces], this.#deps.width());
  }

  #allowedKey({ capability, grant }: Shown): string {
    return JSON.stringify([this.#deps.sessionKey(), capability, grant]);
  }

  /** `/approve` or `/deny` with what was typed behind it; false where it names one of elsewhere. */
  answerTyped(command: "/approve" | "/deny", rest: string): boolean {
    const [, id, after] = /^(apr_\S+)?\s*([^]*)$/.exec(rest) as unknown as [
      string,
      string?,
      string?,
    ];
    const dialog = id === undefined
      ? this.dialog ?? this.#waiting[0]
      : this.#waiting.find(({ view }) => view.id === id);
    if (command === "/approve" && after !== "") return false;
    if (dialog === undefined && id !== undefined) return false;
    if (dialog === undefined) {
      this.#deps.note("Nothing waits for your approval here");
      return true;
    }
    void (command === "/approve" ? this.choose(dialog, "once") : this.#deny(dialog, after ?? ""));
    return true;
  }

  /** Does what was chosen. */
  async choose(dialog: ApprovalDialog, choice: Choice): Promise<void> {
    const { view } = dialog;
    const approver = this.#deps.connected()?.approver;
    try {
      switch (choice) {
        case "later":
          this.#putOff.add(view.id);
          this.dialog?.shown(this.#deps.now());
          return this.#deps.note("  It still waits: answer it with /approve or /deny");
        case "token":
          return this.#askForToken(dialog);
        case "reason":
          return this.#askForReason(dialog);
        case "deny":
          return await this.#deny(dialog, "");
        case "always":
          await this.#deps.addGrant!({
            subject: view.session,
            capability: view.capability,
            target: view.grant!,
          });
          this.#deps.note("  A grant for exactly this was added; see it with: service grants list");
          break;
        case "session":
          this.#allowed.add(this.#allowedKey(view));
      }
      if (approver === undefined) return this.#askForToken(dialog);
      await approver.operate(
        { op: "approvals.approve", id: view.id, digest: view.digest },
        dialog.turnId,
      );
      this.resolved(view.id);
    } catch (error) {
      this.#deps.report(error);
    }
  }

  async #deny(dialog: ApprovalDialog, reason: string): Promise<void> {
    const approver = this.#deps.connected()?.approver;
    if (approver === undefined) return this.#askForToken(dialog);
    try {
      await approver.operate({ op: "approvals.deny", id: dialog.view.id, reason }, dialog.turnId);
      this.resolved(dialog.view.id);
    } catch (error) {
      this.#deps.report(error);
    }
  }

  /** It does not wait any more, whoever saw to that. */
  resolved(id: string): void {
    if (this.question?.about === id) this.question = undefined;
    const { dialog } = this;
    this.#waiting = this.#waiting.filter(({ view }) => view.id !== id);
    if (this.dialog !== dialog) this.dialog?.shown(this.#deps.now());
    this.#deps.update();
  }

  #askForReason(dialog: ApprovalDialog): void {
    this.question = {
      about: dialog.view.id,
      label: "Reason: ",
      editor: new Editor(),
      isHidden: false,
      done: (reason) => {
        this.question = undefined;
        if (reason !== undefined) void this.#deny(dialog, reason.trim());
        this.#deps.update();
      },
    };
  }

  #askForToken(dialog: ApprovalDialog): void {
    this.#deps.note("  A token comes from: service tokens issue --scopes approve");
    this.question = {
      about: dialog.view.id,
      label: "Approver token (hidden): ",
      editor: new Editor(),
      isHidden: true,
      done: (token) => {
        this.question = undefined;
        this.#deps.update();
        if (token === undefined || token.trim() === "") return;
        void this.#takeToken(token.trim(), dialog);
      },
    };
  }

  async #takeToken(token: string, dialog: ApprovalDialog): Promise<void> {
    const { view, turnId } = dialog;
    try {
      const approver = this.#deps.approverOf!(token);
      // Shown whole, as the authority has it; that the token counts is known by then.
      const whole = await approver.operate({ op: "approvals.get", id: view.id }, turnId);
      const connected = this.#deps.connected();
      if (connected !== undefined) connected.approver = approver;
      this.#waiting = this.#waiting.map((each) =>
        each === dialog ? this.#dialog(whole, turnId, true) : each
      );
    } catch (error) {
      this.#deps.report(error);
    }
    this.#deps.update();
  }
}

/** What the turn told of an approval, in the form in which the authority gives it. */
function shownApproval({ createdAt, expiresAt, ...view }: ApprovalView): Shown {
  return { ...view, created_at: createdAt / 1000, expires_at: expiresAt / 1000 };
}

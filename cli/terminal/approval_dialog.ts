/**
 * What a person is asked about an action that waits, and what the keys answer.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import { type Answer, ANSWERS } from "../operator/approval_choices.ts";
import { relativeTime } from "../time_text.ts";
import { type Line, LOOK, piece } from "./look.ts";
import { wordWrap } from "./wrap.ts";
import type { Key } from "./keys.ts";

/** An answer. */
export type Choice = Answer | "token" | "later";

/** A key that comes sooner after another was typed before anybody could read what it is about. */
export const MIN_READING_MS = 500;

const LABELS: Readonly<Record<Choice, string>> = {
  ...ANSWERS,
  token: "Enter an approver token",
  later: "Leave it waiting",
};

export class ApprovalDialog {
  readonly view: OperationResult<"approvals.get">;
  readonly turnId: string;
  readonly #choices: readonly Choice[];
  #selected: number | undefined;
  /** When the last key came, or it was shown. */
  #quietSince: number;

  constructor(
    view: OperationResult<"approvals.get">,
    turnId: string,
    choices: readonly Choice[],
    now: number,
  ) {
    this.view = view;
    this.turnId = turnId;
    this.#quietSince = now;
    this.#choices = choices;
  }

  /** It comes to the front: what was pressed for the one before is no answer to it. */
  shown(now: number): void {
    this.#quietSince = now;
  }

  /**
   * Takes a key: a choice, or undefined for one that only moves. "typed" gives the key to the edited
   * line: somebody was typing when the question came, or is typing something else.
   */
  key(
    { name, text, ctrl, meta }: Key,
    isLineEmpty: boolean,
    now: number,
  ): Choice | "typed" | undefined {
    const wasQuiet = now - this.#quietSince >= MIN_READING_MS;
    if (ctrl || meta || name === "paste") return "typed";
    if (!isLineEmpty || !wasQuiet) {
      this.#quietSince = now;
      return "typed";
    }
    const most = this.#choices.length - 1;
    if (name === "up") this.#selected = Math.max(0, (this.#selected ?? 1) - 1);
    else if (name === "down") this.#selected = Math.min(most, (this.#selected ?? -1) + 1);
    else if (name === "escape") return "later";
    else if (name === "return") {
      // Without a choice made Enter is none: it may be meant for something else.
      if (this.#selected !== undefined) return this.#choices[this.#selected];
    } else if (/^[1-9]$/.test(text)) {
      return this.#choices[Number(text) - 1];
    } else return "typed";
  }

  lines(width: number, isLineEmpty: boolean, now: number): Line[] {
    const { capability, target, expires_at: expiresAt } = this.view;
    const about = `Allow ${capability} of ${target.slice(0, 300)}?`;
    return [
      ...wordWrap([piece(about, `${LOOK.bold};${LOOK.yellow}`)], width).slice(0, 3),
      ...this.#choices.flatMap((choice, at) => {
        const isSelected = at === this.#selected;
        const look = isSelected ? LOOK.heading : LOOK.plain;
        const rows = wordWrap([piece(LABELS[choice], look)], Math.max(4, width - 5));
        return rows.map((row, line): Line => [
          piece(line > 0 ? "     " : `${isSelected ? "❯" : " "} ${at + 1}. `, look),
          ...row,
        ]);
      }),
      ...wordWrap([
        piece(
          isLineEmpty
            ? "Press a number, or use the arrows and Enter. Esc leaves it waiting; it expires " +
              relativeTime(expiresAt * 1000, now)
            : "Send or clear the line below to answer with a number",
          LOOK.dim,
        ),
      ], width),
    ];
  }
}

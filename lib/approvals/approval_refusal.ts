/**
 * What is recorded, and what a turn is told, of an action that a person was asked about and that did not
 * run.
 *
 * @module
 */

import type { ErrorCode } from "../base/errors.ts";
import type { ActionContext, ActionResult, Decision, ResolvedAction } from "../contract/actions.ts";
import { type Answered, MAX_PENDING_IN_SESSION } from "./approvals.ts";
import { describeTarget, grantCommand } from "../policy/refusal.ts";
import { shellWord } from "../policy/shell_word.ts";

/** Why it did not run. `changed`: after the approval it was found to be something else. */
export type Unapproved = Exclude<Answered, { outcome: "approved" }> | { outcome: "changed" };

const CODES: Readonly<Record<Unapproved["outcome"], ErrorCode>> = {
  denied: "refused",
  expired: "approval_expired",
  void: "approval_void",
  full: "refused",
  changed: "approval_mismatch",
};

/** The decision as it stands on record; `asked` is why a person was asked. */
export function approvalDecision(unapproved: Unapproved, asked: string): Decision {
  return { effect: "deny", rule: `approval.${unapproved.outcome}`, reason: asked };
}

/** The result; a denial's words reach the model (spec 5, G9). */
export function approvalRefusal(
  action: ResolvedAction,
  unapproved: Unapproved,
  context: Pick<ActionContext, "sessionKey">,
): ActionResult {
  const { capability, target } = action;
  const message = `Refused: ${capability} of "${describeTarget(target)}" (${why(unapproved)})`;
  return {
    status: "refused",
    output: `${message}. ${advice(action, unapproved, context)}`,
    error: { code: CODES[unapproved.outcome], message },
    ...unapproved.outcome === "expired" && {
      remedy: { command: grantCommand(action, context) },
    },
  };
}

function why(unapproved: Unapproved): string {
  switch (unapproved.outcome) {
    case "denied":
      return unapproved.reason === ""
        ? "a person denied it"
        : `a person denied it and said: ${unapproved.reason}`;
    case "expired":
      return "nobody approved it in time, and nothing ran";
    case "void":
      return "whoever asked has left, and nothing ran";
    case "full":
      return `${MAX_PENDING_IN_SESSION} actions of this session wait for a person already, or too ` +
        "many of all sessions";
    case "changed":
      return "after it was approved it was found to be about something else, and nothing ran";
  }
}

function advice(
  action: ResolvedAction,
  { outcome }: Unapproved,
  context: Pick<ActionContext, "sessionKey">,
): string {
  const { capability } = action;
  switch (outcome) {
    case "denied":
      return `In this session nothing more of ${capability} is asked about until the operator clears ` +
        `that with: service blocks clear ${shellWord(context.sessionKey)} ${capability}`;
    case "expired": {
      const command = grantCommand(action, context);
      return command === undefined
        ? "It can be asked again when somebody is there to answer."
        : "It can be asked again when somebody is there to answer, or the operator can grant it " +
          `with: ${command}`;
    }
    case "void":
      return "It takes somebody who is there.";
    case "full":
      return "Ask again when some of them are answered.";
    case "changed":
      return "Ask again; it takes another approval.";
  }
}

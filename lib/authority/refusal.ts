/**
 * What a turn is told of an action that did not run: capability, target, why, and what it would take.
 * Every name in it is shown with hidden characters made visible, since the model chose it.
 *
 * @module
 */

import type { ActionResult, Decision, ResolvedAction, Target } from "./actions.ts";
import { escapeControls } from "../log.ts";

/** A target on one line. */
export function describeTarget(target: Target): string {
  switch (target.kind) {
    case "path":
      return escapeControls(target.real);
    case "url":
      return escapeControls(target.url);
    case "chat":
      return escapeControls(`${target.channel}:${target.chatId}`);
    case "unresolved":
      return escapeControls(target.what);
  }
}

/** The result of an action that the gate did not allow. */
export function refusal(
  { capability, target }: ResolvedAction,
  { effect, rule, reason }: Decision,
): ActionResult {
  const what = describeTarget(target);
  const takes = rule === "message.other"
    ? `It would take a person's approval or a grant of ${capability} for exactly "${what}", or the` +
      ` entry "${what}" in gates.messageTargets, which only the operator can make.`
    : effect === "ask" || rule === "unattended"
    ? `It would take a person's approval or a grant of ${capability} for exactly "${what}", and this` +
      " turn has neither."
    : rule === "fetch.private"
    ? "It would take an entry in gates.privateHosts, which only the operator can make."
    : "Neither an approval nor a grant can allow it.";
  const message = `Refused: ${capability} of "${what}" (rule ${rule}: ${escapeControls(reason)})`;
  return {
    status: "refused",
    output: `${message}. ${takes}`,
    error: { code: "refused", message },
  };
}

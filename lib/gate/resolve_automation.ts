/**
 * From an automation as the agent proposes it to the one that would be made: with the chat that answers
 * go to, which is the one that the turn is in unless it names another.
 *
 * @module
 */

import type { Automation } from "../contract/automation.ts";
import { checkAutomation } from "../schedule/check_automation.ts";
import { CHAT_CHANNEL, chatOfSession, sessionKeyOf } from "../contract/chat_session.ts";
import { ServiceError } from "../base/errors.ts";
import type { ScheduledTouch } from "../contract/tool.ts";
import { CHAT_ID } from "../contract/wire/frames.ts";
import type { AutomationTarget, UnresolvedTarget } from "../contract/actions.ts";
import { answerChat, type Sender } from "./resolve_chat.ts";

/** The automation, or why there can be none. */
export function resolveAutomation(
  { spec, deliver }: ScheduledTouch,
  from: Sender,
): AutomationTarget | UnresolvedTarget {
  const unresolved = (reason: string): UnresolvedTarget => ({
    kind: "unresolved",
    what: `the automation ${JSON.stringify(spec.name)}`,
    reason,
  });
  const delivery = deliver && deliveryOf(deliver, from);
  if (delivery !== undefined && "problem" in delivery) return unresolved(delivery.problem);
  try {
    const whole = checkAutomation({ ...spec, ...delivery && { delivery } }, { now: Date.now() });
    return { kind: "automation", spec: whole };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return unresolved(error.message);
  }
}

function deliveryOf(
  { when, to }: NonNullable<ScheduledTouch["deliver"]>,
  from: Sender,
): Automation["delivery"] | { problem: string } {
  if (to === undefined) {
    const chat = answerChat(from);
    return chat && { when, ...chat };
  }
  if (to.channel !== CHAT_CHANNEL) return { when, ...to };
  // A workspace stands in the key of a session alone: nobody names a chat of another person's.
  if (!CHAT_ID.test(to.chatId)) {
    return { problem: "chat_id is none of this service: expected 1 to 64 of A-Z a-z 0-9 _ : -" };
  }
  const owner = chatOfSession(from.sessionKey)?.owner;
  const key = sessionKeyOf({ chatId: to.chatId, owner });
  return { when, channel: CHAT_CHANNEL, chatId: key.slice(CHAT_CHANNEL.length + 1) };
}
